/**
 * How many DecisionLogs a second one agent key may send. An agent that runs wild is told to wait (429) before it fills
 * the store's queue, where everybody would have to (503).
 *
 * A bucket that holds one second's worth and may go into debt: whoever has something left sends a batch of any size,
 * and waits afterwards for as long as it was too large. So no batch is ever too large to be taken. Counts for this
 * process alone. @see observatory.md, section 2
 */
import { ObservatoryError } from '#contracts';
import type { SteadyClock } from '#kernel';

interface Bucket {
  /** Logs it may still send; below 0 in debt. */
  left: number;
  filledMs: number;
}

export class IngestRate {
  readonly #clock: SteadyClock;
  readonly #logsPerSecondMax: number;
  /** By key id: no more than there are agent keys. */
  readonly #buckets = new Map<string, Bucket>();

  /** @param options.logsPerSecondMax 0 = no limit */
  constructor({ clock, logsPerSecondMax }: { clock: SteadyClock; logsPerSecondMax: number }) {
    this.#clock = clock;
    this.#logsPerSecondMax = logsPerSecondMax;
  }

  /** Before a body is read. @throws ObservatoryError rate_limited */
  check(keyId: string): void {
    if (this.#logsPerSecondMax === 0) return;
    const { left } = this.#filled(keyId);
    if (left >= 1) return;
    const seconds = Math.ceil((1 - left) / this.#logsPerSecondMax);
    throw new ObservatoryError(
      'rate_limited',
      `This key may send ${this.#logsPerSecondMax} DecisionLogs a second; send these again in ${seconds} s.`,
      { retryAfterSeconds: seconds },
    );
  }

  /** Once it is known how many there are; refused or sent again, they count alike. */
  take(keyId: string, count: number): void {
    if (this.#logsPerSecondMax > 0) this.#filled(keyId).left -= count;
  }

  #filled(keyId: string): Bucket {
    const nowMs = this.#clock.steadyMs();
    const max = this.#logsPerSecondMax;
    let bucket = this.#buckets.get(keyId);
    if (bucket === undefined) {
      bucket = { left: max, filledMs: nowMs };
      this.#buckets.set(keyId, bucket);
    }
    bucket.left = Math.min(max, bucket.left + ((nowMs - bucket.filledMs) * max) / 1_000);
    bucket.filledMs = nowMs;
    return bucket;
  }
}
