import { describe, expect, it } from 'vitest';
import { KILL_SWITCH_DEFAULTS, killSwitchSettingsSchema } from '#contracts';
import { applyKillSwitchPatch, presetOf } from './index.js';

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
  it('changes what the patch names, and nothing else', () => {
    const before = Object.freeze({ ...KILL_SWITCH_DEFAULTS });
    expect(applyKillSwitchPatch(before, { enabled: false })).toEqual({ ...before, enabled: false });
    expect(applyKillSwitchPatch(before, { scope: 'agent', threshold: undefined })).toEqual({
      ...before,
      scope: 'agent',
    });
    expect(applyKillSwitchPatch(before, {})).toEqual(before);
  });

  it('takes a preset, over which a named field has the last word', () => {
    const settings = applyKillSwitchPatch(KILL_SWITCH_DEFAULTS, { preset: 'tolerant', threshold: 30 });
    expect(settings).toEqual({ ...KILL_SWITCH_DEFAULTS, window_size: 50, threshold: 30 });
    expect(killSwitchSettingsSchema.parse(settings)).toEqual(settings);
    expect(presetOf(applyKillSwitchPatch(settings, { preset: 'strict' }))).toBe('strict');
  });
});
