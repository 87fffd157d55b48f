/**
 * The limiter of a gateway that stands alone. Decides in the calling turn, so nothing can come between reading and
 * taking; costs about a microsecond for five windows and allocates only its answer. Counters are bounded in number
 * and dropped once no window counts them.
 */
import type { BucketChange, LimitDecision, LimitWindow, RateLimiter } from '#contracts';
import type { Clock } from '#kernel';
import { FairCounters } from './fair-counters.js';
import { seedShares } from './seed-shares.js';
import {
  bucketStart,
  CALENDAR_GRACE_MS,
  type Counted,
  checkAmount,
  checkWindow,
  describeDecision,
  reachMsOf,
  slidingLifeMs,
  slotMsOf,
} from './slot-arithmetic.js';

/** Five for each of 100,000 agents. */
const COUNTER_COUNT_MAX = 500_000;

interface Counter extends Counted {
  /** Of a calendar window: its bucket and the one before, which is kept for late corrections only and never counted. */
  slots: number[];
  /** Of the slot or the bucket of now, as of which `used` is. */
  startMs: number;
  expiresMs: number;
  /** Nobody has taken from it since it was empty, or a clock came back to its bucket: what it had held before may be lost. */
  isUntaken: boolean;
}

type Place = Pick<LimitWindow, 'key' | 'kind' | 'windowMs' | 'startMs'>;

export interface MemoryRateLimiterOptions {
  clock: Clock;
  /** Counters held at once. Reaching it drops one of the tenant that has most; that one starts again at zero. */
  counterCountMax?: number;
}

export class MemoryRateLimiter implements RateLimiter {
  readonly #clock: Clock;
  readonly #counters: FairCounters<Counter>;
  /** Of the take under way, by window; reused, and never shortened, which would free what they are kept for. */
  readonly #taken: Counter[] = [];
  readonly #refused: boolean[] = [];

  constructor({ clock, counterCountMax = COUNTER_COUNT_MAX }: MemoryRateLimiterOptions) {
    this.#clock = clock;
    this.#counters = new FairCounters(counterCountMax);
  }

  get counterCount(): number {
    return this.#counters.size;
  }

  /** Live counters dropped because there was no room: each forgot what its agent had used. */
  get evictedCount(): number {
    return this.#counters.evictedCount;
  }

  async take(windows: readonly LimitWindow[]): Promise<LimitDecision> {
    return this.takeNow(windows);
  }

  /** Hot path: the decision without a promise. @throws RangeError for amounts that are no whole numbers */
  takeNow(windows: readonly LimitWindow[]): LimitDecision {
    const nowMs = this.#clock.nowMs();
    const taken = this.#taken;
    const refused = this.#refused;
    for (const window of windows) {
      checkWindow(window);
      checkAmount(window.amount, 0);
    }
    let isAllowed = true;
    const begun: boolean[] = [];
    for (let index = 0; index < windows.length; index += 1) {
      const window = windows[index] as LimitWindow;
      const { amount } = window;
      const startMs = startOf(window, nowMs);
      const counter = setBack(this.#current(window, startMs, nowMs), window, startMs);
      const refuses = counter.used + amount > window.limit;
      taken[index] = counter;
      refused[index] = refuses;
      counter.isUntaken ||= counter.used === 0;
      begun.push(counter.isUntaken);
      if (refuses) isAllowed = false;
      // Taken at once, so that a second window of the same key sees it.
      else add(counter, window, startMs, amount);
    }
    for (let index = 0; index < windows.length; index += 1) {
      const counter = taken[index] as Counter;
      const window = windows[index] as LimitWindow;
      if (isAllowed) {
        if (window.amount > 0) counter.isUntaken = false;
      } else if (!refused[index]) add(counter, window, startOf(window, nowMs), -window.amount);
    }
    return describeDecision(windows, taken, begun, isAllowed ? null : refused, nowMs);
  }

  async correct(changes: readonly BucketChange[]): Promise<void> {
    this.correctNow(changes);
  }

  /** Hot path. @throws RangeError */
  correctNow(changes: readonly BucketChange[]): void {
    this.#change(changes, (counter, change, nowMs) => {
      const startMs = startOf(change, change.takenAtMs ?? nowMs);
      // What a clock that was ahead took may count as taken since.
      add(counter, change, Math.min(startMs, counter.startMs), change.amount);
    });
  }

  async seed(changes: readonly BucketChange[]): Promise<void> {
    this.#change(changes, (counter, change, nowMs) => {
      const { kind, amount } = change;
      // Of a bucket that is over.
      if (kind === 'calendar' && change.startMs !== counter.startMs) return;
      if (kind === 'sliding')
        for (const [startMs, share] of seedShares(counter, change, nowMs))
          add(counter, change, startMs, share);
      else add(counter, change, counter.startMs, Math.max(0, amount - counter.used));
      if (amount > 0) counter.isUntaken = false;
    });
  }

  #change(
    changes: readonly BucketChange[],
    apply: (counter: Counter, change: BucketChange, nowMs: number) => void,
  ): void {
    const nowMs = this.#clock.nowMs();
    for (const change of changes) {
      checkWindow(change);
      checkAmount(change.amount, Number.MIN_SAFE_INTEGER);
      const known = this.#counters.get(change.key);
      if (known === undefined && change.amount <= 0) continue;
      const ownMs = startOf(change, nowMs);
      // Taken by a clock that was ahead: it counts where the counter is by now.
      const startMs = known !== undefined && ownMs > nowMs ? known.startMs : ownMs;
      const counter = this.#current(change, startMs, nowMs);
      // A calendar bucket is the one that was taken from, and may be over.
      if (change.kind === 'sliding') setBack(counter, change, startMs);
      counter.isUntaken ||= counter.used === 0;
      apply(counter, change, nowMs);
    }
  }

  /** The counter as of the slot or bucket that begins at `startMs`; a new one if there is none. */
  #current(place: Place, startMs: number, nowMs: number): Counter {
    const known = this.#counters.get(place.key);
    if (known?.startMs === startMs) return known;
    const { kind, windowMs } = place;
    const expiresMs = startMs + (kind === 'sliding' ? slidingLifeMs(windowMs) : windowMs + CALENDAR_GRACE_MS);
    if (known === undefined) {
      const counter = fresh(startMs, expiresMs);
      this.#counters.add(place.key, counter, nowMs);
      return counter;
    }
    if (expiresMs > known.expiresMs) known.expiresMs = expiresMs;
    return rolled(known, place, startMs);
  }
}

