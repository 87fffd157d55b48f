/** What the Agents page shows, in the address. */
import { dropAbsent, oneOf, textOf } from '../../app/search-values';

const AGENT_STATES = ['active', 'inactive', 'held', 'failing', 'refused', 'near_limit'] as const;
export type AgentStateFilter = (typeof AGENT_STATES)[number];

const AGENT_SORTS = ['attention', 'name', 'spend', 'rate', 'last_call'] as const;
export type AgentSort = (typeof AGENT_SORTS)[number];

export interface AgentsSearch {
  q?: string;
  state?: AgentStateFilter;
  /** Absent: attention. */
  sort?: AgentSort;
}

export const NO_AGENT_FILTER = { q: undefined, state: undefined } as const;

export function parseAgentsSearch(search: Record<string, unknown>): AgentsSearch {
  return dropAbsent({
    q: textOf(search.q),
    state: oneOf(AGENT_STATES, search.state),
    sort: oneOf(AGENT_SORTS, search.sort),
  }) as AgentsSearch;
}

export const isAgentFiltered = ({ q, state }: AgentsSearch): boolean => Boolean(q || state);
