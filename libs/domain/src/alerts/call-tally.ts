/**
 * Calls and failures over the last `windowMs`, in buckets: constant memory, a call costs two additions.
 *
 *     |--30 buckets of windowMs/30 each--|     the oldest is overwritten as time goes on
 *
 * The window is therefore exact to a thirtieth. All times are of the steady clock.
 */
export const TALLY_BUCKETS = 30;

export class CallTally {
  readonly #windowMs: number;
  readonly #sinceMs: number;
  readonly #bucketMs: number;
  readonly #calls = new Uint32Array(TALLY_BUCKETS);
  readonly #failures = new Uint32Array(TALLY_BUCKETS);
  /** Number of the newest bucket. */
  #newest = Number.NEGATIVE_INFINITY;
  #callCount = 0;
  #failureCount = 0;

  /** @param sinceMs what came before nobody counted; absent: nothing did */
  constructor(windowMs: number, sinceMs = Number.NEGATIVE_INFINITY) {
    this.#windowMs = windowMs;
    this.#sinceMs = sinceMs;
    this.#bucketMs = Math.max(1, windowMs / TALLY_BUCKETS);
  }

  add(steadyMs: number, failed: boolean): void {
    this.#moveTo(steadyMs);
    // What is told late counts into the newest bucket: nothing is lost.
    const slot = this.#newest % TALLY_BUCKETS;
    this.#calls[slot] = (this.#calls[slot] ?? 0) + 1;
    this.#callCount += 1;
    if (!failed) return;
    this.#failures[slot] = (this.#failures[slot] ?? 0) + 1;
    this.#failureCount += 1;
  }

  /** Nothing that came before anybody counted is in the window any more. */
  isWhole(nowSteadyMs: number): boolean {
    return nowSteadyMs - this.#sinceMs >= this.#windowMs;
  }

  /** As of `nowSteadyMs`; O(1) unless time has moved on by a bucket. */
  read(nowSteadyMs: number): { callCount: number; failureCount: number } {
    if (this.#callCount > 0) this.#moveTo(nowSteadyMs);
    return { callCount: this.#callCount, failureCount: this.#failureCount };
  }

  #moveTo(steadyMs: number): void {
    const bucket = Math.floor(steadyMs / this.#bucketMs);
    if (bucket <= this.#newest) return;
    const first = Math.max(this.#newest + 1, bucket - TALLY_BUCKETS + 1);
    for (let one = first; one <= bucket; one += 1) {
      const slot = one % TALLY_BUCKETS;
      this.#callCount -= this.#calls[slot] ?? 0;
      this.#failureCount -= this.#failures[slot] ?? 0;
      this.#calls[slot] = 0;
      this.#failures[slot] = 0;
    }
    this.#newest = bucket;
  }
}
