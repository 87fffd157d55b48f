/** Commands to an agent of the proxy. Their effect arrives over `gateway:agents` and `gateway:incidents`, for everybody. */
import type { AgentPolicy, AgentPolicyPatch, KillSwitchAnswer, KillSwitchPatch } from '#contracts';
import { api } from './client';

export const agentPath = (agentId: string): string => `/v1/agents/${encodeURIComponent(agentId)}`;

export const deactivateAgent = (agentId: string, reason: string): Promise<unknown> =>
  api.post(`${agentPath(agentId)}/deactivate`, { reason });

/** `note` is there when somebody else was faster. */
export const reactivateAgent = (agentId: string): Promise<{ status: 'ok'; note?: 'already_active' }> =>
  api.post(`${agentPath(agentId)}/reactivate`);

export const patchPolicy = (agentId: string, patch: AgentPolicyPatch): Promise<AgentPolicy> =>
  api.patch(`${agentPath(agentId)}/policy`, patch);

export const patchKillSwitch = (agentId: string, patch: KillSwitchPatch): Promise<KillSwitchAnswer> =>
  api.patch(`${agentPath(agentId)}/kill-switch`, patch);
