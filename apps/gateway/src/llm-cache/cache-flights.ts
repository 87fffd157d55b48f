/**
 * Concurrent equal misses: the first caller goes to the upstream, the others wait for its answer. If it brings none,
 * each of them goes by itself; nobody waits twice. Whoever waits may leave without the others noticing.
 *
 * A first caller whose upstream hangs must not keep all that ask the same: they wait a moment for one that the upstream
 * has not begun to answer, and once somebody gave up or left, nobody else joins; the next caller goes for those after it.
 */
import type { CachedAnswer } from '#contracts';
import { type Deferred, deferred } from '#kernel';

/** Calls in flight that others may join; beyond it every call goes by itself. */
const FLIGHTS_MAX = 10_000;
/** A waiting caller goes by itself after this long: the first one's own client may read its answer slowly. */
const WAIT_MS_MAX = 20_000;
/** And after this long if the upstream has not sent the first one a byte; unstreamed, the first byte is the whole answer's. */
const SILENT_MS_MAX = 5_000;

export interface Landing {
  answer: CachedAnswer;
  cost_micro_usd: number | null;
  duration_ms: number;
}

/** For tests. */
export interface CacheFlightsOptions {
  waitMsMax?: number;
  /** Not above `waitMsMax`. */
  silentMsMax?: number;
}

interface Flight {
  readonly landed: Deferred<Landing | null>;
  readonly hasBegun: () => boolean;
}

export class CacheFlights {
  /** Those that may be joined. */
  readonly #flights = new Map<string, Flight>();
  readonly #waitMsMax: number;
  readonly #silentMsMax: number;

  constructor({ waitMsMax = WAIT_MS_MAX, silentMsMax = SILENT_MS_MAX }: CacheFlightsOptions = {}) {
    this.#waitMsMax = waitMsMax;
    this.#silentMsMax = silentMsMax;
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
      let timer = setTimeout(() => {
        if (flight.hasBegun()) timer = setTimeout(giveUp, this.#waitMsMax - this.#silentMsMax);
        else giveUp();
      }, this.#silentMsMax);
      void flight.landed.promise.then(settle);
      void gone.then(giveUp);
    });
  }

  /**
   * @param hasBegun the upstream has sent the caller a byte
   * @returns how to end it, with what others may have or null (the first word counts); undefined when too many are under way
   */
  begin(key: string, hasBegun: () => boolean): ((landing: Landing | null) => void) | undefined {
    if (this.#flights.size >= FLIGHTS_MAX || this.#flights.has(key)) return undefined;
    const flight: Flight = { landed: deferred<Landing | null>(), hasBegun };
    this.#flights.set(key, flight);
    return (landing) => {
      this.#close(key, flight);
      flight.landed.resolve(landing);
    };
  }

  /** Nobody joins it any more. Said twice, it must not close the flight of whoever came after. */
  #close(key: string, flight: Flight): void {
    if (this.#flights.get(key) === flight) this.#flights.delete(key);
  }
}
