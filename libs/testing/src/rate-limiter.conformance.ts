/**
 * What every RateLimiter must do, as one suite over any implementation. Time is the suite's: a limiter whose store has
 * a clock of its own lets tests put theirs in its place. Imported by its own path and not from the index, since it
 * needs vitest.
 */
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { BucketChange, LimitWindow, RateLimiter } from '#contracts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '#kernel';
import { lookAt } from './look-at.js';
import { checkLimiterModel } from './rate-limiter.model.js';

/** An empty limiter at the first millisecond of an hour. */
export interface LimiterPlace {
  limiter: RateLimiter;
  /** Moves its clock. */
  advance(ms: number): void;
  nowMs(): number;
  close(): Promise<void>;
}

const OWNER = 'default\0agent-1';
const SECOND_MS = 1_000;
/** The longest that what was taken counts in a minute: until its second is a minute old. */
const LONGEST_MS = MINUTE_MS + SECOND_MS;

/** Of the model. */
const RUNS = 60;

const minute = (limit: number, amount = 1, name = 'requests'): LimitWindow => ({
  key: `${OWNER}\0${name}`,
  kind: 'sliding',
  windowMs: MINUTE_MS,
  limit,
  amount,
});

export function rateLimiterConformance(name: string, make: () => Promise<LimiterPlace>): void {
  describe(`RateLimiter: ${name}`, () => {
    let place: LimiterPlace;
    let limiter: RateLimiter;

    beforeEach(async () => {
      place = await make();
      limiter = place.limiter;
    });
    afterEach(() => place.close());

    const day = (limit: number, amount: number, startMs = dayStart()): LimitWindow => ({
      key: `${OWNER}\0day`,
      kind: 'calendar',
      windowMs: DAY_MS,
      startMs,
      limit,
      amount,
    });
    const dayStart = (): number => place.nowMs() - (place.nowMs() % DAY_MS);
    const usedOf = async (window: LimitWindow): Promise<number | undefined> =>
      (await lookAt(limiter, [window]))[0]?.used;
    const changeOf = ({ limit: _limit, ...rest }: LimitWindow, amount: number): BucketChange => ({
      ...rest,
      amount,
    });

    describe('a take', () => {
      it('allows up to the limit and refuses the next, saying how much is used', async () => {
        for (const used of [1, 2, 3]) {
          const decision = await limiter.take([minute(3)]);
          expect(decision).toMatchObject({ allowed: true, refusedBy: null, retryAfterMs: 0 });
          expect(decision.windows).toEqual([
            { key: minute(3).key, limit: 3, used, resetMs: used < 3 ? 0 : expect.any(Number) },
          ]);
        }
        const refused = await limiter.take([minute(3)]);
        expect(refused).toMatchObject({ allowed: false, refusedBy: 0, windows: [{ used: 3 }] });
        expect(await usedOf(minute(3))).toBe(3);
      });

      it("tells the limiter's time", async () => {
        place.advance(1_234);
        expect((await limiter.take([minute(3)])).atMs).toBe(place.nowMs());
      });

      it('takes from all windows or from none', async () => {
        const small = minute(1, 1, 'small');
        expect((await limiter.take([minute(10), small, day(10, 5)])).allowed).toBe(true);
        const refused = await limiter.take([minute(10), small, day(10, 5)]);
        expect(refused).toMatchObject({
          allowed: false,
          refusedBy: 1,
          windows: [{ used: 1 }, { used: 1 }, { used: 5 }],
        });
        expect(await lookAt(limiter, [minute(10), small, day(10, 5)])).toMatchObject([
          { used: 1 },
          { used: 1 },
          { used: 5 },
        ]);
      });

      it('answers for each window in the order asked, and allows when asked for none', async () => {
        const windows = [minute(5, 2, 'b'), minute(7, 3, 'a'), day(9, 4)];
        const decision = await limiter.take(windows);
        expect(decision.windows.map(({ key, limit, used }) => [key, limit, used])).toEqual(
          windows.map(({ key, limit, amount }) => [key, limit, amount]),
        );
        expect(await limiter.take([])).toMatchObject({ allowed: true, windows: [], refusedBy: null });
      });

      it('counts windows of one key together within one take', async () => {
        expect((await limiter.take([minute(3, 2), minute(3, 2)])).allowed).toBe(false);
        expect(await usedOf(minute(3))).toBe(0);
        expect((await limiter.take([minute(4, 2), minute(4, 2)])).allowed).toBe(true);
        expect(await usedOf(minute(4))).toBe(4);
      });

      it('names the window that refuses longest when several do', async () => {
        await limiter.take([minute(1), day(1, 1)]);
        expect((await limiter.take([minute(1), day(1, 1)])).refusedBy).toBe(1);
        const never = await limiter.take([minute(1), day(1, 1), minute(1, 2, 'other')]);
        expect(never).toMatchObject({ refusedBy: 2, retryAfterMs: null });
      });

      it('never allows more than the limit at once, and says so', async () => {
        const decision = await limiter.take([minute(5, 6)]);
        expect(decision).toMatchObject({
          allowed: false,
          retryAfterMs: null,
          windows: [{ used: 0, resetMs: 0 }],
        });
      });

      it('allows nothing more under a limit that was lowered below what is used, but a take of nothing at it', async () => {
        await limiter.take([minute(10, 6)]);
        expect((await limiter.take([minute(5, 0)])).allowed).toBe(false);
        expect((await limiter.take([minute(6, 0)])).allowed).toBe(true);
        expect((await limiter.take([minute(6, 1)])).allowed).toBe(false);
      });

      it('keeps keys apart', async () => {
        await limiter.take([minute(1)]);
        for (const key of ['default\0agent-2\0requests', 'other\0agent-1\0requests', 'a{b}c:%\0d\0requests'])
          expect((await limiter.take([{ ...minute(1), key }])).allowed).toBe(true);
      });

      it('rejects amounts that are no whole numbers, and counts nothing', async () => {
        for (const amount of [0.5, -1, Number.NaN, 2 ** 53])
          await expect(limiter.take([minute(5), minute(5, amount, 'other')])).rejects.toThrow(RangeError);
        await expect(limiter.take([{ ...minute(5), windowMs: 2 * DAY_MS }])).rejects.toThrow(RangeError);
        expect(await usedOf(minute(5))).toBe(0);
      });

      it('counts money of a million dollars to the micro-dollar', async () => {
        const hour = (amount: number): LimitWindow => ({
          key: `${OWNER}\0hour`,
          kind: 'sliding',
          windowMs: HOUR_MS,
          limit: 1_000_000_000_000,
          amount,
        });
        await limiter.take([hour(999_999_999_999)]);
        expect((await limiter.take([hour(2)])).allowed).toBe(false);
        expect((await limiter.take([hour(1)])).allowed).toBe(true);
        place.advance(HOUR_MS);
        await limiter.take([hour(0)]);
        expect(await usedOf(hour(0))).toBe(1_000_000_000_000);
        place.advance(MINUTE_MS);
        expect(await usedOf(hour(0))).toBe(0);
      });

      it('lets exactly 100 of 200 at once through a limit of 100', async () => {
        const decisions = await Promise.all(
          Array.from({ length: 200 }, () => limiter.take([minute(100), day(1_000, 7)])),
        );
        expect(decisions.filter(({ allowed }) => allowed)).toHaveLength(100);
        expect(await lookAt(limiter, [minute(100), day(1_000, 0)])).toMatchObject([
          { used: 100 },
          { used: 700 },
        ]);
      });
    });

    describe('a sliding window', () => {
      it('counts what was taken, whole, until its second is a minute old', async () => {
        place.advance(300);
        await limiter.take([minute(10, 6)]);
        place.advance(699);
        await limiter.take([minute(10, 1)]);
        place.advance(1);
        await limiter.take([minute(10, 3)]);
        place.advance(MINUTE_MS - 1);
        expect(await usedOf(minute(10))).toBe(10);
        place.advance(1);
        expect(await usedOf(minute(10))).toBe(3);
        place.advance(SECOND_MS - 1);
        expect(await usedOf(minute(10))).toBe(3);
        place.advance(1);
        expect(await usedOf(minute(10))).toBe(0);
      });

      it.each([1, 2, 3, 10, 60, 61, 200])(
        'never refuses who keeps to the pace of a limit of %i, and a little less',
        async (limit) => {
          place.advance(777);
          for (let call = 0; call < 3 * limit + 5; call += 1) {
            expect((await limiter.take([minute(limit)])).allowed).toBe(true);
            place.advance(Math.ceil(LONGEST_MS / limit));
          }
        },
      );

      it('never refuses who spends a budget of an hour evenly', async () => {
        const hour: LimitWindow = { ...minute(1_000, 50, 'hour'), windowMs: HOUR_MS };
        for (let call = 0; call < 70; call += 1) {
          expect((await limiter.take([hour])).allowed).toBe(true);
          place.advance((HOUR_MS + MINUTE_MS) / 20);
        }
      });

      it('has no more than its limit in any minute, lets through who waits as told, and counts what calls really used', async () => {
        const call = fc.record({
          pauseMs: fc.oneof(fc.nat(3_000), fc.nat(30_000), fc.constantFrom(0, 1, 999, 1_000, MINUTE_MS)),
          estimate: fc.integer({ min: 1, max: 10 }),
          /** Of the estimate. */
          used: fc.constantFrom(0, 0.5, 1),
          settledAfter: fc.nat(3),
        });
        const round = fc.record({
          limit: fc.integer({ min: 10, max: 30 }),
          calls: fc.array(call, { maxLength: 25, size: 'max' }),
        });
        let rounds = 0;
        await fc.assert(
          fc.asyncProperty(round, async ({ limit, calls }) => {
            rounds += 1;
            const name = `round-${rounds}`;
            const taken: { atMs: number; amount: number; real: number; settleIn: number }[] = [];
            const since = (ms: number): number =>
              taken.reduce((sum, { atMs, amount }) => (atMs > place.nowMs() - ms ? sum + amount : sum), 0);
            for (const { pauseMs, estimate, used, settledAfter } of calls) {
              place.advance(pauseMs);
              const window = minute(limit, estimate, name);
              let decision = await limiter.take([window]);
              if (!decision.allowed) {
                expect(decision.retryAfterMs).toBeGreaterThan(0);
                expect(decision.retryAfterMs).toBeLessThanOrEqual(LONGEST_MS);
                expect(decision.windows[0]?.resetMs).toBeLessThanOrEqual(LONGEST_MS);
                place.advance(decision.retryAfterMs as number);
                decision = await limiter.take([window]);
              }
              expect(decision.allowed).toBe(true);
              const real = Math.round(estimate * used);
              taken.push({ atMs: place.nowMs(), amount: estimate, real, settleIn: settledAfter });
              expect(since(MINUTE_MS)).toBeLessThanOrEqual(limit);
              expect(decision.windows[0]?.used).toBeGreaterThanOrEqual(since(MINUTE_MS));
              expect(decision.windows[0]?.used).toBeLessThanOrEqual(since(LONGEST_MS));
              for (const one of taken) {
                one.settleIn -= 1;
                if (one.settleIn !== 0) continue;
                await limiter.correct([{ ...changeOf(window, one.real - one.amount), takenAtMs: one.atMs }]);
                one.amount = one.real;
              }
            }
            place.advance(LONGEST_MS);
            expect(await usedOf(minute(limit, 0, name))).toBe(0);
          }),
          { numRuns: 20 },
        );
      });

      it('forgets after a pause of a window and a slot, whatever was used', async () => {
        await limiter.take([minute(10, 10)]);
        place.advance(LONGEST_MS);
        expect((await limiter.take([minute(10, 10)])).windows[0]?.used).toBe(10);
      });

      it.each([1, 2, 7, 8, 10])(
        'says to the millisecond when a refused take of %i would be allowed',
        async (amount) => {
          await limiter.take([minute(10, 7)]);
          place.advance(20_300);
          await limiter.take([minute(10, 3)]);
          place.advance(20_000);
          const { allowed, retryAfterMs } = await limiter.take([minute(10, amount)]);
          expect(allowed).toBe(false);
          const waitMs = retryAfterMs as number;
          expect(waitMs).toBeGreaterThan(1);
          place.advance(waitMs - 1);
          expect(await limiter.take([minute(10, amount)])).toMatchObject({ allowed: false, retryAfterMs: 1 });
          place.advance(1);
          expect((await limiter.take([minute(10, amount)])).allowed).toBe(true);
        },
      );

      it('resets when there is room for one; when it is empty, if it was refused for more', async () => {
        await limiter.take([minute(2, 2)]);
        place.advance(10_500);
        expect(await lookAt(limiter, [minute(2)])).toMatchObject([{ used: 2, resetMs: LONGEST_MS - 10_500 }]);
        await limiter.take([minute(3)]);
        expect(await lookAt(limiter, [minute(3)])).toMatchObject([{ used: 3, resetMs: LONGEST_MS - 10_500 }]);
        const refused = await limiter.take([minute(4, 2)]);
        expect(refused).toMatchObject({
          allowed: false,
          retryAfterMs: LONGEST_MS - 10_500,
          windows: [{ used: 3, resetMs: LONGEST_MS - 500 }],
        });
      });

      it('counts on when the clock steps back', async () => {
        place.advance(MINUTE_MS);
        await limiter.take([minute(2)]);
        place.advance(-30_000);
        await limiter.take([minute(2)]);
        expect((await limiter.take([minute(2)])).allowed).toBe(false);
      });

      it('has nothing of a refused take of two windows of one key, also where the clock stepped back before it', async () => {
        place.advance(MINUTE_MS);
        await limiter.take([minute(1)]);
        place.advance(-30_000);
        expect((await limiter.take([minute(1, 0), minute(3, 2), minute(3, 2)])).allowed).toBe(false);
        expect(await usedOf(minute(10))).toBe(1);
      });

      it('goes on with a clock that was an hour ahead, and is not full until it gets there again', async () => {
        place.advance(HOUR_MS);
        await limiter.take([minute(2)]);
        place.advance(-HOUR_MS);
        expect((await limiter.take([minute(2)])).allowed).toBe(true);
        expect((await limiter.take([minute(2)])).allowed).toBe(false);
        place.advance(2 * MINUTE_MS);
        expect((await limiter.take([minute(2)])).allowed).toBe(true);
      });

      it('is as full as it was when a clock that was set forward is set back, whenever each was taken', async () => {
        place.advance(DAY_MS);
        await limiter.take([minute(10, 6)]);
        place.advance(10 * SECOND_MS);
        await limiter.take([minute(10, 4)]);
        place.advance(-DAY_MS);
        expect((await limiter.take([minute(10, 1)])).allowed).toBe(false);
        expect(await usedOf(minute(10))).toBe(10);
      });
    });

    describe('a calendar window', () => {
      it('starts at zero with each start, and is full until its end', async () => {
        expect((await limiter.take([day(10, 10)])).windows[0]).toMatchObject({
          used: 10,
          resetMs: DAY_MS / 2,
        });
        const refused = await limiter.take([day(10, 1)]);
        expect(refused).toMatchObject({ allowed: false, retryAfterMs: DAY_MS / 2 });
        place.advance((refused.retryAfterMs as number) - 1);
        expect((await limiter.take([day(10, 1)])).retryAfterMs).toBe(1);
        place.advance(1);
        expect((await limiter.take([day(10, 10)])).allowed).toBe(true);
      });

      it('is as full as it was when a clock that was set forward is set back', async () => {
        await limiter.take([day(10, 10)]);
        place.advance(DAY_MS);
        expect((await limiter.take([day(10, 3)])).allowed).toBe(true);
        place.advance(-DAY_MS);
        expect(await usedOf(day(10, 0))).toBeGreaterThanOrEqual(10);
        expect((await limiter.take([day(10, 1)])).allowed).toBe(false);
      });
    });

    describe('a correction', () => {
      it('adds and gives back, never below zero', async () => {
        await limiter.take([minute(10, 5), day(100, 50)]);
        await limiter.correct([changeOf(minute(0), 3), changeOf(day(0, 0), -20)]);
        expect(await lookAt(limiter, [minute(10), day(100, 0)])).toMatchObject([{ used: 8 }, { used: 30 }]);
        await limiter.correct([changeOf(minute(0), -100), changeOf(day(0, 0), -100)]);
        expect(await lookAt(limiter, [minute(10), day(100, 0)])).toMatchObject([{ used: 0 }, { used: 0 }]);
        await limiter.correct([]);
      });

      it('may lead above the limit: the money is spent', async () => {
        await limiter.take([day(10, 10)]);
        await limiter.correct([changeOf(day(0, 0), 5)]);
        expect(await usedOf(day(10, 0))).toBe(15);
      });

      it('goes to the second it was taken in, as long as that counts', async () => {
        const { atMs } = await limiter.take([minute(10, 10)]);
        place.advance(MINUTE_MS);
        await limiter.take([minute(100, 1)]);
        await limiter.correct([{ ...changeOf(minute(0), -4), takenAtMs: atMs }]);
        expect(await usedOf(minute(10))).toBe(7);
        await limiter.correct([{ ...changeOf(minute(0), 3), takenAtMs: atMs + 30_000 }]);
        await limiter.correct([{ ...changeOf(minute(0), -3), takenAtMs: atMs + 40_000 }]);
        expect(await usedOf(minute(10))).toBe(10);
        place.advance(SECOND_MS);
        expect(await usedOf(minute(10))).toBe(4);
        await limiter.correct([{ ...changeOf(minute(0), -4), takenAtMs: atMs }]);
        await limiter.correct([{ ...changeOf(minute(0), 50), takenAtMs: atMs }]);
        expect(await usedOf(minute(10))).toBe(4);
        await limiter.correct([{ ...changeOf(minute(0), -9), takenAtMs: atMs + 30_000 }]);
        expect(await usedOf(minute(10))).toBe(1);
      });

      it('gives back what was taken before and after a clock stepped back', async () => {
        place.advance(30_000);
        const first = await limiter.take([minute(10, 5)]);
        place.advance(-2);
        const second = await limiter.take([minute(10, 4)]);
        expect(await usedOf(minute(10))).toBe(9);
        await limiter.correct([{ ...changeOf(minute(0), -5), takenAtMs: first.atMs }]);
        await limiter.correct([{ ...changeOf(minute(0), -4), takenAtMs: second.atMs }]);
        expect(await usedOf(minute(10))).toBe(0);
      });

      it('counts, as a seed does, when it is the first to come after a clock was set back by more than the window', async () => {
        await limiter.take([minute(10, 1), minute(10, 1, 'tokens')]);
        place.advance(-2 * HOUR_MS);
        await limiter.correct([changeOf(minute(0), 4)]);
        await limiter.seed([changeOf(minute(0, 0, 'tokens'), 6)], place.nowMs());
        expect(await lookAt(limiter, [minute(10), minute(10, 0, 'tokens')])).toMatchObject([
          { used: 5 },
          { used: 6 },
        ]);
      });

      it('goes to the day it was taken from when a new one has begun', async () => {
        const yesterday = dayStart();
        await limiter.take([day(10, 10)]);
        place.advance(DAY_MS / 2 + 1_000);
        await limiter.take([day(10, 3)]);
        await limiter.correct([changeOf(day(0, 0, yesterday), -10)]);
        await limiter.correct([changeOf(day(0, 0, yesterday), 5)]);
        expect(await usedOf(day(10, 0))).toBe(3);
      });

      it('gives back what a clock took that was a day ahead, once it was set back', async () => {
        place.advance(DAY_MS);
        const tomorrow = dayStart();
        await limiter.take([day(20, 10)]);
        place.advance(-DAY_MS);
        await limiter.take([day(20, 3)]);
        await limiter.correct([changeOf(day(0, 0, tomorrow), -10)]);
        expect(await usedOf(day(20, 0))).toBe(3);
      });

      it('is no take: the next one is still the first as far as is known, and a take of nothing is none', async () => {
        await limiter.correct([changeOf(day(0, 0), 20)]);
        await limiter.correct([changeOf(day(0, 0), 5)]);
        expect((await limiter.take([day(100, 101)])).allowed).toBe(false);
        expect((await limiter.take([day(100, 0)])).begun).toEqual([true]);
        expect((await limiter.take([day(100, 10)])).begun).toEqual([true]);
        await limiter.correct([changeOf(day(0, 0), 5)]);
        expect(await limiter.take([day(100, 10)])).toMatchObject({ begun: [false], windows: [{ used: 50 }] });
      });

      it('creates a counter only by adding', async () => {
        await limiter.correct([changeOf(minute(0), -5), changeOf(day(0, 0), 4)]);
        expect(await lookAt(limiter, [minute(10), day(10, 0)])).toMatchObject([{ used: 0 }, { used: 4 }]);
      });
    });

    describe('a seed', () => {
      it('raises buckets to what is known to be spent, once however often it is repeated', async () => {
        const hour: LimitWindow = { ...minute(1_000, 0, 'hour'), windowMs: HOUR_MS };
        const seeds = [
          { ...changeOf(hour, 400), takenAtMs: place.nowMs() - HOUR_MS },
          { ...changeOf(hour, 100), takenAtMs: place.nowMs() },
          changeOf(day(0, 0), 700),
        ];
        await limiter.seed(seeds, place.nowMs());
        await limiter.seed(seeds, place.nowMs());
        place.advance(HOUR_MS / 4);
        // Of 400 in 60 minutes the latest 40 have 7 each.
        const looks = [{ used: 40 * 7 + 5 * 6 + 100 }, { used: 700 }];
        expect(await lookAt(limiter, [hour, day(1_000, 0)])).toMatchObject(looks);
        await limiter.seed(seeds.slice(0, 1), place.nowMs());
        expect(await lookAt(limiter, [hour, day(1_000, 0)])).toMatchObject(looks);
        expect((await limiter.take([day(1_000, 301)])).allowed).toBe(false);
      });

      it('leaves nothing for the first take to tell', async () => {
        await limiter.correct([changeOf(day(0, 0), 20)]);
        await limiter.seed([changeOf(day(0, 0), 700)], place.nowMs());
        expect((await limiter.take([day(1_000, 10)])).begun).toEqual([false]);
      });

      it('of the day before leaves the first take of a day the first', async () => {
        const yesterday = dayStart();
        place.advance(DAY_MS);
        await limiter.correct([changeOf(day(0, 0), 20)]);
        await limiter.seed([changeOf(day(0, 0, yesterday), 700)], place.nowMs());
        expect(await limiter.take([day(1_000, 10)])).toMatchObject({
          begun: [true],
          windows: [{ used: 30 }],
        });
      });

      it.each(['had counted', 'had lost'])(
        'is given back what a call that it %s does not use, and is not raised again by that',
        async (how) => {
          if (how === 'had counted') await limiter.take([day(1_000, 50)]);
          await limiter.seed([changeOf(day(0, 0), 750)], place.nowMs());
          await limiter.correct([changeOf(day(0, 0), -20)]);
          await limiter.seed([changeOf(day(0, 0), 730)], place.nowMs());
          expect(await usedOf(day(1_000, 0))).toBe(730);
        },
      );

      it('counts nothing twice that was taken in its own millisecond, the first of a slot', async () => {
        place.advance(MINUTE_MS);
        const hour: LimitWindow = { ...minute(1_000, 25, 'hour'), windowMs: HOUR_MS };
        await limiter.take([hour]);
        await limiter.seed([{ ...changeOf(hour, 25), takenAtMs: place.nowMs() }], place.nowMs());
        expect(await usedOf(hour)).toBe(25);
      });

      it('counts nothing twice that was taken by a clock that was set back since', async () => {
        place.advance(2 * MINUTE_MS);
        const hour: LimitWindow = { ...minute(1_000, 40, 'hour'), windowMs: HOUR_MS };
        await limiter.take([hour]);
        place.advance(-90_000);
        await limiter.seed([{ ...changeOf(hour, 40), takenAtMs: place.nowMs() }], place.nowMs());
        expect(await usedOf(hour)).toBe(40);
      });

      it('never lowers what was counted meanwhile', async () => {
        await limiter.take([day(1_000, 800)]);
        await limiter.seed([changeOf(day(0, 0), 700)], place.nowMs());
        expect(await usedOf(day(1_000, 0))).toBe(800);
      });
    });

    it('counts what a reference counts that keeps every take', async () => {
      await checkLimiterModel(place, { mayGoBack: false, numRuns: RUNS });
    });

    it('counts no more and no less than it may where the clock is set back, or says so', async () => {
      await checkLimiterModel(place, { mayGoBack: true, numRuns: RUNS });
    });

    it('takes nothing where nothing is asked for, and tells of what nobody has used', async () => {
      expect(await lookAt(limiter, [minute(3), day(5, 0)])).toEqual([
        { key: minute(3).key, limit: 3, used: 0, resetMs: 0 },
        { key: day(5, 0).key, limit: 5, used: 0, resetMs: 0 },
      ]);
      expect((await limiter.take([minute(1)])).allowed).toBe(true);
    });
  });
}
