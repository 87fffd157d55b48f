import { describe, expect, it } from 'vitest';
import { ObservatoryError } from '#contracts';
import { FakeClock } from '#testing';
import { Readiness } from './readiness.js';

function setUp(probe: () => Promise<void>, isDraining = false, areUsedUp = false) {
  const clock = new FakeClock();
  let count = 0;
  const store = {
    probe: () => {
      count += 1;
      return probe();
    },
  };
  const readiness = new Readiness({
    store,
    drain: { isDraining },
    descriptors: { areUsedUp: () => areUsedUp },
    clock,
  });
  return { readiness, clock, probeCount: () => count };
}

describe('readiness', () => {
  it('has no reason against it while the store writes', async () => {
    expect(await setUp(async () => {}).readiness.reasons()).toEqual([]);
  });

  it('names the reason in public words only', async () => {
    const full = setUp(() => Promise.reject(new ObservatoryError('store_full', 'disk /srv/data')));
    expect(await full.readiness.reasons()).toEqual(['store: store_full']);
    const broken = setUp(() => Promise.reject(new Error('EIO /srv/data/observatory.db')));
    expect(await broken.readiness.reasons()).toEqual(['store: cannot write']);
  });

  it('ends with the drain', async () => {
    expect(await setUp(async () => {}, true).readiness.reasons()).toEqual(['draining']);
  });

  it('asks the store at most once a second, however many ask', async () => {
    const { readiness, clock, probeCount } = setUp(async () => {});
    await Promise.all([readiness.reasons(), readiness.reasons(), readiness.reasons()]);
    expect(probeCount()).toBe(1);
    clock.advance(1_000);
    await readiness.reasons();
    expect(probeCount()).toBe(2);
    clock.set(clock.nowMs() - 3_600_000);
    clock.advance(1_000);
    await readiness.reasons();
    expect(probeCount()).toBe(3);
  });

  it('tells that nobody else can connect, who are then sent elsewhere', async () => {
    expect(await setUp(async () => {}, false, true).readiness.reasons()).toEqual([
      'no file descriptors left',
    ]);
  });
});
