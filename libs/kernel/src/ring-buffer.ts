/**
 * Fixed-capacity queue: O(1) append, and the oldest element leaves when it is full.
 *
 *     capacity 3:  push a b c  ->  [a b c]     push d  ->  [b c d]   (returns a)
 *
 * Does no allocation after construction except in `toArray`.
 */
export class RingBuffer<T> {
  readonly #slots: (T | undefined)[];
  /** Slot of the oldest element; meaningful only while `#size > 0`. */
  #head = 0;
  #size = 0;

  /** @param capacity at least 1 */
  constructor(capacity: number) {
    if (!Number.isInteger(capacity) || capacity < 1) {
      throw new RangeError(`ring buffer capacity must be a positive integer, got ${capacity}`);
    }
    this.#slots = new Array<T | undefined>(capacity).fill(undefined);
  }

  get size(): number {
    return this.#size;
  }

  /** Appends, and returns the element that had to leave, if any. O(1). */
  push(value: T): T | undefined {
    const capacity = this.#slots.length;
    if (this.#size < capacity) {
      this.#slots[(this.#head + this.#size) % capacity] = value;
      this.#size += 1;
      return undefined;
    }
    const evicted = this.#slots[this.#head];
    this.#slots[this.#head] = value;
    this.#head = (this.#head + 1) % capacity;
    return evicted;
  }

  /** Takes the oldest element out; `undefined` when there is none. O(1). */
  shift(): T | undefined {
    if (this.#size === 0) return undefined;
    const oldest = this.#slots[this.#head];
    this.#slots[this.#head] = undefined;
    this.#head = (this.#head + 1) % this.#slots.length;
    this.#size -= 1;
    return oldest;
  }

  /** Element at `index`, 0 being the oldest; `undefined` outside the buffer. O(1). */
  at(index: number): T | undefined {
    if (index < 0 || index >= this.#size) return undefined;
    return this.#slots[(this.#head + index) % this.#slots.length];
  }

  /** Oldest first. */
  toArray(): T[] {
    return Array.from(this);
  }

  *[Symbol.iterator](): IterableIterator<T> {
    for (let index = 0; index < this.#size; index += 1) yield this.at(index) as T;
  }
}
