/**
 * The runtime settings as people type them, in units of their own. A form holds only what was edited: any other field shows
 * what is in force, so a change by somebody else is seen and not undone. Pure.
 */
import {
  ENTROPY_TOOL_KEYS,
  EXPIRY_ACTIONS,
  type RuntimeConfig,
  type RuntimeConfigKey,
  type RuntimeConfigPatch,
} from '#contracts';
import { inPlainWords } from '../../api/field-errors';

export interface NumberSetting {
  kind: 'number';
  key: RuntimeConfigKey;
  label: string;
  help: string;
  unit?: string;
  /** One of `unit` in the wire's own unit. */
  scale: number;
  /** What 0 means. */
  zero?: string;
}

export interface ChoiceSetting {
  kind: 'choice';
  key: RuntimeConfigKey;
  label: string;
  help: string;
  options: readonly { value: string; label: string }[];
}

export type Setting = NumberSetting | ChoiceSetting;

export interface SettingGroup {
  title: string;
  settings: readonly Setting[];
}

const TOOL_KEY_LABELS = { name: 'Tool name', 'name+input': 'Tool name and arguments' } as const;
const EXPIRY_LABELS = { resume: 'Let the session go on', terminate: 'Terminate the session' } as const;

export const SETTING_GROUPS: readonly SettingGroup[] = [
  {
    title: 'Entropy',
    settings: [
      {
        kind: 'number',
        key: 'entropy_window_size',
        label: 'Window size',
        help: 'How many of a session’s latest steps are compared. A larger window notices later and is surer.',
        unit: 'steps',
        scale: 1,
      },
      {
        kind: 'number',
        key: 'entropy_loop_threshold',
        label: 'Loop below',
        help: 'Share of different steps in the window, 0 to 1. Strictly below this, the session is looping.',
        scale: 1,
      },
      {
        kind: 'number',
        key: 'entropy_warning_threshold',
        label: 'Warning below',
        help: 'Strictly below this, and not yet looping, the session is repeating itself.',
        scale: 1,
      },
      {
        kind: 'choice',
        key: 'entropy_tool_key',
        label: 'What makes two tool calls equal',
        help: 'With the arguments included there are far fewer false alarms.',
        options: ENTROPY_TOOL_KEYS.map((value) => ({ value, label: TOOL_KEY_LABELS[value] })),
      },
    ],
  },
  {
    title: 'Human in the loop',
    settings: [
      {
        kind: 'number',
        key: 'hitl_pause_ttl_ms',
        label: 'An abandoned pause ends after',
        help: 'Counts from the pause; whoever paused may have gone home.',
        unit: 'minutes',
        scale: 60_000,
        zero: 'never',
      },
      {
        kind: 'choice',
        key: 'hitl_expiry_action',
        label: 'And then',
        help: 'What becomes of the session when its pause has run out.',
        options: EXPIRY_ACTIONS.map((value) => ({ value, label: EXPIRY_LABELS[value] })),
      },
    ],
  },
  {
    title: 'Retention',
    settings: [
      {
        kind: 'number',
        key: 'retention_days',
        label: 'Keep steps, calls, alerts and violations for',
        help: 'Older ones are deleted. The audit is never deleted.',
        unit: 'days',
        scale: 1,
        zero: 'for ever',
      },
      {
        kind: 'number',
        key: 'retention_bytes',
        label: 'Database size limit',
        help: 'At this size the oldest steps are deleted.',
        unit: 'GiB',
        scale: 1024 ** 3,
        zero: 'no limit',
      },
    ],
  },
];

const SETTINGS = SETTING_GROUPS.flatMap(({ settings }) => settings);

/** Setting -> the text typed over its value. */
export type ConfigEdits = Partial<Record<RuntimeConfigKey, string>>;

/** A value as its field shows it. */
export function toText(setting: Setting, value: RuntimeConfig[RuntimeConfigKey]): string {
  if (setting.kind === 'choice') return String(value);
  const scaled = Number(value) / setting.scale;
  return String(Math.round(scaled * 10_000) / 10_000);
}

export type FieldErrors = Partial<Record<RuntimeConfigKey, string>>;

/** What changed, ready to send; or which texts are no numbers. Ranges are the gateway's to judge. */
export function toPatch(
  edits: ConfigEdits,
  values: RuntimeConfig,
): { patch: RuntimeConfigPatch; errors: FieldErrors } {
  const patch: Record<string, unknown> = {};
  const errors: FieldErrors = {};
  for (const setting of SETTINGS) {
    const { key } = setting;
    const typed = edits[key]?.trim();
    if (typed === undefined || typed === toText(setting, values[key])) continue;
    if (setting.kind === 'choice') patch[key] = typed;
    else if (typed === '' || !Number.isFinite(Number(typed))) errors[key] = 'Enter a number.';
    else patch[key] = setting.scale === 1 ? Number(typed) : Math.round(Number(typed) * setting.scale);
  }
  return { patch: patch as RuntimeConfigPatch, errors };
}

/**
 * The gateway's refusal at the fields it names. Its detail holds one sentence per field, each led by the field's
 * name; a field without one gets the whole detail.
 */
export function fieldErrorsOf(fields: readonly string[], detail: string): FieldErrors {
  const errors: FieldErrors = {};
  for (const field of fields) {
    const setting = SETTINGS.find(({ key }) => key === field);
    if (!setting) continue;
    const own = new RegExp(`(?:^|\\. )${field}: (.+?)(?=; null puts|\\. [a-z_]+: |\\.?$)`, 's').exec(detail);
    const scale = setting.kind === 'number' ? setting.scale : 1;
    errors[setting.key] = own?.[1]
      ? `${inPlainWords(own[1], scale).replace(/^./, (first) => first.toUpperCase())}.`
      : detail;
  }
  return errors;
}
