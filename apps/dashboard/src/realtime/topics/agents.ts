/** `gateway:agents`: the latest view of every agent that the list has room for, by id. */
import { type AgentView, LIMITS } from '#contracts';
import type { TopicMerge } from '../topic-merge';
import { cutBack } from './cut-back';

export type AgentsData = ReadonlyMap<string, AgentView>;

/** Until they are known. */
export const NO_AGENTS: AgentsData = new Map();

/** Views are replaced whole, so an agent that did not change keeps its identity. One copy of the map per batch. */
export const agentsMerge: TopicMerge<AgentsData, AgentView[], AgentView> = {
  start: (snapshot) => new Map(snapshot.map((agent) => [agent.agent_id, agent])),
  apply(data, events) {
    const next = new Map(data);
    for (const agent of events) next.set(agent.agent_id, agent);
    return cutBack(next, LIMITS.listedAgentsMax, ({ agent_id }) => agent_id, listed);
  },
};

const wantsSomebody = ({ open_incident_id, held_call_count, policy }: AgentView): boolean =>
  open_incident_id !== null || held_call_count > 0 || !policy.active;

/** What wants somebody has room before the rest, and then who called last. */
const listed = (agents: AgentView[]): AgentView[] =>
  agents
    .sort(
      (a, b) =>
        Number(wantsSomebody(b)) - Number(wantsSomebody(a)) || (b.last_call_ms ?? 0) - (a.last_call_ms ?? 0),
    )
    .slice(0, LIMITS.listedAgentsMax);
