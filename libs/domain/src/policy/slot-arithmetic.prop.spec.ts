import fc from 'fast-check';
import { expect, it } from 'vitest';
import {
  bucketStart,
  type Counted,
  emptyInMs,
  reachMsOf,
  SLIDING_WINDOW_MS_MAX,
  SLOTS_PER_WINDOW,
  slidingLifeMs,
  slotMsOf,
  waitMs,
} from './slot-arithmetic.js';

const NOW_MS = Date.UTC(2026, 0, 31, 12, 34, 56, 789);
const MOST = 1_000_000_000_000;

const amount = fc.oneof(fc.integer({ min: 1, max: 20 }), fc.integer({ min: 1, max: MOST }));
const windowMs = fc.oneof(
  fc.constantFrom(1, 60_000, 3_600_000, SLIDING_WINDOW_MS_MAX),
  fc.integer({ min: 1, max: 200 }),
);

const situation = fc
  .record({
    windowMs,
    taken: fc.array(fc.tuple(fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), fc.nat(MOST))),
    limit: amount,
    amount: fc.oneof(fc.constant(0), amount),
  })
  .map(({ windowMs: length, taken, limit, amount: asked }) => {
    const bySlot = new Map<number, number>();
    for (const [ago, one] of taken) {
      const startMs = bucketStart(NOW_MS - Math.floor(ago * length), slotMsOf(length));
      if (one > 0) bySlot.set(startMs, (bySlot.get(startMs) ?? 0) + one);
    }
    const slots = [...bySlot].sort(([one], [other]) => one - other);
    const used = slots.reduce((sum, [, one]) => sum + one, 0);
    const counted: Counted = { used, slots: slots.flat() };
    return { counted, amount: asked, window: { kind: 'sliding' as const, windowMs: length, limit } };
  });

/** What counts some time later, if nothing is taken. */
function usedLater({ slots }: Counted, length: number, nowMs: number): number {
  const oldestMs = bucketStart(nowMs, slotMsOf(length)) - reachMsOf(length);
  let used = 0;
  for (let at = 0; at < slots.length; at += 2)
    if ((slots[at] as number) >= oldestMs) used += slots[at + 1] as number;
  return used;
}

it('counts what was taken for a window at least, and for less than two slots more', () => {
  fc.assert(
    fc.property(windowMs, fc.nat(SLIDING_WINDOW_MS_MAX), (length, agoMs) => {
      const atMs = NOW_MS - agoMs;
      const leavesMs = bucketStart(atMs, slotMsOf(length)) + slidingLifeMs(length);
      expect(leavesMs - atMs).toBeGreaterThan(length);
      expect(leavesMs - atMs).toBeLessThan(length + 2 * slotMsOf(length));
      // A minute and an hour are whole slots.
      if (length % SLOTS_PER_WINDOW === 0)
        expect(leavesMs - atMs).toBeLessThanOrEqual(length + slotMsOf(length));
      expect(slidingLifeMs(length) / slotMsOf(length)).toBeLessThanOrEqual(SLOTS_PER_WINDOW + 1);
    }),
  );
});

it('waits exactly until it fits: not a millisecond less, not one more', () => {
  fc.assert(
    fc.property(situation, ({ counted, window, amount: asked }) => {
      const wait = waitMs(counted, window, asked, NOW_MS);
      const fitsAfter = (ms: number): boolean =>
        usedLater(counted, window.windowMs, NOW_MS + ms) + asked <= window.limit;
      if (wait === null) {
        expect(asked).toBeGreaterThan(window.limit);
        return;
      }
      expect(wait).toBeLessThanOrEqual(slidingLifeMs(window.windowMs));
      expect(fitsAfter(wait)).toBe(true);
      if (wait > 0) expect(fitsAfter(wait - 1)).toBe(false);
    }),
    { numRuns: 1_000 },
  );
});

it('is empty when it says so, and not before', () => {
  fc.assert(
    fc.property(situation, ({ counted, window }) => {
      const emptyMs = emptyInMs(counted, window, NOW_MS);
      expect(usedLater(counted, window.windowMs, NOW_MS + emptyMs)).toBe(0);
      if (emptyMs > 0) expect(usedLater(counted, window.windowMs, NOW_MS + emptyMs - 1)).toBeGreaterThan(0);
    }),
  );
});
