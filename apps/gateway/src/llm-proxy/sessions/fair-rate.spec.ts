import { beforeEach, describe, expect, test } from 'vitest';
import { FakeClock } from '#testing';
import { FairRate } from './fair-rate.js';

let clock: FakeClock;
let rate: FairRate;
beforeEach(() => {
  clock = new FakeClock();
  rate = new FairRate({ clock, perSecondMax: 60 });
});

/** What each of them gets that asks by turns, and far more often than there is anything. */
function takenByTurns(...tenants: string[]): number[] {
  const taken = new Map(tenants.map((tenant) => [tenant, 0]));
  for (let turn = 0; turn < 100; turn += 1)
    for (const [tenant, count] of taken) if (rate.take(tenant)) taken.set(tenant, count + 1);
  return [...taken.values()];
}

describe('a fair rate', () => {
  test('gives one tenant half, and as many as are busy the same', () => {
    expect(takenByTurns('a')).toEqual([30]);
    clock.advance(1_000);
    expect(takenByTurns('a', 'b')).toEqual([20, 20]);
    clock.advance(1_000);
    expect(takenByTurns('a', 'b', 'c')).toEqual([15, 15, 15]);
  });

  test('has something left for who asks after the busy ones', () => {
    expect([takenByTurns('a'), takenByTurns('b'), takenByTurns('c')]).toEqual([[30], [15], [8]]);
  });

  test('gives all together no more than there is', () => {
    const tenants = Array.from({ length: 100 }, (_, index) => `tenant ${index}`);
    expect(takenByTurns(...tenants).reduce((sum, taken) => sum + taken)).toBe(60);
  });

  test('begins anew each second, whoever sets the clock', () => {
    takenByTurns('a');
    clock.advance(999);
    expect(rate.take('a')).toBe(false);
    clock.advance(1);
    expect(takenByTurns('a')).toEqual([30]);
    for (const ms of [-3_600_000, 7_200_000]) {
      clock.set(clock.nowMs() + ms);
      expect(rate.take('a')).toBe(false);
    }
  });
});
