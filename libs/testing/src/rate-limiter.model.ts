/**
 * What limiters count, by a reference that keeps every take. As long as the clock goes forward it knows each number exactly; where it
 * was set back, what is used at least, unless the limiter says that it may have lost it, and at most. Imported by its own path and not
 * from the index, since it needs vitest.
 */
import fc from 'fast-check';
import { expect } from 'vitest';
import type { BucketChange, LimitDecision, LimitWindow, RateLimiter, WindowState } from '#contracts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '#kernel';
import { modelRuns } from './model-runs.js';

interface Place {
  limiter: RateLimiter;
  advance(ms: number): void;
  nowMs(): number;
}

const SLOT_COUNT = 60;
const NAMES = ['requests', 'tokens', 'hour', 'day'] as const;
type Name = (typeof NAMES)[number];
const WINDOW_MS = { requests: MINUTE_MS, tokens: MINUTE_MS, hour: HOUR_MS, day: DAY_MS };

interface Taken {
  /** Slot or bucket. A clock that was set back by more than a window may have moved it: between these. */
  fromMs: { min: number; max: number };
  amount: { min: number; max: number };
  /** Some take or other look has found that it counts no more. */
  wasSeenOver: boolean;
}

class Counter {
  readonly #windowMs: number;
  readonly #isCalendar: boolean;
  #all: Taken[] = [];
  #latestMs = Number.NEGATIVE_INFINITY;
  isUntaken = true;
  /** Corrected since a clock was set back, when it may have been another's. */
  #mayLackOfOthers = 0;
  isExact = true;

  constructor(name: Name) {
    this.#windowMs = WINDOW_MS[name];
    this.#isCalendar = name === 'day';
  }

