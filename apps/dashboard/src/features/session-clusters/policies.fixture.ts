/** What these agents may do, for specs. */
import type { AgentView, AllAgentsPolicy } from '#contracts';
import { buildAgent } from '../agents/agent.fixture';
import type { Policies } from './rest';

/** @param all of all agents together: nothing of it is known, unless given */
export const buildPolicies = (agents: readonly AgentView[], all?: Partial<AllAgentsPolicy>): Policies => ({
  agents: new Map(agents.map((agent) => [agent.agent_id, agent])),
  all: all === undefined ? null : { ...buildAgent('all').policy, ...all },
});
