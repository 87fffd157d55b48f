/** Alert rules as people write them: percent and minutes instead of shares and seconds. Pure. */
import {
  type AlertRule,
  type AlertRulePatch,
  type AlertType,
  BUDGET_PERIODS,
  type BudgetPeriod,
  isSpendRule,
  RULE_PERIOD_DEFAULT,
  RULE_SECONDS_MAX,
  RULE_SECONDS_MIN,
  RULE_SHARE_DEFAULT,
  RULE_USD_MAX,
  RULE_WINDOW_S_DEFAULT,
} from '#contracts';
import { formatShare, formatUsd } from '../../ui/format';

export const TYPE_LABELS: Record<AlertType, string> = {
  kill_switch: 'Kill switch fired',
  entropy_loop: 'Session is looping',
  semantic_loop: 'Same asked in other words',
  hitl_required: 'Agent waits for a person',
  budget: 'Budget is running out',
  spend: 'Agent spends too much',
  total_spend: 'All agents spend too much',
  error_rate: 'Calls are failing',
  agent_silent: 'Agent is silent',
};

export const TYPE_HELP: Record<AlertType, string> = {
  kill_switch: 'When the kill switch stops an agent. It is over when somebody reactivates it.',
  entropy_loop:
    'When entropy says that a session goes round in circles, and again when another one of the same agent does: those that come up while it is quiet are told together. It is over when none does any more.',
  semantic_loop:
    'When a session asks the same again in other words, for the second time or more, and its agent’s policy is not hints alone. It is over when this long passed without.',
  hitl_required:
    'When an agent asks for a person and its session is held, and again when another session of it is: those that come up while it is quiet are told together. It is over when somebody has resumed or ended each of them, or their pauses are over.',
  budget:
    'When an agent has spent this share of its hour, day or month, or is refused a call because the rest does not cover it. A rule about any agent speaks of the budget of all together as well.',
  spend:
    'When an agent has spent this much, as far as prices are known. It stops nothing: a budget in the agent’s policy does.',
  total_spend:
    'When all agents together have spent this much, as far as prices are known. It stops nothing: a budget of all agents does. The page Spend says who it was.',
  error_rate: 'When this share of an agent’s calls fails, of at least ten.',
  agent_silent:
    'When an agent that used to call, or to post steps, has done neither for this long. Not while it is held, paused or stopped here.',
};

/** Which of the two numbers a type asks for. */
export const asksShare = (type: AlertType): type is keyof typeof RULE_SHARE_DEFAULT =>
  Object.hasOwn(RULE_SHARE_DEFAULT, type);
export const asksWindow = (type: AlertType): type is keyof typeof RULE_WINDOW_S_DEFAULT =>
  Object.hasOwn(RULE_WINDOW_S_DEFAULT, type);

export const asksAgent = (type: AlertType): boolean => type !== 'total_spend';

/** 0..1, also where the rule leaves it open; null: its type asks for none. */
const shareOf = ({ type, threshold }: Pick<AlertRule, 'type' | 'threshold'>): number | null =>
  asksShare(type) ? (threshold ?? RULE_SHARE_DEFAULT[type]) : null;
/** Seconds, likewise. */
const windowOf = ({ type, window_s }: Pick<AlertRule, 'type' | 'window_s'>): number | null =>
  asksWindow(type) ? (window_s ?? RULE_WINDOW_S_DEFAULT[type]) : null;

const PERIOD_LABELS: Record<BudgetPeriod, string> = {
  hour: 'an hour',
  day: 'a day (UTC)',
  month: 'a month (UTC)',
};
export const PERIODS = BUDGET_PERIODS.map((value) => ({ value, label: PERIOD_LABELS[value] }));

export interface RuleDraft {
  name: string;
  type: AlertType;
  /** "" = every agent. */
  agent: string;
  percent: string;
  usd: string;
  period: BudgetPeriod;
  windowMinutes: string;
  cooldownMinutes: string;
  /** "" = said once. */
  repeatMinutes: string;
  notifyRecovery: boolean;
  channelIds: readonly string[];
}

const round = (value: number): string => String(Math.round(value * 1_000) / 1_000);
const percentOf = (share: number | null): string => (share === null ? '' : round(share * 100));
const minutes = (seconds: number | null): string => (seconds === null ? '' : round(seconds / 60));

/** Nothing is too much for everybody: somewhere to begin. */
const USD_DEFAULT = '10';

/** What a rule without these of its own goes by. */
const defaultsOf = (type: AlertType): Pick<RuleDraft, 'percent' | 'usd' | 'period' | 'windowMinutes'> => ({
  percent: percentOf(shareOf({ type, threshold: null })),
  usd: isSpendRule(type) ? USD_DEFAULT : '',
  period: RULE_PERIOD_DEFAULT,
  windowMinutes: minutes(windowOf({ type, window_s: null })),
});

export const newRule = (type: AlertType, channelIds: readonly string[]): RuleDraft => ({
  name: TYPE_LABELS[type],
  type,
  agent: '',
  ...defaultsOf(type),
  cooldownMinutes: '5',
  repeatMinutes: '',
  notifyRecovery: true,
  channelIds,
});

/** Another type asks for other numbers; a name that nobody has chosen follows it. */
export function withType(draft: RuleDraft, type: AlertType): RuleDraft {
  const name = draft.name === TYPE_LABELS[draft.type] ? TYPE_LABELS[type] : draft.name;
  return { ...draft, ...defaultsOf(type), name, type };
}

