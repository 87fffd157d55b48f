/**
 * Takes entries out of a Map in the order in which they came in. `map.keys().next()` would do, but walks over the hole
 * of every entry deleted since the table was last rebuilt: at 200,000 entries that is 35 us each time. One iterator that
 * is kept, and follows the Map through its changes as the language promises, takes half a microsecond at any size.
 *
 * Kept weakly: an iterator that is not moved on holds every table that the Map has had since, with all that was in them.
 */
export class OldestEntry<K, V> {
  readonly #map: Map<K, V>;
  #entries: WeakRef<Iterator<[K, V]>> | null = null;

  constructor(map: Map<K, V>) {
    this.#map = map;
  }

  /** Deletes the entry that has been there longest, and returns it; undefined for an empty map. Amortised O(1). */
  take(): [K, V] | undefined {
    let next = this.#entries?.deref()?.next();
    if (next === undefined || next.done) {
      // There was none yet, or it was collected, or it had reached the end once: one that is done stays done.
      const entries = this.#map.entries();
      this.#entries = new WeakRef(entries);
      next = entries.next();
      if (next.done) return undefined;
    }
    this.#map.delete(next.value[0]);
    return next.value;
  }
}
