/**
 * Items by an amount that changes, the largest of them at hand, of equal ones that which came first: a binary heap that knows
 * where each item stands in it.
 */

interface Place<Item> {
  readonly item: Item;
  /** Ascending as they come. */
  readonly arrival: number;
  amount: number;
  /** Its place in the heap. */
  at: number;
}

const isAhead = (one: Place<unknown>, another: Place<unknown>): boolean =>
  one.amount > another.amount || (one.amount === another.amount && one.arrival < another.arrival);

export class LargestFirst<Item> {
  readonly #places = new Map<Item, Place<Item>>();
  #arrivalCount = 0;
  /** None is ahead of its parent; the children of the one at `n` are at `2n + 1` and `2n + 2`. */
  readonly #heap: Place<Item>[] = [];

  /** 0: it is not among them. O(1). */
  amountOf(item: Item): number {
    return this.#places.get(item)?.amount ?? 0;
  }

  /** Of all but `other`; undefined: there is none. O(1). */
  largest(other?: Item): Item | undefined {
    const [first] = this.#heap;
    return first?.item === other ? this.#childAhead(0)?.item : first?.item;
  }

  /** Adds it where it is not among them; at 0 it leaves. O(log n). */
  set(item: Item, amount: number): void {
    const place = this.#places.get(item);
    if (place?.amount === amount) return;
    if (amount === 0) this.#remove(place);
    else if (place === undefined) this.#add(item, amount);
    else this.#settle(Object.assign(place, { amount }));
  }

  clear(): void {
    this.#places.clear();
    this.#heap.length = 0;
  }

  #add(item: Item, amount: number): void {
    this.#arrivalCount += 1;
    const place = { item, arrival: this.#arrivalCount, amount, at: this.#heap.length };
    this.#places.set(item, place);
    this.#heap.push(place);
    this.#settle(place);
  }

  #remove(place: Place<Item> | undefined): void {
    const last = this.#heap.at(-1);
    if (place === undefined || last === undefined) return;
    this.#places.delete(place.item);
    this.#swap(place, last);
    this.#heap.pop();
    if (last !== place) this.#settle(last);
  }

  #settle(place: Place<Item>): void {
    const parent = this.#heap[(place.at - 1) >> 1];
    const child = this.#childAhead(place.at);
    if (parent !== undefined && isAhead(place, parent)) this.#swap(place, parent);
    else if (child !== undefined && isAhead(child, place)) this.#swap(place, child);
    else return;
    this.#settle(place);
  }

  #childAhead(at: number): Place<Item> | undefined {
    const left = this.#heap[2 * at + 1];
    const right = this.#heap[2 * at + 2];
    return left && right && isAhead(right, left) ? right : left;
  }

  #swap(one: Place<Item>, another: Place<Item>): void {
    const { at } = one;
    one.at = another.at;
    another.at = at;
    this.#heap[one.at] = one;
    this.#heap[another.at] = another;
  }
}
