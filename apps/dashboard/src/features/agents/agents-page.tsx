/** Every agent that calls through the proxy: whether it may, what it spends, and what wants somebody. */
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { SearchX, X } from 'lucide-react';
import { useMemo, useState } from 'react';
import { systemQuery } from '../../api';
import { SearchBox } from '../../app/search-box';
import { useChangeSearch } from '../../app/use-change-search';
import { useTopic } from '../../realtime';
import {
  Button,
  Callout,
  EmptyState,
  formatCount,
  Select,
  Skeleton,
  useThrottled,
  useWaitsFor,
} from '../../ui';
import { ProxyOnboarding } from '../onboarding/proxy-onboarding';
import { FailingUpstreams } from '../system/failing-upstreams';
import { AgentsList } from './agents-list';
import {
  type AgentSort,
  type AgentStateFilter,
  type AgentsSearch,
  isAgentFiltered,
  NO_AGENT_FILTER,
} from './agents-search';
import { AllAgentsStrip } from './all-agents-strip';
import { selectAgents } from './select-agents';
import { useAgents } from './use-agents';

const route = getRouteApi('/shell/agents');
/** Values change at once; the order follows at most this often. */
const ORDER_EVERY_MS = 1_000;

const STATES: readonly { value: AgentStateFilter | ''; label: string }[] = [
  { value: '', label: 'Any state' },
  { value: 'active', label: 'Active' },
  { value: 'inactive', label: 'Stopped' },
  { value: 'held', label: 'With held calls' },
  { value: 'failing', label: 'Failing' },
  { value: 'refused', label: 'Refused' },
  { value: 'near_limit', label: 'Near a limit' },
];
const SORTS: readonly { value: AgentSort; label: string }[] = [
  { value: 'attention', label: 'Most urgent first' },
  { value: 'last_call', label: 'Last call first' },
  { value: 'spend', label: 'Most expensive first' },
  { value: 'rate', label: 'Busiest first' },
  { value: 'name', label: 'By name' },
];

export function AgentsPage() {
  const search = route.useSearch();
  const change = useChangeSearch<AgentsSearch>();
  const { data, refusal } = useTopic('gateway:agents');
  const { data: together } = useTopic('gateway:all_agents');
  const [isHeld, setIsHeld] = useState(false);
  const { agents, hasMore, isLooking } = useAgents(search.q);
  // Told of later, a vendor that fails would push the agents down, under somebody's finger.
  const { isPending: isSystemPending } = useQuery(systemQuery);
  const waits = useWaitsFor(isSystemPending);
  const isLoading = waits || ((data === null || together === null) && !refusal);
  const throttled = useThrottled(agents, ORDER_EVERY_MS);
  // The first snapshot is not delayed.
  const forOrder = throttled.size === 0 ? agents : throttled;
  const allChangedMs = together?.policy.updated_at_ms ?? 0;
  const target = useMemo(
    () => selectAgents(forOrder.values(), search, allChangedMs),
    [forOrder, search, allChangedMs],
  );

  const countText = `${formatCount(agents.size)}${hasMore ? '+' : ''}`;

  if (data?.size === 0 && !isAgentFiltered(search)) {
    return (
      <div className="h-full overflow-y-auto">
        {together?.policy.active === false ? <AllAgentsStrip view={together} /> : null}
        <ProxyOnboarding
          lead="Listening for the first call through the proxy"
          title="Point an agent at the proxy"
          text="Change one base URL. The agent appears here with its first call: held, limited and accounted for from then on. Agents that only post DecisionLogs are on Fleet."
        />
      </div>
    );
  }
  return (
    <div className="flex h-full flex-col">
      <h1 className="sr-only">Agents</h1>
      {/* biome-ignore lint/a11y/useSemanticElements: the search element is not known to every screen reader yet. */}
      <div
        role="search"
        aria-label="Agents"
        className="flex flex-wrap items-center gap-2 border-line border-b bg-surface px-3 py-2"
      >
        <SearchBox
          label="Search agents"
          placeholder="Agent"
          value={search.q ?? ''}
          onChange={(q) => change({ q: q || undefined })}
        />
        <Select
          label="State"
          value={search.state ?? ''}
          options={STATES}
          highlighted={search.state !== undefined}
          onChange={(state) => change({ state: state || undefined })}
        />
        <Select
          label="Order"
          value={search.sort ?? 'attention'}
          options={SORTS}
          onChange={(sort) => change({ sort: sort === 'attention' ? undefined : sort })}
        />
        {isAgentFiltered(search) ? (
          <Button
            variant="ghost"
            icon={<X size={14} aria-hidden="true" />}
            onClick={() => change(NO_AGENT_FILTER)}
          >
            Clear
          </Button>
        ) : null}
        <p role="status" className="nums ml-auto text-muted text-xs max-md:hidden">
          {target.length === agents.size
            ? `${countText} ${agents.size === 1 ? 'agent' : 'agents'}`
            : `${formatCount(target.length)} of ${countText}`}
        </p>
      </div>
      {isLoading ? (
        <LoadingAgents />
      ) : (
        <>
          {refusal ? (
            <Callout tone="danger" className="m-3">
              Agents cannot be shown: {refusal.detail}
            </Callout>
          ) : null}
          {together ? <AllAgentsStrip view={together} /> : null}
          <FailingUpstreams className="m-3" />
          {isLooking && target.length === 0 ? <LoadingAgents /> : null}
          {data && target.length === 0 && !isLooking ? (
            <EmptyState
              icon={<SearchX size={26} aria-hidden="true" />}
              title="No agent matches"
              className="flex-1"
              action={<Button onClick={() => change(NO_AGENT_FILTER)}>Clear filters</Button>}
            />
          ) : null}
          {data && target.length > 0 ? (
            <AgentsList
              agents={agents}
              target={target}
              isHeld={isHeld}
              onHold={setIsHeld}
              resetKey={JSON.stringify(search)}
            />
          ) : null}
        </>
      )}
    </div>
  );
}

function LoadingAgents() {
  return (
    <div aria-busy="true" className="flex flex-col gap-4 p-4">
      {['a', 'b', 'c', 'd', 'e'].map((key) => (
        <Skeleton key={key} className="h-9 w-full" />
      ))}
    </div>
  );
}
