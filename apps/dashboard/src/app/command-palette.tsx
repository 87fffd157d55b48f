/** Ctrl or Command + K: jump to a session or a page, or do something, by typing a few letters of it. */
import { Dialog as BaseDialog } from '@base-ui/react/dialog';
import { useNavigate } from '@tanstack/react-router';
import { Command } from 'cmdk';
import { Bot } from 'lucide-react';
import { type ReactNode, useMemo, useRef, useState } from 'react';
import type { AgentView, SessionView } from '#contracts';
import { useMe } from '../api';
import { useAgents } from '../features/agents/use-agents';
import { useStoredMatches } from '../features/session-clusters/use-stored-matches';
import { useTopic } from '../realtime';
import { CutMiddle, focusAtOnce, Kbd, StateDot, toast, truncateMiddle, useThrottled } from '../ui';
import { useLogout } from './auth';
import { KEY_MAP } from './keyboard/key-map';
import { useLoopsNow } from './looping';
import type { LoopsNow } from './loops-now';
import { PLACES } from './navigation';
import { useOverlay } from './overlays';
import { useGoToTenant, useTenantIds } from './tenants';
import { THEME_CHOICES, useTheme } from './theme';

/** Rows drawn at once; typing narrows them. */
const SESSIONS_SHOWN_MAX = 20;
const AGENTS_SHOWN_MAX = 8;
/** The store is asked while somebody types, this often at most. */
const STORE_EVERY_MS = 300;

const itemClass =
  'flex h-9 cursor-pointer select-none items-center gap-2 rounded-md px-2 data-[selected=true]:bg-selected max-md:h-11';

export function CommandPalette() {
  const { shown, close } = useOverlay();
  const popup = useRef<HTMLDivElement>(null);
  return (
    <BaseDialog.Root open={shown === 'palette'} onOpenChange={close}>
      <BaseDialog.Portal>
        <BaseDialog.Backdrop className="fixed inset-0 z-40 bg-backdrop" />
        <BaseDialog.Popup
          ref={popup}
          initialFocus={() => focusAtOnce(popup.current?.querySelector('input'))}
          className="fixed inset-x-3 top-[10vh] z-50 mx-auto flex max-h-[70vh] max-w-xl flex-col overflow-hidden rounded-xl border border-line-strong bg-raised shadow-pop outline-none"
        >
          <BaseDialog.Title className="sr-only">Command palette</BaseDialog.Title>
          <PaletteBody onDone={close} />
        </BaseDialog.Popup>
      </BaseDialog.Portal>
    </BaseDialog.Root>
  );
}

function PaletteBody({ onDone }: { onDone: () => void }) {
  const navigate = useNavigate();
  const logout = useLogout();
  const setTheme = useTheme((state) => state.setChoice);
  const open = useOverlay((state) => state.open);
  const [query, setQuery] = useState('');
  const loops = useLoopsNow();
  const sessions = useMatchingSessions(query, loops);
  const earlier = useEarlierMatches(query, sessions.length > 0);
  const agents = useMatchingAgents(query);
  const hereId = useMe()?.tenant_id;
  const tenantIds = useTenantIds().filter((tenantId) => tenantId !== hereId);
  const { mutate: goToTenant } = useGoToTenant(({ message }) =>
    toast({ title: 'Tenant not changed', description: message, tone: 'danger' }),
  );
  const run = (action: () => unknown) => () => {
    onDone();
    action();
  };
  const matches = (label: string) => label.toLowerCase().includes(query.trim().toLowerCase());
  const actions = [
    ...THEME_CHOICES.map((choice) => ({ label: `Theme: ${choice}`, act: () => setTheme(choice) })),
    { label: 'Show keyboard shortcuts', act: () => open('help') },
    { label: 'Show looping sessions only', act: () => navigate({ to: '/', search: { severity: 'loop' } }) },
    {
      label: 'Show sessions that wait for a person',
      act: () => navigate({ to: '/', search: { control: 'waiting' } }),
    },
    { label: 'Show paused sessions only', act: () => navigate({ to: '/', search: { control: 'paused' } }) },
    {
      label: 'Show agents that are stopped',
      act: () => navigate({ to: '/agents', search: { state: 'inactive' } }),
    },
    { label: 'Limit or stop all agents', act: () => navigate({ to: '/all-agents' }) },
    { label: 'Show calls that failed', act: () => navigate({ to: '/calls', search: { failed: true } }) },
    {
      label: 'Show calls answered from the cache',
      act: () => navigate({ to: '/calls', search: { decision: 'cached' } }),
    },
    {
      label: 'Show calls that got a hint',
      act: () => navigate({ to: '/calls', search: { decision: 'hinted' } }),
    },
    { label: 'Show open incidents', act: () => navigate({ to: '/incidents', search: { state: 'open' } }) },
    { label: 'Show dead letters', act: () => navigate({ to: '/alerts', search: { tab: 'dead' } }) },
    { label: 'Edit prices', act: () => navigate({ to: '/settings', search: { section: 'prices' } }) },
    { label: 'Edit upstreams', act: () => navigate({ to: '/settings', search: { section: 'upstreams' } }) },
    ...tenantIds.map((tenantId) => ({
      label: `Go to tenant ${tenantId}`,
      act: () => goToTenant(tenantId),
    })),
    { label: 'Sign out', act: logout },
  ];
  return (
    <Command label="Command palette" shouldFilter={false} loop className="flex min-h-0 flex-col">
      <Command.Input
        value={query}
        onValueChange={setQuery}
        placeholder="Session, agent, page or action"
        className="h-12 shrink-0 border-line border-b bg-transparent px-4 text-md outline-none placeholder:text-faint max-md:text-lg"
      />
      <Command.List className="min-h-0 overflow-y-auto p-2 [&_[cmdk-group-heading]]:px-2 [&_[cmdk-group-heading]]:py-1 [&_[cmdk-group-heading]]:text-2xs [&_[cmdk-group-heading]]:text-muted">
        <Command.Empty className="px-2 py-6 text-center text-muted">
          {earlier.isLooking ? 'Looking among earlier sessions' : `Nothing matches “${query}”.`}
        </Command.Empty>
        <PaletteGroup heading="Pages">
          {PLACES.filter(({ label }) => matches(label)).map(({ to, label, icon: Icon, shortcut }) => (
            <Command.Item key={to} value={to} onSelect={run(() => navigate({ to }))} className={itemClass}>
              <Icon size={15} aria-hidden="true" />
              {label}
              <span className="ml-auto">
                <Kbd keys={KEY_MAP[shortcut].keys} />
              </span>
            </Command.Item>
          ))}
        </PaletteGroup>
        {(
          [
            ['Sessions', sessions],
            ['Earlier sessions', earlier.found],
          ] as const
        ).map(([heading, found]) => (
          <PaletteGroup key={heading} heading={heading}>
            {found.map((session) => (
              <SessionItem
                key={session.session_id}
                session={session}
                isLooping={loops.has(session.session_id)}
                onSelect={run(() =>
                  navigate({ to: '/sessions/$sessionId', params: { sessionId: session.session_id } }),
                )}
              />
            ))}
          </PaletteGroup>
        ))}
        <PaletteGroup heading="Agents">
          {agents.map(({ agent_id, policy }) => (
            <Command.Item
              key={agent_id}
              value={`agent ${agent_id}`}
              onSelect={run(() => navigate({ to: '/agents/$agentId', params: { agentId: agent_id } }))}
              className={itemClass}
            >
              <Bot size={14} aria-hidden="true" className="shrink-0 text-muted" />
              <CutMiddle text={agent_id} />
              {policy.active ? null : <span className="ml-auto shrink-0 text-danger text-xs">Stopped</span>}
            </Command.Item>
          ))}
        </PaletteGroup>
        <PaletteGroup heading="Actions">
          {actions
            .filter(({ label }) => matches(label))
            .map(({ label, act }) => (
              <Command.Item key={label} value={label} onSelect={run(act)} className={itemClass}>
                {label}
              </Command.Item>
            ))}
        </PaletteGroup>
      </Command.List>
    </Command>
  );
}

