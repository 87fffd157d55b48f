/**
 * Commands to an agent of the proxy, and to all of them together. Their effect arrives over `gateway:agents`, `gateway:all_agents`
 * and `gateway:incidents`, for everybody.
 */
import type {
  AgentPolicy,
  AgentPolicyPatch,
  AllAgentsPolicy,
  AllAgentsPolicyPatch,
  KillSwitchAnswer,
  KillSwitchPatch,
} from '#contracts';
import { api } from './client';

export const agentPath = (agentId: string): string => `/v1/agents/${encodeURIComponent(agentId)}`;

export const deactivateAgent = (agentId: string, reason: string): Promise<unknown> =>
  api.post(`${agentPath(agentId)}/deactivate`, { reason });

/** `note` is there when somebody else was faster. */
export interface Reactivated {
  status: 'ok';
  note?: 'already_active';
}

export const reactivateAgent = (agentId: string): Promise<Reactivated> =>
  api.post(`${agentPath(agentId)}/reactivate`);

export const stopAllAgents = (reason: string): Promise<unknown> =>
  api.post('/v1/all-agents/deactivate', { reason });

export const letAllAgentsRun = (): Promise<Reactivated> => api.post('/v1/all-agents/reactivate');

export const patchAllAgentsPolicy = (patch: AllAgentsPolicyPatch): Promise<AllAgentsPolicy> =>
  api.patch('/v1/all-agents/policy', patch);

export const patchPolicy = (agentId: string, patch: AgentPolicyPatch): Promise<AgentPolicy> =>
  api.patch(`${agentPath(agentId)}/policy`, patch);

export const patchKillSwitch = (agentId: string, patch: KillSwitchPatch): Promise<KillSwitchAnswer> =>
  api.patch(`${agentPath(agentId)}/kill-switch`, patch);
