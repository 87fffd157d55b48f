/**
 * Whether the disk takes writes, as far as the last attempt told. While it does not, one attempt per
 * RETRY_AFTER_MS is let through; the first that succeeds ends the state.
 *
 *     taking ── a write was refused ──> full ── an attempt went well ──> taking
 */
import type { SteadyClock } from '#kernel';

const RETRY_AFTER_MS = 1_000;

export class DiskWatch {
  readonly #clock: SteadyClock;
  #full = false;
  #lastAttemptMs = Number.NEGATIVE_INFINITY;

  constructor(clock: SteadyClock) {
    this.#clock = clock;
  }

  get isFull(): boolean {
    return this.#full;
  }

  /** True if the caller may try a write now, which then counts as the attempt of this second. */
  claimAttempt(): boolean {
    const steadyMs = this.#clock.steadyMs();
    if (steadyMs - this.#lastAttemptMs < RETRY_AFTER_MS) return false;
    this.#lastAttemptMs = steadyMs;
    return true;
  }

  /** @returns true if that is news */
  noteRefused(): boolean {
    const news = !this.#full;
    this.#full = true;
    this.#lastAttemptMs = this.#clock.steadyMs();
    return news;
  }

  /** @returns true if that is news */
  noteTaken(): boolean {
    const news = this.#full;
    this.#full = false;
    return news;
  }
}
