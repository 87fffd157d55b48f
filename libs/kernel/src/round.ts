/**
 * Goes round the members of a Map or Set, one at a time, through whatever comes and goes meanwhile: the place is an iterator
 * that is kept, for which a new one would walk over the hole of every member deleted since the table was last rebuilt.
 *
 * Kept weakly: an iterator that is not moved on holds every table there has been since, with all that was in them. Once it
 * was collected the round begins anew.
 */
export class Round<T> {
  readonly #begin: () => Iterator<T>;
  #place: WeakRef<Iterator<T>> | null = null;

  /** @param begin with the member that has been there longest */
  constructor(begin: () => Iterator<T>) {
    this.#begin = begin;
  }

  /** Begins anew after the last; undefined: there is none. Amortised O(1). */
  next(): T | undefined {
    let next = this.#place?.deref()?.next();
    // One that is done stays done.
    if (next === undefined || next.done) {
      const place = this.#begin();
      this.#place = new WeakRef(place);
      next = place.next();
    }
    return next.done ? undefined : next.value;
  }
}
