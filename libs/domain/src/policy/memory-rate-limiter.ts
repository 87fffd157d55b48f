/**
 * The limiter of a gateway that stands alone. Decides in the calling turn, so nothing can come between reading and
 * taking; costs about a microsecond for five windows and allocates only its answer. Counters are bounded in number
 * and dropped once no window counts them.
 */
import type { BucketChange, LimitDecision, LimitWindow, RateLimiter, WindowState } from '#contracts';
import type { Clock } from '#kernel';
import {
  type Buckets,
  bucketStart,
  CALENDAR_GRACE_MS,
  checkAmount,
  checkWindow,
  describeDecision,
  stateOf,
  usedAt,
} from './bucket-arithmetic.js';
import { FairCounters } from './fair-counters.js';

/** Five for each of 100,000 agents. */
const COUNTER_COUNT_MAX = 500_000;

interface Counter extends Buckets {
  /** Calendar: start of the bucket in `previous`, which is kept for late corrections only and never counted. */
  previousStartMs: number;
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
      const counter = setBack(this.#current(window, nowMs), window, nowMs);
      const used = usedAt(counter, window, nowMs);
      const refuses = used + window.amount > window.limit;
      taken[index] = counter;
      refused[index] = refuses;
      counter.isUntaken ||= used === 0;
      begun.push(counter.isUntaken);
      if (refuses) isAllowed = false;
      // Taken at once, so that a second window of the same key sees it.
      else counter.current += window.amount;
    }
    for (let index = 0; index < windows.length; index += 1) {
      const counter = taken[index] as Counter;
      const { amount } = windows[index] as LimitWindow;
      if (isAllowed) {
        if (amount > 0) counter.isUntaken = false;
      } else if (!refused[index]) counter.current -= amount;
    }
    return describeDecision(windows, taken, begun, isAllowed ? null : refused, nowMs);
  }

  async correct(changes: readonly BucketChange[]): Promise<void> {
    this.correctNow(changes);
  }

  /** Hot path. @throws RangeError */
  correctNow(changes: readonly BucketChange[]): void {
    this.#change(changes, (counter, bucket, amount) => {
      counter[bucket] = Math.max(0, counter[bucket] + amount);
    });
  }

  async seed(changes: readonly BucketChange[]): Promise<void> {
    this.#change(changes, (counter, bucket, amount) => {
      counter[bucket] = Math.max(counter[bucket], amount);
      if (amount > 0) counter.isUntaken = false;
    });
  }

  async look(windows: readonly Omit<LimitWindow, 'amount'>[]): Promise<WindowState[]> {
    const nowMs = this.#clock.nowMs();
    return windows.map((window) => {
      checkWindow(window);
      const known = this.#counters.get(window.key);
      const startMs = startOf(window, nowMs);
      const counter =
        known === undefined ? fresh(startMs, window.windowMs, 0) : rolled({ ...known }, window, startMs);
      return stateOf(window, setBack(counter, window, nowMs), 0, nowMs);
    });
  }

  #change(
    changes: readonly BucketChange[],
    apply: (counter: Counter, bucket: 'current' | 'previous', amount: number) => void,
  ): void {
    const nowMs = this.#clock.nowMs();
    for (const change of changes) {
      checkWindow(change);
      checkAmount(change.amount, Number.MIN_SAFE_INTEGER);
      const { kind, windowMs } = change;
      const startMs =
        kind === 'calendar' ? startOf(change, nowMs) : bucketStart(change.takenAtMs ?? nowMs, windowMs);
      if (this.#counters.get(change.key) === undefined && change.amount <= 0) continue;
      const counter = this.#current(change, nowMs);
      counter.isUntaken ||= usedAt(counter, change, nowMs) === 0;
      if (startMs >= counter.startMs) apply(counter, 'current', change.amount);
      else if (startMs === counter.previousStartMs) apply(counter, 'previous', change.amount);
    }
  }

  /** The counter with its bucket of now in `current`; a new one if there is none. */
  #current(place: Place, nowMs: number): Counter {
    const startMs = startOf(place, nowMs);
    const expiresMs =
      startMs + (place.kind === 'sliding' ? 2 * place.windowMs : place.windowMs + CALENDAR_GRACE_MS);
    let counter = this.#counters.get(place.key);
    if (counter === undefined) {
      counter = fresh(startMs, place.windowMs, expiresMs);
      this.#counters.add(place.key, counter, nowMs);
      return counter;
    }
    if (expiresMs > counter.expiresMs) counter.expiresMs = expiresMs;
    return rolled(counter, place, startMs);
  }
}

const fresh = (startMs: number, windowMs: number, expiresMs: number): Counter => ({
  startMs,
  current: 0,
  previous: 0,
  previousStartMs: startMs - windowMs,
  expiresMs,
  isUntaken: true,
});

/** Where the bucket of now begins, by what the window says. */
const startOf = ({ kind, windowMs, startMs }: Omit<Place, 'key'>, nowMs: number): number =>
  kind === 'calendar' ? (startMs as number) : bucketStart(nowMs, windowMs);

/** Moves the counter on to a later bucket; one that stands there already, or further on, stays. */
function rolled(counter: Counter, { kind, windowMs }: Omit<Place, 'key'>, startMs: number): Counter {
  if (startMs <= counter.startMs) return counter;
  const isNext = kind === 'calendar' || startMs === counter.startMs + windowMs;
  counter.previous = isNext ? counter.current : 0;
  counter.previousStartMs = isNext ? counter.startMs : startMs - windowMs;
  counter.current = 0;
  counter.startMs = startMs;
  return counter;
}

/**
 * To a bucket that had been left by a clock that was wrong: what was used by that clock was used in this bucket. A sliding one waits
 * for a clock that gets there within a window, and counts all of it until then.
 */
function setBack(counter: Counter, place: Omit<Place, 'key'>, nowMs: number): Counter {
  const startMs = startOf(place, nowMs);
  const waitsFor = place.kind === 'sliding' ? place.windowMs : 0;
  if (counter.startMs - startMs <= waitsFor) return counter;
  if (startMs === counter.previousStartMs) counter.current += counter.previous;
  counter.previous = 0;
  counter.previousStartMs = startMs - place.windowMs;
  counter.startMs = startMs;
  counter.isUntaken = true;
  return counter;
}
