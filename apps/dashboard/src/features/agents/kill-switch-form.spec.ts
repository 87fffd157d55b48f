import { describe, expect, it } from 'vitest';
import { KILL_SWITCH_DEFAULTS, killSwitchPatchSchema } from '#contracts';
import { firesAtRequest, presetEdits, presetOf, toKillSwitchPatch } from './kill-switch-form';

describe('the form of the kill switch', () => {
  it('knows a preset by its values', () => {
    expect(presetOf(10, 5)).toBe('strict');
    expect(presetOf(20, 10)).toBe('default');
    expect(presetOf(20, 11)).toBeNull();
  });

  it('sends only what differs', () => {
    const { patch } = toKillSwitchPatch(
      { ...presetEdits('tolerant'), scope: 'session' },
      KILL_SWITCH_DEFAULTS,
    );
    expect(patch).toEqual({ window_size: 50, threshold: 20 });
    expect(killSwitchPatchSchema.safeParse(patch).success).toBe(true);
    expect(toKillSwitchPatch(presetEdits('default'), KILL_SWITCH_DEFAULTS).patch).toEqual({});
  });

  it('names what is no number', () => {
    const { patch, errors } = toKillSwitchPatch({ windowSize: '7.5', threshold: '' }, KILL_SWITCH_DEFAULTS);
    expect(patch).toEqual({});
    expect(errors).toEqual({ window_size: 'Enter a whole number.', threshold: 'Enter a number.' });
  });

  it('stops an agent that only repeats itself at the request the presets promise', () => {
    expect(firesAtRequest({ window_size: 20, threshold: 10 })).toBe(6);
    expect(firesAtRequest({ window_size: 10, threshold: 5 })).toBe(4);
    expect(firesAtRequest({ window_size: 50, threshold: 20 })).toBe(9);
    expect(firesAtRequest({ window_size: 5, threshold: 40 })).toBeNull();
  });
});
