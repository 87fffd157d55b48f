/**
 * Whether it is worth asking. After a few failures in a row nothing is asked for a short while, then one is let through
 * to look: a server that hangs costs a few waits, not one for each call.
 *
 *     closed --failures in a row--> open --pause is over--> one asks --it works--> closed
 *       ^                             ^                        |
 *       '-----------------------------|--it fails: longer pause'
 */
import type { SteadyClock } from './clock.js';

const FAILURES_MAX = 3;
/** One that was let through and never told how it went. */
const TRIAL_MAX_MS = 5_000;

export interface CircuitPauses {
  firstMs: number;
  /** Each is twice the one before, up to this. */
  maxMs: number;
}

export class Circuit {
  readonly #clock: SteadyClock;
  readonly #pauses: CircuitPauses;
  #failureCount = 0;
  #pausedAtMs = 0;
  #pauseMs = 0;
  #trialAtMs: number | null = null;

  constructor(clock: SteadyClock, pauses: CircuitPauses) {
    this.#clock = clock;
    this.#pauses = pauses;
  }

  get isOpen(): boolean {
    return this.#failureCount >= FAILURES_MAX;
  }

  /** True: ask, and tell how it went. */
  mayAsk(): boolean {
    if (!this.isOpen) return true;
    const steadyMs = this.#clock.steadyMs();
    if (steadyMs - this.#pausedAtMs < this.#pauseMs) return false;
    if (this.#trialAtMs !== null && steadyMs - this.#trialAtMs < TRIAL_MAX_MS) return false;
    this.#trialAtMs = steadyMs;
    return true;
  }

  succeeded(): void {
    this.#failureCount = 0;
    this.#pauseMs = 0;
    this.#trialAtMs = null;
  }

  /** One that was sent before the pause began tells nothing new. */
  failed(): void {
    if (this.isOpen && this.#trialAtMs === null) return;
    this.#failureCount = Math.min(this.#failureCount + 1, FAILURES_MAX);
    this.#trialAtMs = null;
    if (!this.isOpen) return;
    this.#pausedAtMs = this.#clock.steadyMs();
    this.#pauseMs = Math.min(Math.max(this.#pauses.firstMs, 2 * this.#pauseMs), this.#pauses.maxMs);
  }
}
