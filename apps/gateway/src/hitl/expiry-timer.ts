/** Abandoned pauses: one timer, set to the earliest by the clock that nobody sets; whatever is due when it fires is expired. */
import type { SessionKey } from '#contracts';
import type { SteadyClock, Timer } from '#kernel';

export interface Expiring {
  key: SessionKey;
  /** 0 or less: it is due. */
  leftMs: number;
}

export interface ExpiryTimerOptions {
  clock: SteadyClock;
  timer: Timer;
  /** Every pause that can expire, in no order. Asked at start and at each firing: O(sessions under control). */
  expiring(): Iterable<Expiring>;
  /** What may still end a pause that is due. Never rejects. */
  beforehand(): Promise<void>;
  /** Expires one session. Rejects if that could not be made durable; it is tried again. */
  expire(key: SessionKey): Promise<void>;
}

const RETRY_MS = 5_000;

export class ExpiryTimer {
  readonly #options: ExpiryTimerOptions;
  #armed: { dueMs: number; cancel: () => void } | undefined;
  #stopped = false;

  constructor(options: ExpiryTimerOptions) {
    this.#options = options;
  }

  /** Looks at all pauses, as after a restart. */
  start(): void {
    this.#armEarliest(0);
  }

  /** A pause that expires in `leftMs` was made. A pause that ended needs no call: it is not due when looked at. */
  note(leftMs: number): void {
    const dueMs = this.#options.clock.steadyMs() + leftMs;
    if (this.#stopped || (this.#armed !== undefined && this.#armed.dueMs <= dueMs)) return;
    this.#armed?.cancel();
    this.#armed = { dueMs, cancel: this.#options.timer.after(leftMs, () => void this.#fire()) };
  }

  stop(): void {
    this.#stopped = true;
    this.#armed?.cancel();
    this.#armed = undefined;
  }

  async #fire(): Promise<void> {
    this.#armed = undefined;
    const due = [...this.#options.expiring()].filter(({ leftMs }) => leftMs <= 0);
    if (due.length > 0) await this.#options.beforehand();
    if (this.#stopped) return;
    const outcomes = await Promise.allSettled(due.map(({ key }) => this.#options.expire(key)));
    const failed = outcomes.some(({ status }) => status === 'rejected');
    this.#armEarliest(failed ? RETRY_MS : 0);
  }

  /** @param waitMs at least */
  #armEarliest(waitMs: number): void {
    let earliestMs = Number.POSITIVE_INFINITY;
    for (const { leftMs } of this.#options.expiring()) earliestMs = Math.min(earliestMs, leftMs);
    if (earliestMs !== Number.POSITIVE_INFINITY) this.note(Math.max(earliestMs, waitMs));
  }
}