  get #slotMs(): number {
    return this.#isCalendar ? this.#windowMs : this.#windowMs / SLOT_COUNT;
  }

  slotOf(atMs: number): number {
    return atMs - (atMs % this.#slotMs);
  }

  /** Somebody looks, or takes. */
  see(nowMs: number): void {
    const slotMs = this.slotOf(nowMs);
    const awaitedMs = this.#isCalendar ? 0 : this.#windowMs;
    if (this.#latestMs > slotMs) this.isExact = false;
    if (this.#latestMs - slotMs > awaitedMs) {
      this.isUntaken = true;
      this.#latestMs = slotMs;
      for (const { fromMs } of this.#isCalendar ? [] : this.#all) {
        const isSure = fromMs.min - slotMs > awaitedMs;
        fromMs.min = Math.min(fromMs.min, slotMs);
        fromMs.max = isSure ? slotMs : Math.max(fromMs.max, slotMs);
      }
    }
    this.#latestMs = Math.max(this.#latestMs, slotMs);
    for (const one of this.#all) one.wasSeenOver ||= this.#isNoLonger(one.fromMs.min, slotMs);
    if (this.used(nowMs).max > 0) return;
    this.isUntaken = true;
    this.#mayLackOfOthers = 0;
    if (!this.#isCalendar && this.#latestMs === slotMs) this.isExact = true;
  }

  /** Whoever has counted to there may have forgotten what is over by then, looked at or not. */
  setBack(nowMs: number): void {
    this.isExact = false;
    for (const one of this.#all) one.wasSeenOver ||= this.#isOver(one.fromMs.min, this.slotOf(nowMs));
  }

  /** The limiter says that it may have forgotten what was taken. */
  mayBeLost(): void {
    for (const one of this.#all) one.wasSeenOver = true;
  }

  #isOver(fromMs: number, slotMs: number): boolean {
    return fromMs < (this.#isCalendar ? slotMs : slotMs - this.#windowMs);
  }

  /** Of another bucket, be it to come. */
  #isNoLonger(fromMs: number, slotMs: number): boolean {
    return this.#isOver(fromMs, slotMs) || (this.#isCalendar && fromMs > slotMs);
  }

  used(nowMs: number): { min: number; max: number } {
    let [min, max] = [-this.#mayLackOfOthers, 0];
    for (const { fromMs, amount, wasSeenOver } of this.#all) {
      const isOver = this.#isOver(fromMs.max, this.slotOf(nowMs));
      if (!wasSeenOver && !isOver) min += amount.min;
      if (!isOver || (this.#isCalendar && !this.isExact)) max += amount.max;
    }
    return { min: Math.max(0, min), max };
  }

  add(fromMs: number, amount: number, noLaterMs = fromMs): void {
    const known = this.#all.find((one) => one.fromMs.min === fromMs && one.fromMs.max === fromMs);
    if (this.isExact && known !== undefined) {
      const after = Math.max(0, known.amount.min + amount);
      known.amount = { min: after, max: after };
    } else if (amount > 0)
      this.#all.push({
        fromMs: { min: fromMs, max: noLaterMs },
        amount: { min: amount, max: amount },
        wasSeenOver: this.#isNoLonger(fromMs, this.#latestMs),
      });
    else if (!this.isExact) this.#mayLackOfOthers -= amount;
  }

  /** @param fromMs what was taken when it was */
  correct(fromMs: number, amount: number, nowMs: number): void {
    const isOver = !this.#isCalendar && this.#isOver(fromMs, this.slotOf(nowMs));
    if (isOver) return;
    // What a clock that was ahead took may count as taken since.
    const countedMs = this.#isCalendar ? fromMs : Math.min(fromMs, this.#latestMs);
    const leastMs = this.isExact || this.#isCalendar ? countedMs : Math.min(countedMs, this.slotOf(nowMs));
    this.add(leastMs, amount, countedMs);
  }

  /** Until `amount` more fits under `limit`; null: never. Where it is exact. */
  waitMs(limit: number, amount: number, nowMs: number): number | null {
    if (this.used(nowMs).max + amount <= limit) return 0;
    if (amount > limit) return null;
    if (this.#isCalendar) return this.slotOf(nowMs) + DAY_MS - nowMs;
    const ends = this.#all.map(({ fromMs }) => fromMs.max + this.#windowMs + this.#slotMs);
    return Math.min(...ends.filter((ms) => this.used(ms).max + amount <= limit)) - nowMs;
  }
}

type Act =
  | { do: 'take'; asks: { name: Name; limit: number; amount: number }[] }
  | { do: 'settle'; which: number; share: number }
  | { do: 'seedDay'; amount: number }
  | { do: 'pass'; ms: number }
  | { do: 'setBack'; ms: number };

const ask = fc.record({
  name: fc.constantFrom(...NAMES),
  limit: fc.integer({ min: 1, max: 12 }),
  amount: fc.constantFrom(0, 1, 1, 2, 3, 7),
});
const passMs = fc.oneof(
  fc.nat(3_000),
  fc.constantFrom(1, 999, 1_000, 20_000, 59_000, MINUTE_MS, MINUTE_MS + 1_000),
  fc.constantFrom(20 * MINUTE_MS, HOUR_MS, HOUR_MS + MINUTE_MS, 7 * HOUR_MS, DAY_MS, 3 * DAY_MS),
);
/** Of two days at most: how long a bucket that is over is kept for who comes back to it is no promise. */
const backMs = fc.constantFrom(1, 1_500, 40_000, MINUTE_MS + 1_000, 30 * MINUTE_MS, 2 * HOUR_MS, DAY_MS);

const actsThat = (mayGoBack: boolean): fc.Arbitrary<Act[]> => {
  const act = fc.oneof(
    {
      weight: 8,
      arbitrary: fc.record({
        do: fc.constant('take'),
        asks: fc.array(ask, { minLength: 1, maxLength: 4 }),
      }),
    },
    {
      weight: 5,
      arbitrary: fc.record({
        do: fc.constant('settle'),
        which: fc.nat(9),
        share: fc.constantFrom(-1, 0, 0.5, 2, 3),
      }),
    },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('seedDay'), amount: fc.nat(8) }) },
    { weight: 5, arbitrary: fc.record({ do: fc.constant('pass'), ms: passMs }) },
    { weight: mayGoBack ? 2 : 0, arbitrary: fc.record({ do: fc.constant('setBack'), ms: backMs }) },
  ) as fc.Arbitrary<Act>;
  return fc.array(act, { maxLength: 40, size: 'max' });
};

class Run {
  readonly #place: Place;
  readonly #owner: string;
  readonly #counters = new Map<Name, Counter>(NAMES.map((name) => [name, new Counter(name)]));
  /** Takes that were allowed and are not settled. */
  readonly #open: { window: LimitWindow; name: Name; atMs: number }[] = [];

  constructor(place: Place, owner: string) {
    this.#place = place;
    this.#owner = owner;
  }

  #counter(name: Name): Counter {
    return this.#counters.get(name) as Counter;
  }

  #window(name: Name, limit: number, amount: number): LimitWindow {
    const key = `${this.#owner}\0${name}`;
    const windowMs = WINDOW_MS[name];
    const nowMs = this.#place.nowMs();
    if (name !== 'day') return { key, kind: 'sliding', windowMs, limit, amount };
    return { key, kind: 'calendar', windowMs, startMs: nowMs - (nowMs % DAY_MS), limit, amount };
  }

  async apply(act: Act): Promise<void> {
    const { limiter } = this.#place;
    switch (act.do) {
      case 'take': {
        const windows = act.asks.map(({ name, limit, amount }) => this.#window(name, limit, amount));
        this.#checkTake(act.asks, windows, await limiter.take(windows));
        break;
      }
      case 'settle': {
        const [taken] = this.#open.splice(act.which % Math.max(1, this.#open.length), 1);
        if (taken === undefined) break;
        const { window, name, atMs } = taken;
        const { limit: _, ...place } = window;
        const amount = Math.floor(window.amount * act.share) - window.amount;
        const change: BucketChange = { ...place, amount };
        if (name !== 'day') change.takenAtMs = atMs;
        await limiter.correct([change]);
        this.#correct(name, window, atMs, amount);
        break;
      }
      case 'seedDay': {
        const { limit: _, ...place } = this.#window('day', 1, act.amount);
        const nowMs = this.#place.nowMs();
        await limiter.seed([place], nowMs);
        const counter = this.#counter('day');
        if (act.amount === 0) break;
        counter.see(nowMs);
        counter.add(counter.slotOf(nowMs), Math.max(0, act.amount - counter.used(nowMs).min));
        counter.isUntaken = false;
        break;
      }
      case 'pass':
        this.#place.advance(act.ms);
        break;
      case 'setBack':
        for (const counter of this.#counters.values()) counter.setBack(this.#place.nowMs());
        this.#place.advance(-act.ms);
        break;
    }
  }

  #correct(name: Name, { startMs }: LimitWindow, atMs: number, amount: number): void {
    const counter = this.#counter(name);
    const nowMs = this.#place.nowMs();
    if (name !== 'day' || startMs === counter.slotOf(nowMs)) counter.see(nowMs);
    counter.correct(name === 'day' ? (startMs as number) : counter.slotOf(atMs), amount, nowMs);
  }

  #checkTake(
    asks: readonly { name: Name; limit: number; amount: number }[],
    windows: readonly LimitWindow[],
    decision: LimitDecision,
  ): void {
    const nowMs = this.#place.nowMs();
    const counters = asks.map(({ name }) => this.#counter(name));
    for (const counter of counters) counter.see(nowMs);
    expect(decision.atMs).toBe(nowMs);
    for (const [at, counter] of counters.entries())
      if (!counter.isExact && decision.begun[at]) counter.mayBeLost();
    const before = counters.map((counter) => counter.used(nowMs));
    // Windows of one key count together.
    const asked = new Map<Name, number>();
    const fits = asks.map(({ name, limit, amount }, at) => {
      const { min, max } = before[at] as { min: number; max: number };
      const with_ = (asked.get(name) ?? 0) + amount;
      const least = min + with_ <= limit;
      if (least) asked.set(name, with_);
      return { surely: max + with_ <= limit, maybe: least };
    });
    if (decision.allowed) {
      expect(fits.map(({ maybe }) => maybe)).toEqual(fits.map(() => true));
      expect([decision.refusedBy, decision.retryAfterMs]).toEqual([null, 0]);
    } else expect(fits.map(({ surely }) => surely)).not.toEqual(fits.map(() => true));
    for (const [at, { amount, name }] of asks.entries()) {
      const counter = counters[at] as Counter;
      if (counter.isExact) expect([name, decision.begun[at]]).toEqual([name, counter.isUntaken]);
      if (!decision.allowed) continue;
      counter.add(counter.slotOf(nowMs), amount);
      if (amount > 0)
        this.#open.push({ window: windows[at] as LimitWindow, name: asks[at]?.name as Name, atMs: nowMs });
    }
    if (decision.allowed)
      for (const [at, { amount }] of asks.entries())
        if (amount > 0) (counters[at] as Counter).isUntaken = false;
    for (const [at, state] of decision.windows.entries()) this.#checkState(counters[at] as Counter, state);
    this.#checkWait(asks, counters, decision);
  }

  #checkState(counter: Counter, { limit, used, resetMs }: WindowState): void {
    const nowMs = this.#place.nowMs();
    const { min, max } = counter.used(nowMs);
    expect(used).toBeGreaterThanOrEqual(min);
    expect(used).toBeLessThanOrEqual(max);
    if (used < limit) return;
    expect(resetMs).toBeGreaterThan(0);
    if (counter.isExact) expect(resetMs).toBe(counter.waitMs(limit, 1, nowMs) ?? resetMs);
  }

  /** Of one window alone: of several, and of two of one key, who refuses longest is told. */
  #checkWait(
    asks: readonly { limit: number; amount: number }[],
    [counter]: readonly Counter[],
    { allowed, retryAfterMs }: LimitDecision,
  ): void {
    const [ask] = asks;
    if (allowed || asks.length > 1 || counter === undefined || ask === undefined) return;
    if (counter.isExact)
      expect(retryAfterMs).toBe(counter.waitMs(ask.limit, ask.amount, this.#place.nowMs()));
  }
}

/** Each run is another owner's. */
export async function checkLimiterModel(
  place: Place,
  { mayGoBack, numRuns }: { mayGoBack: boolean; numRuns: number },
): Promise<void> {
  let runCount = 0;
  await fc.assert(
    fc.asyncProperty(actsThat(mayGoBack), async (acts) => {
      runCount += 1;
      const run = new Run(place, `default\0run-${runCount}`);
      for (const act of acts) await run.apply(act);
    }),
    modelRuns(numRuns),
  );
}