const fresh = (startMs: number, expiresMs: number): Counter => ({
  used: 0,
  slots: [],
  startMs,
  expiresMs,
  isUntaken: true,
});

/** Where the slot, or by what the window says the bucket, of a time begins. */
const startOf = ({ kind, windowMs, startMs }: Omit<Place, 'key'>, atMs: number): number =>
  kind === 'calendar' ? (startMs as number) : bucketStart(atMs, slotMsOf(windowMs));

/** Moves the counter on to a later slot or bucket; one that stands there already, or further on, stays. */
function rolled(counter: Counter, { kind, windowMs }: Omit<Place, 'key'>, startMs: number): Counter {
  if (startMs <= counter.startMs) return counter;
  counter.startMs = startMs;
  const { slots } = counter;
  let left = 0;
  if (kind === 'calendar') {
    counter.used = 0;
    left = Math.max(0, slots.length - 2);
  } else {
    const oldestMs = startMs - reachMsOf(windowMs);
    for (; left < slots.length && (slots[left] as number) < oldestMs; left += 2)
      counter.used -= slots[left + 1] as number;
  }
  if (left > 0) dropFirst(slots, left);
  return counter;
}

/** In place, for a busy agent's counter loses one slot whenever it gains one. */
function dropFirst(slots: number[], count: number): void {
  const kept = slots.length - count;
  for (let at = 0; at < kept; at += 1) slots[at] = slots[at + count] as number;
  for (let dropped = 0; dropped < count; dropped += 1) slots.pop();
}

/**
 * To a bucket that had been left by a clock that was wrong: all that is known was used in this one. A sliding one waits for a clock
 * that gets there within a window, and counts all of it until then.
 */
function setBack(counter: Counter, { kind, windowMs }: Omit<Place, 'key'>, startMs: number): Counter {
  if (counter.startMs - startMs <= (kind === 'sliding' ? windowMs : 0)) return counter;
  const { slots } = counter;
  counter.used = 0;
  for (let at = 1; at < slots.length; at += 2) counter.used += slots[at] as number;
  counter.slots = counter.used > 0 ? [startMs, counter.used] : [];
  counter.startMs = startMs;
  counter.isUntaken = true;
  return counter;
}

/** Changes what was taken in a slot or bucket, never to below zero; none that counts no more is begun. */
function add(
  counter: Counter,
  { kind, windowMs }: Omit<Place, 'key'>,
  startMs: number,
  amount: number,
): void {
  const { slots } = counter;
  let at = slots.length - 2;
  while (at >= 0 && (slots[at] as number) > startMs) at -= 2;
  let change = amount;
  if (at >= 0 && slots[at] === startMs) {
    const before = slots[at + 1] as number;
    change = Math.max(-before, amount);
    if (before + change > 0) slots[at + 1] = before + change;
    else slots.splice(at, 2);
  } else {
    const oldestMs = kind === 'calendar' ? counter.startMs : counter.startMs - reachMsOf(windowMs);
    if (amount <= 0 || startMs < oldestMs) return;
    // No larger than it is: most agents have one.
    if (slots.length === 0) counter.slots = [startMs, amount];
    else if (at + 2 === slots.length) slots.push(startMs, amount);
    else slots.splice(at + 2, 0, startMs, amount);
  }
  if (kind === 'sliding' || startMs === counter.startMs) counter.used += change;
}
