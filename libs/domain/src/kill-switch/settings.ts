/** The kill switch's settings as an operator changes them. */
import {
  type AgentKillSwitch,
  KILL_SWITCH_DEFAULTS,
  KILL_SWITCH_PRESETS,
  type KillSwitchPatch,
  type KillSwitchPreset,
  type KillSwitchSettings,
} from '#contracts';

/** Of an agent whose kill switch nobody has touched. */
export const DEFAULT_KILL_SWITCH: Readonly<AgentKillSwitch> = {
  ...KILL_SWITCH_DEFAULTS,
  updated_at_ms: null,
  updated_by: null,
};

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
  updated_by: string,
  updated_at_ms: number,
): AgentKillSwitch {
  const given = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
  const fromPreset = preset === undefined ? {} : KILL_SWITCH_PRESETS[preset];
  return { ...settings, ...fromPreset, ...given, updated_at_ms, updated_by };
}
