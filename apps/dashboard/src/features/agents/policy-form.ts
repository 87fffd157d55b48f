/**
 * A policy as people type it. A form holds only what was edited: an unedited field shows what is in force, so a change
 * by somebody else is seen and not undone. Pure.
 */
import {
  type AgentLimits,
  type AgentPolicy,
  type AgentPolicyPatch,
  type AllowedHours,
  CACHE_POLICIES,
  type CachePolicy,
  SEMANTIC_LOOP_POLICIES,
  type SemanticLoopPolicy,
  UNKNOWN_COST_POLICIES,
  type UnknownCostPolicy,
} from '#contracts';
import { withoutSent } from '../../api/without-sent';
import { LOOP_POLICY_TEXTS } from '../semantic-loops/loop-texts';

export interface LimitField {
  key: Exclude<keyof AgentLimits, 'allowed_hours' | 'allowed_models'>;
  label: string;
  unit: string;
  /** Whole numbers only. */
  isWhole: boolean;
}

export const LIMIT_GROUPS: readonly { title: string; help: string; fields: readonly LimitField[] }[] = [
  {
    title: 'Budgets',
    help: 'Estimated before a call, corrected by what it really used. A call that does not fit is refused. Days and months are those of UTC.',
    fields: [
      { key: 'budget_hour_usd', label: 'Per hour', unit: 'USD', isWhole: false },
      { key: 'budget_day_usd', label: 'Per day', unit: 'USD', isWhole: false },
      { key: 'budget_month_usd', label: 'Per month', unit: 'USD', isWhole: false },
    ],
  },
  {
    title: 'Rates',
    help: 'Over a sliding minute.',
    fields: [
      { key: 'requests_per_minute', label: 'Requests', unit: '/ min', isWhole: true },
      { key: 'tokens_per_minute', label: 'Tokens', unit: '/ min', isWhole: true },
    ],
  },
  {
    title: 'Caps of a session',
    help: 'A session that reaches one ends; the agent may begin another.',
    fields: [
      { key: 'session_calls_max', label: 'Calls', unit: 'calls', isWhole: true },
      { key: 'session_cost_usd_max', label: 'Cost', unit: 'USD', isWhole: false },
      { key: 'session_minutes_max', label: 'Time', unit: 'min', isWhole: true },
    ],
  },
];

const FIELDS = LIMIT_GROUPS.flatMap(({ fields }) => fields);

/** Those that are not about one session. */
export const LIMIT_GROUPS_OF_ALL = LIMIT_GROUPS.filter(
  ({ fields }) => !fields.some(({ key }) => key.startsWith('session_')),
);

/** Only what was changed; "" lifts a limit. */
export type LimitEdits = Partial<Record<LimitField['key'], string>>;

export interface PolicyEdits {
  limits: LimitEdits;
  /** Absent: as it is. */
  hours?: AllowedHours | null;
  /** As typed, "" for any; absent: as they are. */
  models?: string;
  /** Absent: as they are. */
  unknown_cost?: UnknownCostPolicy;
  semantic_loop?: SemanticLoopPolicy;
  cache?: CachePolicy;
}

/** One of several things that a guard may do. */
export interface ChoiceField {
  key: 'unknown_cost' | 'semantic_loop' | 'cache';
  label: string;
  help: string;
  values: readonly string[];
  /** By value. */
  texts: Readonly<Record<string, { label: string; text: string }>>;
}

const UNKNOWN_COST_TEXTS: Record<UnknownCostPolicy, { label: string; text: string }> = {
  pass: { label: 'Pass', text: 'Such a call passes until a budget is spent, and takes nothing from it.' },
  refuse: {
    label: 'Refuse',
    text: 'Such a call is refused: batches, fine-tuning, pictures, sound, and models without a price.',
  },
};

const CACHE_POLICY_TEXTS: Record<CachePolicy, { label: string; text: string }> = {
  on: { label: 'On', text: 'The same request, and similar questions where the cache may serve them.' },
  exact_only: {
    label: 'Exact only',
    text: 'The same request only, whatever the cache may do with similar ones.',
  },
  off: { label: 'Off', text: 'Every call goes to the upstream, and no answer is kept.' },
};

export const CHOICE_FIELDS: readonly ChoiceField[] = [
  {
    key: 'unknown_cost',
    label: 'Unknown cost',
    help: 'When nobody can tell beforehand what a call costs.',
    values: UNKNOWN_COST_POLICIES,
    texts: UNKNOWN_COST_TEXTS,
  },
  {
    key: 'semantic_loop',
    label: 'Semantic loop',
    help: 'When a session asks the same again, in other words or the same.',
    values: SEMANTIC_LOOP_POLICIES,
    texts: LOOP_POLICY_TEXTS,
  },
  {
    key: 'cache',
    label: 'Cache',
    help: 'When a call was answered before.',
    values: CACHE_POLICIES,
    texts: CACHE_POLICY_TEXTS,
  },
];

