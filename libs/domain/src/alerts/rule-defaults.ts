/** The rules everybody starts with. */
import { ALL_AGENTS, type AlertRule } from '#contracts';

/** A share of fewer calls says nothing. */
export const ERROR_CALLS_MIN = 10;

/** A rule as it is kept, without what is firing. */
export type RuleSettings = Omit<AlertRule, 'firing' | 'firing_count' | 'firing_since_ms'>;

/** As people are told of a subject; null: all agents together. */
export const agentIdOf = (subjectId: string): string | null => (subjectId === ALL_AGENTS ? null : subjectId);

/** @param subjectId an agent, or ALL_AGENTS */
export const isAbout = (
  { type, agent_id }: Pick<RuleSettings, 'type' | 'agent_id'>,
  subjectId: string,
): boolean => {
  if (agent_id !== null && agent_id !== subjectId) return false;
  // Of budgets some are one agent's, and some of all together.
  return type === 'budget' || (type === 'total_spend') === (subjectId === ALL_AGENTS);
};

/** Of whom it speaks when something happened to an agent. */
export const subjectIdOf = ({ type }: Pick<RuleSettings, 'type'>, agentId: string): string =>
  type === 'total_spend' ? ALL_AGENTS : agentId;

/** Shown without a channel until somebody adds one. Their ids are the same in every tenant. */
export const defaultRules = (updatedBy: string): RuleSettings[] =>
  (
    [
      ['kill_switch', 'Kill switch fired'],
      ['entropy_loop', 'Agent in a loop'],
      ['semantic_loop', 'Agent asks the same again'],
      ['hitl_required', 'Agent waits for a person'],
    ] as const
  ).map(([type, name]) => ({
    rule_id: `default_${type}`,
    name,
    type,
    enabled: true,
    agent_id: null,
    threshold: null,
    threshold_usd: null,
    period: null,
    window_s: null,
    cooldown_s: 300,
    repeat_s: null,
    notify_recovery: true,
    muted_until_ms: null,
    channel_ids: [],
    created_at_ms: 0,
    updated_by: updatedBy,
  }));
