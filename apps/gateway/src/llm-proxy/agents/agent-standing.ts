/**
 * May this call go on at this moment? Asked when it has come in whole, and again when it has waited for something else
 * than itself: meanwhile an operator or the kill switch may have stopped its agent, or somebody revoked its key. Less ends
 * a call that is at its upstream.
 */
import { type AgentPolicy, type AgentPrincipal, KILL_SWITCH_ACTOR, type PolicyBar } from '#contracts';
import { isOfAll, isWithinAllowedHours, nextAllowedMs } from '#domain/policy';
import type { Clock } from '#kernel';
import { utcMinute } from '../limits/limit-refusals.js';
import { policyRefusal } from '../limits/policy-refusal.js';
import type { ProxyCall, Verdict } from '../proxy-call.js';
import { refused } from '../refusals.js';
import type { AgentDirectory } from './agent-directory.js';

/** Undefined: it may. Synchronous, and two look-ups in maps for an agent without settings. */
export type AgentStanding = (
  call: Pick<ProxyCall, 'scope' | 'principal' | 'sessionId'>,
) => Verdict | undefined;

export interface AgentStandingParts {
  agents: Pick<AgentDirectory, 'restriction' | 'restrictionOfAll' | 'wasKilledIn'>;
  /** @see Authenticator.isInForce */
  isInForce: (principal: AgentPrincipal) => boolean;
  clock: Clock;
}

export const agentStanding =
  ({ agents, isInForce, clock }: AgentStandingParts): AgentStanding =>
  ({ scope, principal }) => {
    if (!isInForce(principal)) return KEY_REVOKED;
    return (
      barredBy(agents.restriction(scope), clock) ??
      barredBy(agents.restrictionOfAll(principal.tenant_id), clock)
    );
  };

function barredBy(policy: AgentPolicy | null, clock: Clock): Verdict | undefined {
  if (policy === null) return undefined;
  const nowMs = clock.nowMs();
  const bar = policyBar(policy, nowMs);
  if (bar === null) return undefined;
  return bar === 'outside_hours' ? outsideHours(policy, nowMs) : inactive(policy);
}

/**
 * May it be finished, at its upstream? Not if an operator stopped its agent or its key was revoked; the kill switch ends what
 * belongs to the loop that it found. An hour that is over lets the running answer finish.
 */
export const upstreamStanding =
  ({ agents, isInForce }: Omit<AgentStandingParts, 'clock'>): AgentStanding =>
  ({ scope, principal, sessionId }) => {
    if (!isInForce(principal)) return KEY_REVOKED;
    const ofAll = agents.restrictionOfAll(principal.tenant_id);
    if (ofAll?.active === false) return inactive(ofAll);
    const policy = agents.restriction(scope);
    if (policy === null || policy.active) return undefined;
    const isMeant = policy.deactivated_by !== KILL_SWITCH_ACTOR || agents.wasKilledIn(scope, sessionId);
    return isMeant ? inactive(policy) : undefined;
  };

/** Who stopped the agent, or that the hour is none of its own; null: it may call. */
export function policyBar(policy: AgentPolicy, nowMs: number): PolicyBar | null {
  const { active, deactivated_by, allowed_hours } = policy;
  if (!active) return deactivated_by === KILL_SWITCH_ACTOR ? 'killed' : 'inactive';
  return allowed_hours === null || isWithinAllowedHours(allowed_hours, nowMs) ? null : 'outside_hours';
}

const KEY_REVOKED = refused('unauthorized', 'The agent key of this call was revoked.');

const inactive = (policy: AgentPolicy): Verdict =>
  policyRefusal('inactive', 'agent_inactive', stopWords(policy), null);

function stopWords(policy: AgentPolicy): string {
  const { deactivated_by, deactivated_at_ms, deactivated_reason } = policy;
  const why = deactivated_reason ? ` (${deactivated_reason})` : '';
  if (isOfAll(policy))
    return `An operator stopped all agents of this tenant${why}; an operator can let them run.`;
  if (deactivated_by !== KILL_SWITCH_ACTOR)
    return `An operator deactivated this agent${why}; an operator can reactivate it.`;
  // Not for what it did itself: its tenant is closed.
  if (deactivated_at_ms === null) return `This agent may not call: ${deactivated_reason}.`;
  return 'The kill switch deactivated this agent because it was repeating itself; an operator can reactivate it.';
}

function outsideHours(policy: AgentPolicy, nowMs: number): Verdict {
  const { allowed_hours } = policy;
  const nextMs = allowed_hours && nextAllowedMs(allowed_hours, nowMs);
  return policyRefusal(
    'outside_hours',
    'outside_allowed_hours',
    `${isOfAll(policy) ? 'No agent of this tenant may' : 'This agent may not'} run at this hour${nextMs === null ? '' : `; next at ${utcMinute(nextMs)}`}.`,
    nextMs === null ? null : nextMs - nowMs,
  );
}
