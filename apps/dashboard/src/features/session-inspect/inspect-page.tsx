/** One session, live: why it was flagged, what it did, and the controls. Loads from `session:{id}` alone. */
import { getRouteApi } from '@tanstack/react-router';
import { SearchX } from 'lucide-react';
import { type RefObject, useCallback, useEffect, useRef, useState } from 'react';
import type { SessionDetail } from '#contracts';
import { useShortcut } from '../../app/keyboard/use-shortcut';
import { TextLink } from '../../app/text-link';
import { useBack } from '../../app/use-back';
import { Callout, EmptyState, Skeleton, SkipButton, Tabs, useIsPhone } from '../../ui';
import { ActionBar } from '../hitl-console/action-bar';
import { AuditTrail } from '../hitl-console/audit-trail';
import { HeldCalls } from '../hitl-console/held-calls';
import { HeldMessages } from '../hitl-console/held-messages';
import { HitlConsole } from '../hitl-console/hitl-console';
import { usePauseAndInspect } from '../hitl-console/use-pause-and-inspect';
import { CausalGraph } from './causal-graph';
import { FiredWindow } from './fired-window';
import { InspectHeader } from './inspect-header';
import type { InspectTab } from './inspect-search';
import { Scratchpad } from './scratchpad';
import { SessionCalls } from './session-calls';
import { Timeline } from './timeline';
import { useSession } from './use-session';

const route = getRouteApi('/shell/sessions/$sessionId');

export function InspectPage() {
  const { sessionId } = route.useParams();
  const { data, phase, refusal, isUnknown } = useSession(sessionId);
  useBack('/');

  if (data) return <Inspect key={sessionId} detail={data} isDeleted={isUnknown || data.isDeleted === true} />;
  if (phase === 'refused') {
    return (
      <EmptyState
        icon={<SearchX size={28} aria-hidden="true" />}
        title={isUnknown ? 'No such session' : 'This session cannot be shown'}
        isPage
        className="h-full"
        action={
          <span className="flex gap-4">
            <TextLink to="/">Back to sessions</TextLink>
            {/* Of an agent that posts its own steps, a conversation through the proxy may have calls and no steps. */}
            <TextLink to="/calls" search={{ session: sessionId }}>
              Its calls through the proxy
            </TextLink>
          </span>
        }
      >
        <span className="break-all font-mono text-xs">{sessionId}</span>
        <br />
        {refusal?.detail}
        {isUnknown ? ' Once it begins, it is shown here.' : null}
      </EmptyState>
    );
  }
  return (
    <div aria-busy="true" className="flex flex-col gap-4 p-4">
      <h1 className="sr-only">Session {sessionId}</h1>
      <Skeleton className="h-8 w-1/2" />
      <Skeleton className="h-5 w-3/4" />
      <Skeleton className="h-64 w-full" />
    </div>
  );
}

interface InspectProps {
  detail: SessionDetail;
  /** While it was open. */
  isDeleted: boolean;
}

function Inspect({ detail, isDeleted }: InspectProps) {
  const { session } = detail;
  const isPhone = useIsPhone();
  const controls = useRef<HTMLDivElement>(null);
  const pauseAndInspect = usePauseAndInspect();
  useShortcut('pause', () => {
    if (isDeleted || session.control.mode === 'observe_only') return false;
    return void pauseAndInspect.run(session, 'Paused while inspecting');
  });
  return (
    <div className="flex h-full flex-col max-md:block max-md:overflow-y-auto">
      <InspectHeader session={session} />
      <div role="status" className="empty:hidden">
        {isDeleted ? (
          <Callout tone="warning" className="mx-3 mt-3">
            The gateway no longer has this session: old ones are deleted. What you see of it is gone once you
            leave this page.
          </Callout>
        ) : null}
      </div>
      <div className="relative flex min-h-0 flex-1 gap-3 p-3 max-md:flex-col-reverse">
        <SkipButton to={controls}>Skip the steps</SkipButton>
        <StepTabs detail={detail} />
        <div
          ref={controls}
          tabIndex={-1}
          className="flex w-[380px] shrink-0 flex-col gap-3 overflow-y-auto outline-none max-md:w-full max-md:overflow-visible"
        >
          {isDeleted ? null : <Controls detail={detail} />}
          <FiredWindow detail={detail} />
          <AuditTrail entries={detail.audit} />
        </div>
      </div>
      {isPhone && !isDeleted ? <ActionBar session={session} /> : null}
    </div>
  );
}

function Controls({ detail }: { detail: SessionDetail }) {
  const { session, held } = detail;
  return (
    <>
      <HitlConsole detail={detail} />
      <HeldCalls session={session} />
      <HeldMessages sessionId={session.session_id} held={held} heldCount={session.control.held_count} />
    </>
  );
}

/** On a phone the tabs stand below the controls: a link that names one leads to it. */
function useNamedTabInView(isNamed: boolean): RefObject<HTMLDivElement | null> {
  const isPhone = useIsPhone();
  const tabs = useRef<HTMLDivElement>(null);
  const leadsThere = useRef(isNamed && isPhone);
  useEffect(() => {
    if (leadsThere.current) tabs.current?.scrollIntoView();
    leadsThere.current = false;
  }, []);
  return tabs;
}

function StepTabs({ detail }: { detail: SessionDetail }) {
  const { tab } = route.useSearch();
  const navigate = route.useNavigate();
  const tabs = useNamedTabInView(tab !== undefined);
  const [openSeqs, setOpenSeqs] = useState<ReadonlySet<number>>(new Set());
  const show = useCallback(
    (next: InspectTab) => void navigate({ search: next === 'timeline' ? {} : { tab: next }, replace: true }),
    [navigate],
  );
  const toggle = useCallback((seq: number) => {
    setOpenSeqs((before) => {
      const next = new Set(before);
      if (!next.delete(seq)) next.add(seq);
      return next;
    });
  }, []);
  const openStep = useCallback(
    (seq: number) => {
      setOpenSeqs((before) => new Set(before).add(seq));
      show('timeline');
    },
    [show],
  );
  return (
    <Tabs
      ref={tabs}
      label="Steps"
      value={tab ?? 'timeline'}
      onChange={show}
      className="min-w-0 flex-1 rounded-lg border border-line bg-surface max-md:h-[70dvh] max-md:flex-none max-md:scroll-mt-3"
      tabs={[
        {
          value: 'timeline',
          label: 'Timeline',
          content: <Timeline detail={detail} openSeqs={openSeqs} onToggle={toggle} />,
        },
        { value: 'causes', label: 'Causes', content: <CausalGraph detail={detail} onOpenStep={openStep} /> },
        { value: 'scratchpad', label: 'Scratchpad', content: <Scratchpad detail={detail} /> },
        { value: 'calls', label: 'Calls', content: <SessionCalls sessionId={detail.session.session_id} /> },
      ]}
    />
  );
}
