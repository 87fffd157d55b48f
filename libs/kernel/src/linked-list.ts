/**
 * Values in the order in which they came, each taken out by its link in O(1). For what comes and goes with every request: a
 * Set or a Map whose members change all the time moves to a new table again and again, and the old ones point at each other
 * and at members of then, which are no longer collected young as soon as one of them has grown old (decision 0019). A link that
 * was taken out points at nothing.
 */
export interface Link<T> {
  readonly value: T;
}

interface ListLink<T> extends Link<T> {
  older: ListLink<T> | null;
  newer: ListLink<T> | null;
  isIn: boolean;
}

export class LinkedList<T> implements Iterable<T> {
  #oldest: ListLink<T> | null = null;
  #newest: ListLink<T> | null = null;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  get oldest(): Link<T> | null {
    return this.#oldest;
  }

  /** As the newest. */
  add(value: T): Link<T> {
    const link: ListLink<T> = { value, older: this.#newest, newer: null, isIn: true };
    if (this.#newest === null) this.#oldest = link;
    else this.#newest.newer = link;
    this.#newest = link;
    this.#size += 1;
    return link;
  }

  /** @param taken of this list. Nothing happens to one that was taken out before. */
  delete(taken: Link<T>): void {
    const link = taken as ListLink<T>;
    if (!link.isIn) return;
    link.isIn = false;
    if (link.older === null) this.#oldest = link.newer;
    else link.older.newer = link.newer;
    if (link.newer === null) this.#newest = link.older;
    else link.newer.older = link.older;
    link.older = null;
    link.newer = null;
    this.#size -= 1;
  }

  /** Oldest first, those that are in when it begins; each may be taken out meanwhile. */
  *[Symbol.iterator](): Iterator<T> {
    const links: ListLink<T>[] = [];
    for (let link = this.#oldest; link !== null; link = link.newer) links.push(link);
    for (const link of links) if (link.isIn) yield link.value;
  }
}
