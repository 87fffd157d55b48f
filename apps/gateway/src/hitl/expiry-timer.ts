/** Abandoned pauses: one timer, set to the earliest; whatever is due when it fires is expired. */
import type { SessionKey } from '#contracts';
import type { Clock, Timer } from '#kernel';

export interface Expiring {
  key: SessionKey;
  atMs: number;
}

export interface ExpiryTimerOptions {
  clock: Clock;
  timer: Timer;
  /** Every pause that can expire, in no order. Asked at start and at each firing: O(sessions under control). */
  expiring(): Iterable<Expiring>;
  /** Expires one session. Rejects if that could not be made durable; it is tried again. */
  expire(key: SessionKey): Promise<void>;
}

const RETRY_MS = 5_000;

export class ExpiryTimer {
  readonly #options: ExpiryTimerOptions;
  #armed: { atMs: number; cancel: () => void } | undefined;
  #stopped = false;

  constructor(options: ExpiryTimerOptions) {
    this.#options = options;
  }

  /** Looks at all pauses, as after a restart. */
  start(): void {
    this.#armEarliest(Number.NEGATIVE_INFINITY);
  }

  /** A pause that expires at `atMs` was made. A pause that ended needs no call: it is not due when looked at. */
  note(atMs: number): void {
    if (this.#stopped || (this.#armed !== undefined && this.#armed.atMs <= atMs)) return;
    this.#armed?.cancel();
    const delayMs = atMs - this.#options.clock.nowMs();
    this.#armed = { atMs, cancel: this.#options.timer.after(delayMs, () => void this.#fire()) };
  }

  stop(): void {
    this.#stopped = true;
    this.#armed?.cancel();
    this.#armed = undefined;
  }

  async #fire(): Promise<void> {
    this.#armed = undefined;
    const nowMs = this.#options.clock.nowMs();
    const due = [...this.#options.expiring()].filter(({ atMs }) => atMs <= nowMs);
    const outcomes = await Promise.allSettled(due.map(({ key }) => this.#options.expire(key)));
    const failed = outcomes.some(({ status }) => status === 'rejected');
    this.#armEarliest(failed ? this.#options.clock.nowMs() + RETRY_MS : Number.NEGATIVE_INFINITY);
  }

  #armEarliest(notBeforeMs: number): void {
    let earliestMs = Number.POSITIVE_INFINITY;
    for (const { atMs } of this.#options.expiring()) earliestMs = Math.min(earliestMs, atMs);
    if (earliestMs !== Number.POSITIVE_INFINITY) this.note(Math.max(earliestMs, notBeforeMs));
  }
}
