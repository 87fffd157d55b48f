/**
 * Concurrent equal misses: the first caller goes to the upstream, the others wait for its answer. If it brings none,
 * each of them goes by itself; nobody waits twice. Whoever waits may leave without the others noticing.
 */
import type { CachedAnswer } from '#contracts';
import { type Deferred, deferred } from '#kernel';

/** Calls in flight that others may join; beyond it every call goes by itself. */
const FLIGHTS_MAX = 10_000;
/** A waiting caller goes by itself after this long: the first one's own client may read its answer slowly. */
const WAIT_MS_MAX = 20_000;

export interface Landing {
  answer: CachedAnswer;
  cost_micro_usd: number | null;
  duration_ms: number;
}

export class CacheFlights {
  readonly #flights = new Map<string, Deferred<Landing | null>>();
  readonly #waitMsMax: number;

  constructor(waitMsMax = WAIT_MS_MAX) {
    this.#waitMsMax = waitMsMax;
  }

  get count(): number {
    return this.#flights.size;
  }

  /**
   * @param key of tenant and request
   * @param gone resolves when the caller waits no more
   * @returns null: nobody is on the way with this request, and the caller may `begin`
   */
  join(key: string, gone: Promise<void>): Promise<Landing | null> | null {
    const flight = this.#flights.get(key);
    if (flight === undefined) return null;
    return new Promise((resolve) => {
      const timer = setTimeout(() => settle(null), this.#waitMsMax);
      const settle = (landing: Landing | null): void => {
        clearTimeout(timer);
        resolve(landing);
      };
      void flight.promise.then(settle);
      void gone.then(() => settle(null));
    });
  }

  /** @returns how to end it, with what others may have or null (the first word counts); undefined when too many are under way */
  begin(key: string): ((landing: Landing | null) => void) | undefined {
    if (this.#flights.size >= FLIGHTS_MAX || this.#flights.has(key)) return undefined;
    const flight = deferred<Landing | null>();
    this.#flights.set(key, flight);
    return (landing) => {
      // Said twice, it must not end the flight of whoever came after.
      if (this.#flights.get(key) === flight) this.#flights.delete(key);
      flight.resolve(landing);
    };
  }
}
