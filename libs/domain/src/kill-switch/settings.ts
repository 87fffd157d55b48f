/** The kill switch's settings as an operator changes them. */
import {
  KILL_SWITCH_PRESETS,
  type KillSwitchPatch,
  type KillSwitchPreset,
  type KillSwitchSettings,
} from '#contracts';

/** Name of the preset whose window and threshold these are; null for values of one's own. */
export function presetOf(
  settings: Pick<KillSwitchSettings, 'window_size' | 'threshold'>,
): KillSwitchPreset | null {
  for (const [name, preset] of Object.entries(KILL_SWITCH_PRESETS)) {
    const isSame = preset.window_size === settings.window_size && preset.threshold === settings.threshold;
    if (isSame) return name as KillSwitchPreset;
  }
  return null;
}

/** A preset comes first: a field that the patch names as well has the last word. */
export function applyKillSwitchPatch(
  settings: Readonly<KillSwitchSettings>,
  { preset, ...fields }: KillSwitchPatch,
): KillSwitchSettings {
  const given = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
  return { ...settings, ...(preset === undefined ? {} : KILL_SWITCH_PRESETS[preset]), ...given };
}
