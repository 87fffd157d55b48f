/**
 * Whether the disk takes writes, as far as the last attempt told. While it does not, one attempt per
 * RETRY_AFTER_MS is let through; the first that succeeds ends the state.
 *
 *     taking ── a write was refused ──> full ── an attempt went well ──> taking
 */
import type { Clock } from '#kernel';

const RETRY_AFTER_MS = 1_000;

export class DiskWatch {
  readonly #clock: Clock;
  #full = false;
  #lastAttemptMs = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get isFull(): boolean {
    return this.#full;
  }

  /** True if the caller may try a write now, which then counts as the attempt of this second. */
  claimAttempt(): boolean {
    const nowMs = this.#clock.nowMs();
    // A clock set back must not keep us from trying.
    if (nowMs >= this.#lastAttemptMs && nowMs - this.#lastAttemptMs < RETRY_AFTER_MS) return false;
    this.#lastAttemptMs = nowMs;
    return true;
  }

  /** @returns true if that is news */
  noteRefused(): boolean {
    const news = !this.#full;
    this.#full = true;
    this.#lastAttemptMs = this.#clock.nowMs();
    return news;
  }

  /** @returns true if that is news */
  noteTaken(): boolean {
    const news = this.#full;
    this.#full = false;
    return news;
  }
}
