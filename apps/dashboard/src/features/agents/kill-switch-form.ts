/** The kill switch's settings as people choose them: a preset, or numbers of their own. Only edits are held. Pure. */
import {
  KILL_SWITCH_PRESETS,
  type KillSwitchPatch,
  type KillSwitchPreset,
  type KillSwitchSettings,
} from '#contracts';

export type PresetChoice = KillSwitchPreset | 'custom';

export interface KillSwitchEdits {
  windowSize?: string;
  threshold?: string;
  scope?: KillSwitchSettings['scope'];
}

/** Null: no preset has these values. */
export function presetOf(windowSize: number, threshold: number): KillSwitchPreset | null {
  const names = Object.keys(KILL_SWITCH_PRESETS) as KillSwitchPreset[];
  return (
    names.find((name) => {
      const preset = KILL_SWITCH_PRESETS[name];
      return preset.window_size === windowSize && preset.threshold === threshold;
    }) ?? null
  );
}

export const presetEdits = (name: KillSwitchPreset): Pick<KillSwitchEdits, 'windowSize' | 'threshold'> => ({
  windowSize: String(KILL_SWITCH_PRESETS[name].window_size),
  threshold: String(KILL_SWITCH_PRESETS[name].threshold),
});

/** What the edits change; texts that are no numbers are named before anything is sent. */
export function toKillSwitchPatch(
  edits: KillSwitchEdits,
  inForce: KillSwitchSettings,
): { patch: KillSwitchPatch; errors: Record<string, string> } {
  const patch: Record<string, unknown> = {};
  const errors: Record<string, string> = {};
  const read = (key: 'window_size' | 'threshold', typed: string | undefined, isWhole: boolean) => {
    const text = typed?.trim();
    if (text === undefined || text === String(inForce[key])) return;
    const value = Number(text);
    if (text === '' || !Number.isFinite(value)) errors[key] = 'Enter a number.';
    else if (isWhole && !Number.isInteger(value)) errors[key] = 'Enter a whole number.';
    else if (value !== inForce[key]) patch[key] = value;
  };
  read('window_size', edits.windowSize, true);
  read('threshold', edits.threshold, false);
  if (edits.scope !== undefined && edits.scope !== inForce.scope) patch.scope = edits.scope;
  return { patch: patch as KillSwitchPatch, errors };
}

/**
 * At which equal question with equal answers the switch fires: the n-th request scores 3n - 5. Null when the window
 * forgets before the score gets there.
 */
export function firesAtRequest({
  window_size,
  threshold,
}: Pick<KillSwitchSettings, 'window_size' | 'threshold'>): number | null {
  const request = Math.floor((threshold + 5) / 3) + 1;
  return request - 1 <= window_size ? request : null;
}
