/** Whether this gateway should be sent traffic. The store is asked at most once a second, however many ask us. */
import { type DecisionStore, ObservatoryError } from '#contracts';
import type { SteadyClock } from '#kernel';
import type { Descriptors } from './descriptors.js';
import type { Drain } from './drain.js';

export const READINESS = Symbol('Readiness');

const PROBE_KEPT_MS = 1_000;
const PROBE_TIMEOUT_MS = 2_000;

export class Readiness {
  readonly #store: Pick<DecisionStore, 'probe'>;
  readonly #drain: Pick<Drain, 'isDraining'>;
  readonly #descriptors: Pick<Descriptors, 'areUsedUp'>;
  readonly #clock: SteadyClock;
  #probe: { startedMs: number; reason: Promise<string | null> } | undefined;

  constructor(options: {
    store: Pick<DecisionStore, 'probe'>;
    drain: Pick<Drain, 'isDraining'>;
    descriptors: Pick<Descriptors, 'areUsedUp'>;
    clock: SteadyClock;
  }) {
    this.#store = options.store;
    this.#drain = options.drain;
    this.#descriptors = options.descriptors;
    this.#clock = options.clock;
  }

  /** Why not, in words fit for strangers; empty = ready. Never rejects. */
  async reasons(): Promise<string[]> {
    const storeReason = await this.#probeReason();
    const reasons = storeReason === null ? [] : [storeReason];
    if (this.#descriptors.areUsedUp()) reasons.push('no file descriptors left');
    return this.#drain.isDraining ? ['draining', ...reasons] : reasons;
  }

  #probeReason(): Promise<string | null> {
    const nowMs = this.#clock.steadyMs();
    if (this.#probe === undefined || nowMs - this.#probe.startedMs >= PROBE_KEPT_MS) {
      this.#probe = { startedMs: nowMs, reason: probe(this.#store) };
    }
    return this.#probe.reason;
  }
}

async function probe(store: Pick<DecisionStore, 'probe'>): Promise<string | null> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<string>((resolve) => {
    timer = setTimeout(resolve, PROBE_TIMEOUT_MS, `store: no answer within ${PROBE_TIMEOUT_MS} ms`);
  });
  try {
    return await Promise.race([store.probe().then(() => null), late]);
  } catch (error) {
    return error instanceof ObservatoryError ? `store: ${error.code}` : 'store: cannot write';
  } finally {
    clearTimeout(timer);
  }
}
