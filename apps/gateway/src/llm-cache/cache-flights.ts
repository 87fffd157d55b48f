/**
 * Concurrent equal misses: the first caller goes to the upstream, the others wait for its answer. If it brings none,
 * each of them goes by itself; nobody waits twice. Whoever waits may leave without the others noticing.
 *
 * A first caller whose upstream hangs must not keep all that ask the same: once somebody gave up or left, nobody else
 * joins; the next caller goes for those after it.
 */
import type { CachedAnswer } from '#contracts';
import { type Deferred, deferred } from '#kernel';

/** Calls in flight that others may join; beyond it every call goes by itself. */
const FLIGHTS_MAX = 10_000;
/** A waiting caller goes by itself after this long: more than most answers take, less than most clients wait. */
const WAIT_MS_MAX = 20_000;

export interface Landing {
  answer: CachedAnswer;
  cost_micro_usd: number | null;
}

type Flight = Deferred<Landing | null>;

export class CacheFlights {
  /** Those that may be joined. */
  readonly #flights = new Map<string, Flight>();
  readonly #waitMsMax: number;

  /** @param waitMsMax for tests */
  constructor(waitMsMax = WAIT_MS_MAX) {
    this.#waitMsMax = waitMsMax;
  }

  get count(): number {
    return this.#flights.size;
  }

  /**
   * @param key of tenant and request
   * @param gone resolves when the caller waits no more
   * @returns null: nobody is on the way whom this request may wait for, and the caller may `begin`
   */
  join(key: string, gone: Promise<void>): Promise<Landing | null> | null {
    const flight = this.#flights.get(key);
    if (flight === undefined) return null;
    return new Promise((resolve) => {
      const settle = (landing: Landing | null): void => {
        clearTimeout(timer);
        resolve(landing);
      };
      const giveUp = (): void => {
        this.#close(key, flight);
        settle(null);
      };
      const timer = setTimeout(giveUp, this.#waitMsMax);
      void flight.promise.then(settle);
      void gone.then(giveUp);
    });
  }

  /** @returns how to end it, with what others may have or null (the first word counts); undefined when too many are under way */
  begin(key: string): ((landing: Landing | null) => void) | undefined {
    if (this.#flights.size >= FLIGHTS_MAX || this.#flights.has(key)) return undefined;
    const flight = deferred<Landing | null>();
    this.#flights.set(key, flight);
    return (landing) => {
      this.#close(key, flight);
      flight.resolve(landing);
    };
  }

  /** Nobody joins it any more. Said twice, it must not close the flight of whoever came after. */
  #close(key: string, flight: Flight): void {
    if (this.#flights.get(key) === flight) this.#flights.delete(key);
  }
}
