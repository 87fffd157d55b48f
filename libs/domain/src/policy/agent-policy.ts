/** An agent's policy as a value: what it is until somebody sets it, and what an operator's patch makes of it. */
import {
  type AgentLimits,
  type AgentPolicy,
  type AgentPolicyPatch,
  ALL_AGENTS,
  CACHE_POLICY_DEFAULT,
  NO_LIMITS,
  SEMANTIC_LOOP_POLICY_DEFAULT,
  UNKNOWN_COST_POLICY_DEFAULT,
} from '#contracts';

/** Copied whole, which costs a thirtieth of members added one by one to a copy of the limits: a listing asks for thousands. */
const UNSET: AgentPolicy = {
  ...NO_LIMITS,
  agent_id: '',
  unknown_cost: UNKNOWN_COST_POLICY_DEFAULT,
  semantic_loop: SEMANTIC_LOOP_POLICY_DEFAULT,
  cache: CACHE_POLICY_DEFAULT,
  active: true,
  deactivated_by: null,
  deactivated_at_ms: null,
  deactivated_reason: null,
  updated_at_ms: null,
  updated_by: null,
};

/** Not one agent's, but that of all agents of its tenant together. */
export const isOfAll = ({ agent_id }: Pick<AgentPolicy, 'agent_id'>): boolean => agent_id === ALL_AGENTS;

/** Active, without limits. */
export const defaultPolicy = (agentId: string): AgentPolicy => ({ ...UNSET, agent_id: agentId });

/**
 * A new policy; the given one stays. Who deactivated an agent first stays on record until it is activated again:
 * deactivating an inactive agent changes no more than its reason, if one is given.
 * @param actor an operator's id, or KILL_SWITCH_ACTOR
 */
export function applyPolicyPatch(
  policy: AgentPolicy,
  patch: AgentPolicyPatch,
  actor: string,
  nowMs: number,
): AgentPolicy {
  const { active, reason, ...limits } = patch;
  const next: AgentPolicy = { ...policy, ...given(limits), updated_at_ms: nowMs, updated_by: actor };
  if (active === true) {
    next.active = true;
    next.deactivated_by = null;
    next.deactivated_at_ms = null;
    next.deactivated_reason = null;
  } else if (active === false) {
    if (policy.active) {
      next.active = false;
      next.deactivated_by = actor;
      next.deactivated_at_ms = nowMs;
      next.deactivated_reason = null;
    }
    if (reason !== undefined) next.deactivated_reason = reason;
  }
  return next;
}

/** Without members that are there but undefined: null lifts a limit, undefined leaves it. */
const given = (limits: Partial<AgentLimits>): Partial<AgentLimits> =>
  Object.fromEntries(Object.entries(limits).filter(([, value]) => value !== undefined));
