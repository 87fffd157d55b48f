/** An agent for specs. */
import {
  type AgentView,
  CACHE_POLICY_DEFAULT,
  KILL_SWITCH_DEFAULTS,
  NO_LIMITS,
  SEMANTIC_LOOP_POLICY_DEFAULT,
  UNKNOWN_COST_POLICY_DEFAULT,
} from '#contracts';

export function buildAgent(agent_id: string, over: Partial<AgentView> = {}): AgentView {
  const none = { spent_usd: 0, unpriced_call_count: 0, budget_usd: null };
  return {
    agent_id,
    policy: {
      ...NO_LIMITS,
      agent_id,
      unknown_cost: UNKNOWN_COST_POLICY_DEFAULT,
      semantic_loop: SEMANTIC_LOOP_POLICY_DEFAULT,
      cache: CACHE_POLICY_DEFAULT,
      active: true,
      deactivated_by: null,
      deactivated_at_ms: null,
      deactivated_reason: null,
      updated_at_ms: null,
      updated_by: null,
    },
    is_stop_stored: true,
    kill_switch: {
      ...KILL_SWITCH_DEFAULTS,
      agent_id,
      preset: 'default',
      live_score: null,
      updated_at_ms: null,
      updated_by: null,
    },
    spend: { hour: none, day: none, month: none },
    last_call_ms: null,
    calls_per_minute: 0,
    error_rate: null,
    refusal_rate: null,
    latest_refusal: null,
    running_call_count: 0,
    held_call_count: 0,
    held_since_ms: null,
    open_incident_id: null,
    is_split: false,
    ...over,
  };
}

/** One that may not call. */
export const buildStoppedAgent = (
  agent_id: string,
  deactivated_by: string,
  deactivated_at_ms = 0,
): AgentView =>
  buildAgent(agent_id, {
    policy: { ...buildAgent(agent_id).policy, active: false, deactivated_by, deactivated_at_ms },
  });
