/** A clock that stands still until a test moves it. */
import type { Clock, SteadyClock } from '#kernel';

export class FakeClock implements Clock, SteadyClock {
  #nowMs: number;
  #steadyMs = 0;

  /** @param nowMs Unix milliseconds; midday of the last day of January 2026 unless told otherwise */
  constructor(nowMs = Date.UTC(2026, 0, 31, 12)) {
    this.#nowMs = nowMs;
  }

  nowMs(): number {
    return this.#nowMs;
  }

  steadyMs(): number {
    return this.#steadyMs;
  }

  /** @returns the new time */
  advance(ms: number): number {
    this.#steadyMs += Math.max(0, ms);
    this.#nowMs += ms;
    return this.#nowMs;
  }

  /** May go backwards, as wall clocks do. */
  set(nowMs: number): void {
    this.#nowMs = nowMs;
  }
}
