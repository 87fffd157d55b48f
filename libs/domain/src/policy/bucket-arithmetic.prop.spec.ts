import fc from 'fast-check';
import { expect, it } from 'vitest';
import { type Buckets, emptyInMs, SLIDING_WINDOW_MS_MAX, usedAt, waitMs } from './bucket-arithmetic.js';

const NOW_MS = Date.UTC(2026, 0, 31, 12, 34, 56, 789);
const MOST = 1_000_000_000_000;

const situation = fc
  .record({
    windowMs: fc.oneof(
      fc.constantFrom(1, 60_000, 3_600_000, SLIDING_WINDOW_MS_MAX),
      fc.integer({ min: 1, max: 100 }),
    ),
    elapsed: fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
    current: fc.oneof(fc.nat(20), fc.integer({ min: 0, max: MOST })),
    previous: fc.oneof(fc.nat(20), fc.integer({ min: 0, max: MOST })),
    limit: fc.oneof(fc.integer({ min: 1, max: 20 }), fc.integer({ min: 1, max: MOST })),
    amount: fc.oneof(fc.nat(20), fc.integer({ min: 0, max: MOST })),
  })
  .map(({ windowMs, elapsed, current, previous, limit, amount }) => {
    const buckets: Buckets = { startMs: NOW_MS - Math.floor(elapsed * windowMs), current, previous };
    return { buckets, amount, window: { kind: 'sliding' as const, windowMs, limit } };
  });

/** The same in whole numbers of any size. */
function usedExactly({ startMs, current, previous }: Buckets, windowMs: number, nowMs: number): number {
  const product = BigInt(previous) * BigInt(startMs + windowMs - nowMs);
  return current + Number((product + BigInt(windowMs) - 1n) / BigInt(windowMs));
}

/** The buckets some time later, if nothing is taken. */
function later(buckets: Buckets, windowMs: number, nowMs: number): Buckets {
  const passed = Math.floor((nowMs - buckets.startMs) / windowMs);
  if (passed === 0) return buckets;
  return {
    startMs: buckets.startMs + passed * windowMs,
    current: 0,
    previous: passed === 1 ? buckets.current : 0,
  };
}

it('counts exactly what the fraction rounded up gives, for a million dollars in micro-dollars too', () => {
  fc.assert(
    fc.property(situation, ({ buckets, window }) => {
      expect(usedAt(buckets, window, NOW_MS)).toBe(usedExactly(buckets, window.windowMs, NOW_MS));
    }),
  );
});

it('waits exactly until it fits: not a millisecond less, not one more', () => {
  fc.assert(
    fc.property(situation, ({ buckets, window, amount }) => {
      const wait = waitMs(buckets, window, amount, NOW_MS);
      const fitsAfter = (ms: number): boolean =>
        usedAt(later(buckets, window.windowMs, NOW_MS + ms), window, NOW_MS + ms) + amount <= window.limit;
      if (wait === null) {
        expect(amount).toBeGreaterThan(window.limit);
        return;
      }
      expect(fitsAfter(wait)).toBe(true);
      if (wait > 0) expect(fitsAfter(wait - 1)).toBe(false);
    }),
    { numRuns: 1_000 },
  );
});

it.each([
  // In floating point, 1/49 * 49 is below 1, and the other fraction a millisecond too large.
  [49, 49, 1],
  [86_400_000, 999_999_999_989, 781_144_780_084],
])(
  'waits to the millisecond in a window of %d ms where the fraction is not exact',
  (windowMs, previous, limit) => {
    const exact = Number((BigInt(limit) * BigInt(windowMs)) / BigInt(previous));
    const buckets = { startMs: NOW_MS, current: 0, previous };
    expect(waitMs(buckets, { kind: 'sliding', windowMs, limit }, 0, NOW_MS)).toBe(windowMs - exact);
  },
);

it('is empty when it says so, and not before', () => {
  fc.assert(
    fc.property(situation, ({ buckets, window }) => {
      const emptyMs = emptyInMs(buckets, window, NOW_MS);
      const usedAfter = (ms: number): number =>
        usedAt(later(buckets, window.windowMs, NOW_MS + ms), window, NOW_MS + ms);
      expect(usedAfter(emptyMs)).toBe(0);
      if (emptyMs > 0) expect(usedAfter(emptyMs - 1)).toBeGreaterThan(0);
    }),
  );
});
