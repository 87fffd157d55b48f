import { describe, expect, it } from 'vitest';
import type { NodeState, SessionView } from '#contracts';
import { MINUTE_MS } from '#kernel';
import { fallsSilent } from './falls-silent.js';

const isIdleAfter = (state: NodeState, minutes: number) =>
  fallsSilent({ state, last_seen_ms: 5 } as SessionView, 5 + minutes * MINUTE_MS);

describe('a session without a step', () => {
  it('is idle after a minute, and one that loops or repeats itself after ten', () => {
    expect([0.99, 1].map((minutes) => isIdleAfter('active', minutes))).toEqual([false, true]);
    for (const state of ['alert_entropy', 'blocked'] as const)
      expect([9.99, 10].map((minutes) => isIdleAfter(state, minutes))).toEqual([false, true]);
  });

  it('stays idle, or ended', () => {
    expect(isIdleAfter('idle', 60)).toBe(false);
    expect(isIdleAfter('dead', 60)).toBe(false);
  });
});
