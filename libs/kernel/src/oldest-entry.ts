/**
 * Takes entries out of a Map in the order in which they came in. `map.keys().next()` would do, but walks over the hole
 * of every entry deleted since the table was last rebuilt: at 200,000 entries that is 35 us each time. One iterator that
 * is kept, and follows the Map through its changes as the language promises, takes half a microsecond at any size.
 */
export class OldestEntry<K, V> {
  readonly #map: Map<K, V>;
  #entries: Iterator<[K, V]>;

  constructor(map: Map<K, V>) {
    this.#map = map;
    this.#entries = map.entries();
  }

  /** Deletes the entry that has been there longest, and returns it; undefined for an empty map. Amortised O(1). */
  take(): [K, V] | undefined {
    let next = this.#entries.next();
    if (next.done) {
      // It had reached the end once, and an iterator that is done stays done.
      this.#entries = this.#map.entries();
      next = this.#entries.next();
      if (next.done) return undefined;
    }
    this.#map.delete(next.value[0]);
    return next.value;
  }
}
