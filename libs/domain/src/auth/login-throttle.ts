/**
 * Slows down guessing at the login form. Failures are counted in windows of one minute, per address and over all.
 * At the global limit an address that has not failed yet still has one attempt: a flood of bad logins from
 * elsewhere cannot lock the operators out. Nor can a wall clock that is set back: windows go by the steady one.
 */
import { type SteadyClock, TtlLru } from '#kernel';

/** Every bound on failed logins, by name. */
export const LOGIN_LIMITS = {
  windowMs: 60_000,
  failuresPerAddressMax: 10,
  failuresOverallMax: 100,
  /** Addresses remembered; beyond it the least recent is forgotten. */
  addressesMax: 10_000,
} as const;

interface FailureWindow {
  startedMs: number;
  count: number;
}

export class LoginThrottle {
  readonly #clock: SteadyClock;
  readonly #limits: typeof LOGIN_LIMITS;
  readonly #byAddress: TtlLru<string, FailureWindow>;
  #overall: FailureWindow | undefined;

  constructor(options: { clock: SteadyClock; limits?: Partial<Record<keyof typeof LOGIN_LIMITS, number>> }) {
    this.#clock = options.clock;
    this.#limits = { ...LOGIN_LIMITS, ...options.limits } as typeof LOGIN_LIMITS;
    this.#byAddress = new TtlLru({
      countMax: this.#limits.addressesMax,
      idleMs: this.#limits.windowMs,
      clock: this.#clock,
    });
  }

  /** Whole seconds, at least 1, until this address may try again; 0 when it may now. Counts nothing. */
  retryAfterSeconds(address: string): number {
    const nowMs = this.#clock.steadyMs();
    const own = this.#current(this.#byAddress.peek(address), nowMs);
    const overall = this.#current(this.#overall, nowMs);
    if (own.count === 0) return 0;
    const isRefused =
      own.count >= this.#limits.failuresPerAddressMax || overall.count >= this.#limits.failuresOverallMax;
    return isRefused ? Math.max(1, Math.ceil((own.startedMs + this.#limits.windowMs - nowMs) / 1_000)) : 0;
  }

  /** One more attempt with a wrong token. */
  recordFailure(address: string): void {
    const nowMs = this.#clock.steadyMs();
    const own = this.#current(this.#byAddress.peek(address), nowMs);
    this.#byAddress.set(address, { startedMs: own.startedMs, count: own.count + 1 });
    const overall = this.#current(this.#overall, nowMs);
    this.#overall = { startedMs: overall.startedMs, count: overall.count + 1 };
  }

  /** A window that has run out counts as a new, empty one. */
  #current(window: FailureWindow | undefined, nowMs: number): FailureWindow {
    const isOver = window === undefined || nowMs - window.startedMs >= this.#limits.windowMs;
    return isOver ? { startedMs: nowMs, count: 0 } : window;
  }
}