/** The one that is about what calls cost, and not about what they say. */
export const CHOICE_FIELDS_OF_ALL = CHOICE_FIELDS.filter(({ key }) => key === 'unknown_cost');

/** What of a policy this form changes; that of all agents has less of it. */
export type EditablePolicy = Partial<AgentLimits & Pick<AgentPolicy, ChoiceField['key']>>;

export const NO_EDITS: PolicyEdits = { limits: {} };

/** Those of since they were `sent`. */
export const editsSince = (edits: PolicyEdits, sent: PolicyEdits): PolicyEdits => ({
  ...withoutSent(edits, sent),
  limits: withoutSent(edits.limits, sent.limits),
});

export const limitText = (value: number | null = null): string => (value === null ? '' : String(value));

export const modelsText = (models: AgentLimits['allowed_models'] = null): string => models?.join(', ') ?? '';

/** Commas, spaces and lines stand between names; no vendor's name has one. */
function modelsIn(typed: string): AgentLimits['allowed_models'] {
  const names = [...new Set(typed.split(/[\s,]+/).filter((name) => name !== ''))];
  return names.length === 0 ? null : names;
}

/** What a switched-on window begins with. */
export const officeHours = (timeZone: string): AllowedHours => ({
  time_zone: timeZone,
  days: [1, 2, 3, 4, 5],
  from: '08:00',
  to: '18:00',
});

export interface PolicyChange {
  patch: AgentPolicyPatch;
  /** Texts that are no numbers, by field; ranges are the gateway's to judge. */
  errors: Record<string, string>;
}

/** What the edits change of the policy in force. */
export function toPolicyPatch(edits: PolicyEdits, inForce: EditablePolicy): PolicyChange {
  const patch: Record<string, unknown> = {};
  const errors: Record<string, string> = {};
  for (const { key, isWhole } of FIELDS) {
    const typed = edits.limits[key]?.trim().replaceAll(/[\s,_']/g, '');
    if (typed === undefined || typed === limitText(inForce[key])) continue;
    const value = Number(typed);
    if (typed === '') patch[key] = null;
    else if (!Number.isFinite(value)) errors[key] = 'Enter a number, or nothing for no limit.';
    else if (isWhole && !Number.isInteger(value)) errors[key] = 'Enter a whole number.';
    else if (value !== inForce[key]) patch[key] = value;
  }
  if (edits.hours !== undefined && JSON.stringify(edits.hours) !== JSON.stringify(inForce.allowed_hours)) {
    patch.allowed_hours = edits.hours;
  }
  if (edits.models !== undefined) {
    const models = modelsIn(edits.models);
    if (modelsText(models) !== modelsText(inForce.allowed_models)) patch.allowed_models = models;
  }
  for (const { key } of CHOICE_FIELDS) {
    if (edits[key] !== undefined && edits[key] !== inForce[key]) patch[key] = edits[key];
  }
  return { patch: patch as AgentPolicyPatch, errors };
}

export const DAY_NAMES = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'] as const;

/** "Mon to Fri, 08:00 to 18:00, Europe/Zurich"; says so where the window runs into the next day. */
export function describeHours(hours: AllowedHours): string {
  const days = [...hours.days].sort((a, b) => a - b);
  const first = days[0] ?? 1;
  const isRun = days.length > 2 && days.every((day, index) => day === first + index);
  const name = (day: number) => DAY_NAMES[day - 1] ?? String(day);
  const dayText =
    days.length === 7
      ? 'Every day'
      : isRun
        ? `${name(first)} to ${name(days.at(-1) ?? first)}`
        : days.map(name).join(', ');
  const overNight = hours.to <= hours.from ? ' of the next day' : '';
  const isWholeDay = hours.from === '00:00' && hours.to === '00:00';
  const timeText = isWholeDay ? 'all day' : `${hours.from} to ${hours.to}${overNight}`;
  return `${dayText}, ${timeText}, ${hours.time_zone}`;
}

/** "14:32" on the clock of that time zone; null where no such zone is known. */
export function clockIn(timeZone: string, nowMs: number): string | null {
  try {
    return new Intl.DateTimeFormat('en-GB', {
      timeZone,
      weekday: 'short',
      hour: '2-digit',
      minute: '2-digit',
    }).format(nowMs);
  } catch {
    return null;
  }
}
