/**
 * The gateway's time, on which every age on the page is told: it stamps what it tells, and a browser whose clock is wrong
 * would call a loop of now an hour old, or take one of an hour ago for one of now.
 */

/** The `Date` of an answer is cut to the second, and Node makes a new one each second, a little late when it is busy. */
const DATE_STEP_MS = 2_000;

export class GatewayClock {
  readonly #ownMs: () => number;
  /** The gateway's clock less this browser's. */
  #offsetMs = 0;

  /** @param ownMs this browser's clock */
  constructor(ownMs: () => number) {
    this.#ownMs = ownMs;
  }

  nowMs(): number {
    return this.#ownMs() + this.#offsetMs;
  }

  /**
   * Learns from an answer as much as it proves: that the gateway wrote its `Date` between the two moments. A clock that
   * may be right is left alone, so that no age jumps. @param date null: the answer has none
   */
  learn(date: string | null, sentMs: number, receivedMs: number): void {
    const dateMs = Date.parse(date ?? '');
    // Set back meanwhile, the browser's clock says nothing about this answer.
    if (Number.isNaN(dateMs) || receivedMs < sentMs) return;
    this.#offsetMs = Math.min(Math.max(this.#offsetMs, dateMs - receivedMs), dateMs + DATE_STEP_MS - sentMs);
  }
}

export const gatewayClock = new GatewayClock(Date.now);

/** Epoch milliseconds, as the gateway counts them. */
export const gatewayNowMs = (): number => gatewayClock.nowMs();
