/** `gateway:agents`: the latest view of every agent the proxy knows, by id. */
import type { AgentView } from '#contracts';
import type { TopicMerge } from '../topic-merge';

export type AgentsData = ReadonlyMap<string, AgentView>;

/** Until they are known. */
export const NO_AGENTS: AgentsData = new Map();

/** Views are replaced whole, so an agent that did not change keeps its identity. One copy of the map per batch. */
export const agentsMerge: TopicMerge<AgentsData, AgentView[], AgentView> = {
  start: (snapshot) => new Map(snapshot.map((agent) => [agent.agent_id, agent])),
  apply(data, events) {
    const next = new Map(data);
    for (const agent of events) next.set(agent.agent_id, agent);
    return next;
  },
};
