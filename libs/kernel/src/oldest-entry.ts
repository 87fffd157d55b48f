import { Round } from './round.js';

/**
 * Takes entries out of a Map in the order in which they came in. `map.keys().next()` would do, but at 200,000 entries it
 * takes 35 us each time; this takes half a microsecond at any size. @see Round
 */
export class OldestEntry<K, V> {
  readonly #map: Map<K, V>;
  readonly #round: Round<[K, V]>;

  constructor(map: Map<K, V>) {
    this.#map = map;
    this.#round = new Round(() => map.entries());
  }

  /** Deletes the entry that has been there longest, and returns it; undefined for an empty map. Amortised O(1). */
  take(): [K, V] | undefined {
    const oldest = this.#round.next();
    if (oldest !== undefined) this.#map.delete(oldest[0]);
    return oldest;
  }
}
