/**
 * May this agent run at this moment? Asked when its call comes in, and again of a call that has waited for something
 * else than itself: an operator or the kill switch may have stopped the agent meanwhile.
 */
import { type AgentPolicy, type AgentScope, KILL_SWITCH_ACTOR } from '#contracts';
import { isWithinAllowedHours, nextAllowedMs } from '#domain/policy';
import type { Clock } from '#kernel';
import type { AgentDirectory } from './agent-directory.js';
import { policyRefusal } from './policy-refusal.js';
import type { Verdict } from './proxy-call.js';

/** Undefined: it may. Synchronous, and a look-up in a map for an agent without settings. */
export type AgentStanding = (scope: AgentScope) => Verdict | undefined;

export const agentStanding =
  ({ agents, clock }: { agents: Pick<AgentDirectory, 'restriction'>; clock: Clock }): AgentStanding =>
  (scope) => {
    const policy = agents.restriction(scope);
    if (policy === null) return undefined;
    if (!policy.active) return inactive(policy);
    const { allowed_hours: hours } = policy;
    if (hours === null) return undefined;
    const nowMs = clock.nowMs();
    if (isWithinAllowedHours(hours, nowMs)) return undefined;
    return outsideHours(nextAllowedMs(hours, nowMs), nowMs);
  };

const inactive = ({ deactivated_by, deactivated_reason }: AgentPolicy): Verdict =>
  policyRefusal(
    'inactive',
    'agent_inactive',
    deactivated_by === KILL_SWITCH_ACTOR
      ? 'The kill switch deactivated this agent because it was repeating itself; an operator can reactivate it.'
      : `An operator deactivated this agent${deactivated_reason ? `: ${deactivated_reason}` : ''}.`,
    null,
  );

const outsideHours = (nextMs: number | null, nowMs: number): Verdict =>
  policyRefusal(
    'outside_hours',
    'outside_allowed_hours',
    `This agent may not run at this hour${nextMs === null ? '' : `; next at ${new Date(nextMs).toISOString()}`}.`,
    nextMs === null ? null : nextMs - nowMs,
  );