function PaletteGroup({ heading, children }: { heading: string; children: ReactNode[] }) {
  return children.length > 0 ? <Command.Group heading={heading}>{children}</Command.Group> : null;
}

interface SessionItemProps {
  session: SessionView;
  isLooping: boolean;
  onSelect: () => void;
}

function SessionItem({ session, isLooping, onSelect }: SessionItemProps) {
  return (
    <Command.Item value={`session ${session.session_id}`} onSelect={onSelect} className={itemClass}>
      <StateDot
        state={isLooping ? 'alert_entropy' : session.state}
        rest={isLooping ? undefined : 'Loop at rest'}
      />
      <span className="shrink-0 font-mono text-xs">{truncateMiddle(session.session_id, 28)}</span>
      <span className="ml-auto min-w-0 text-muted">
        <CutMiddle text={session.agent_id} />
      </span>
    </Command.Item>
  );
}

/** The first matches in the order of the live list; what loops now first. */
function useMatchingSessions(query: string, loops: LoopsNow): SessionView[] {
  const { data } = useTopic('gateway:sessions');
  return useMemo(() => {
    const needle = query.trim().toLowerCase();
    const found: SessionView[] = [];
    const rest: SessionView[] = [];
    for (const session of data?.values() ?? []) {
      if (!`${session.session_id} ${session.agent_id}`.toLowerCase().includes(needle)) continue;
      if (loops.has(session.session_id)) found.push(session);
      else if (rest.length < SESSIONS_SHOWN_MAX) rest.push(session);
      if (found.length >= SESSIONS_SHOWN_MAX) break;
    }
    return [...found, ...rest].slice(0, SESSIONS_SHOWN_MAX);
  }, [data, query, loops]);
}

/** From the store, where no session of the live list matches. */
function useEarlierMatches(query: string, isListed: boolean) {
  const q = useThrottled(query.trim() || undefined, STORE_EVERY_MS);
  const earlier = useStoredMatches({ q: isListed ? undefined : q });
  return { ...earlier, isLooking: earlier.isLooking || (!isListed && q !== (query.trim() || undefined)) };
}

/** Agents of the proxy are offered once something is typed: until then they would push the rest out of sight. */
function useMatchingAgents(query: string): AgentView[] {
  const { agents } = useAgents(useThrottled(query, STORE_EVERY_MS));
  const needle = query.trim().toLowerCase();
  return useMemo(() => {
    if (!needle) return [];
    const all = [...agents.values()];
    return all.filter(({ agent_id }) => agent_id.toLowerCase().includes(needle)).slice(0, AGENTS_SHOWN_MAX);
  }, [agents, needle]);
}
