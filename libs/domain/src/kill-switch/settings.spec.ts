import { describe, expect, it } from 'vitest';
import {
  agentKillSwitchSchema,
  KILL_SWITCH_DEFAULTS,
  type KillSwitchPatch,
  type KillSwitchSettings,
} from '#contracts';
import { applyKillSwitchPatch, DEFAULT_KILL_SWITCH, presetOf } from './index.js';

describe('presetOf', () => {
  it.each([
    [10, 5, 'strict'],
    [20, 10, 'default'],
    [50, 20, 'tolerant'],
    [20, 11, null],
    [50, 10, null],
  ])('of window %d and threshold %d is %s', (window_size, threshold, preset) => {
    expect(presetOf({ window_size, threshold })).toBe(preset);
  });
});

describe('applyKillSwitchPatch', () => {
  const DATED = { updated_at_ms: 1_700, updated_by: 'ana' };
  const patched = (before: Readonly<KillSwitchSettings>, patch: KillSwitchPatch) =>
    applyKillSwitchPatch(before, patch, DATED.updated_by, DATED.updated_at_ms);

  it('changes what the patch names, and nothing else but who changed it when', () => {
    const before = Object.freeze({ ...DEFAULT_KILL_SWITCH });
    expect(patched(before, { enabled: false })).toEqual({ ...before, ...DATED, enabled: false });
    expect(patched(before, { scope: 'agent', threshold: undefined })).toEqual({
      ...before,
      ...DATED,
      scope: 'agent',
    });
    expect(patched(before, {})).toEqual({ ...before, ...DATED });
  });

  it('takes a preset, over which a named field has the last word', () => {
    const settings = patched(KILL_SWITCH_DEFAULTS, { preset: 'tolerant', threshold: 30 });
    expect(settings).toEqual({ ...KILL_SWITCH_DEFAULTS, ...DATED, window_size: 50, threshold: 30 });
    expect(agentKillSwitchSchema.parse(settings)).toEqual(settings);
    expect(presetOf(patched(settings, { preset: 'strict' }))).toBe('strict');
  });
});