export const draftOfRule = (rule: AlertRule): RuleDraft => ({
  name: rule.name,
  type: rule.type,
  agent: rule.agent_id ?? '',
  percent: percentOf(shareOf(rule)),
  usd: rule.threshold_usd === null ? '' : String(rule.threshold_usd),
  period: rule.period ?? RULE_PERIOD_DEFAULT,
  windowMinutes: minutes(windowOf(rule)),
  cooldownMinutes: minutes(rule.cooldown_s),
  repeatMinutes: minutes(rule.repeat_s),
  notifyRecovery: rule.notify_recovery,
  channelIds: rule.channel_ids,
});

export type RuleBody = Omit<
  AlertRule,
  | 'rule_id'
  | 'created_at_ms'
  | 'updated_by'
  | 'firing'
  | 'firing_count'
  | 'firing_since_ms'
  | 'enabled'
  | 'muted_until_ms'
>;

/**
 * The rule on the wire, or what is wrong with a text, by field: the gateway judges too, but would speak of seconds and
 * shares.
 */
export function toRuleBody(draft: RuleDraft): { body: RuleBody; errors: Record<string, string> } {
  const errors: Record<string, string> = {};
  const number = (field: string, text: string): number | null => {
    const value = Number(text.trim());
    if (text.trim() !== '' && Number.isFinite(value)) return value;
    errors[field] = 'Enter a number.';
    return null;
  };
  const secondsOf = (field: keyof typeof RULE_SECONDS_MIN, text: string): number | null => {
    const value = number(field, text);
    if (value === null) return null;
    const seconds = Math.round(value * 60);
    if (seconds < RULE_SECONDS_MIN[field] || seconds > RULE_SECONDS_MAX)
      errors[field] = `From ${spanText(RULE_SECONDS_MIN[field])} to ${spanText(RULE_SECONDS_MAX)}.`;
    return seconds;
  };
  if (draft.name.trim() === '') errors.name = 'Give the rule a name.';
  const percent = asksShare(draft.type) ? number('threshold', draft.percent) : null;
  if (percent !== null && (percent < 0 || percent > 100)) errors.threshold = 'From 0 to 100.';
  const usd = isSpendRule(draft.type) ? number('threshold_usd', draft.usd) : null;
  if (usd !== null && (usd <= 0 || usd > RULE_USD_MAX))
    errors.threshold_usd = `Above $0, up to ${formatUsd(RULE_USD_MAX)}.`;
  const body: RuleBody = {
    name: draft.name.trim(),
    type: draft.type,
    agent_id: asksAgent(draft.type) ? draft.agent.trim() || null : null,
    threshold: percent === null ? null : percent / 100,
    threshold_usd: usd,
    period: isSpendRule(draft.type) ? draft.period : null,
    window_s: asksWindow(draft.type) ? secondsOf('window_s', draft.windowMinutes) : null,
    cooldown_s: secondsOf('cooldown_s', draft.cooldownMinutes) ?? 0,
    repeat_s: draft.repeatMinutes.trim() === '' ? null : secondsOf('repeat_s', draft.repeatMinutes),
    notify_recovery: draft.notifyRecovery,
    channel_ids: [...draft.channelIds],
  };
  return { body, errors };
}

/** What was typed over a rule; the rest stays as it is by now. */
export function toRulePatch(
  draft: RuleDraft,
  rule: AlertRule,
): { body: AlertRulePatch; errors: Record<string, string> } {
  const {
    body: { channel_ids: channelIds, ...body },
    errors,
  } = toRuleBody(draft);
  const asOpened: Record<string, unknown> = toRuleBody(draftOfRule(rule)).body;
  const changed = Object.entries(body).filter(
    ([name, value]) => JSON.stringify(value) !== JSON.stringify(asOpened[name]),
  );
  const added = channelIds.filter((id) => !rule.channel_ids.includes(id));
  const removed = rule.channel_ids.filter((id) => !channelIds.includes(id));
  return {
    body: {
      ...Object.fromEntries(changed),
      ...(added.length > 0 && { add_channel_ids: added }),
      ...(removed.length > 0 && { remove_channel_ids: removed }),
    },
    errors,
  };
}

/** "5 min", "2 h", "3 d". */
export function spanText(seconds: number): string {
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 7_200) return `${round(seconds / 60)} min`;
  return seconds < 172_800 ? `${round(seconds / 3_600)} h` : `${round(seconds / 86_400)} d`;
}

/** Of whom it speaks. */
export const subjectText = ({ type, agent_id }: Pick<AlertRule, 'type' | 'agent_id'>): string => {
  if (!asksAgent(type)) return 'all agents together';
  return agent_id === null ? 'any agent' : `agent ${agent_id}`;
};

/** When it fires, as one phrase. */
export function describeRule(
  rule: Pick<AlertRule, 'type' | 'threshold' | 'threshold_usd' | 'period' | 'window_s'>,
): string {
  const share = formatShare(shareOf(rule) ?? 0);
  const span = spanText(windowOf(rule) ?? 0);
  switch (rule.type) {
    case 'kill_switch':
      return 'The kill switch stops an agent';
    case 'entropy_loop':
      return 'A session goes round in circles';
    case 'semantic_loop':
      return 'A session asks the same again in other words';
    case 'hitl_required':
      return 'An agent asks for a person';
    case 'budget':
      return `${share} of a budget is spent`;
    case 'spend':
    case 'total_spend':
      return `${formatUsd(rule.threshold_usd ?? 0)} are spent in ${PERIOD_LABELS[rule.period ?? RULE_PERIOD_DEFAULT]}`;
    case 'error_rate':
      return `${share} of calls fail over ${span}`;
    case 'agent_silent':
      return `No call for ${span}`;
  }
}
