/** The vectors of a small set, one after another. The usual set has one to fifty: a few microseconds in JavaScript. */
import { dot } from './vector-math.js';

/** Share by which the rows grow. */
const GROWTH_SHARE = 1 / 4;

export class VectorRows {
  readonly #dimension: number;
  #rows: Float32Array;
  #count = 0;

  constructor(dimension: number) {
    this.#dimension = dimension;
    this.#rows = new Float32Array(0);
  }

  get count(): number {
    return this.#count;
  }

  push(values: Float32Array): void {
    const need = (this.#count + 1) * this.#dimension;
    if (need > this.#rows.length) {
      const rows = new Float32Array(need + Math.floor(this.#count * GROWTH_SHARE) * this.#dimension);
      rows.set(this.#rows.subarray(0, this.#count * this.#dimension));
      this.#rows = rows;
    }
    this.#rows.set(values, this.#count * this.#dimension);
    this.#count += 1;
  }

  /** The last one moves to its place. */
  remove(slot: number): void {
    this.#count -= 1;
    const from = this.#count * this.#dimension;
    this.#rows.copyWithin(slot * this.#dimension, from, from + this.#dimension);
    // Half of it empty: let go.
    if (2 * this.#count * this.#dimension < this.#rows.length)
      this.#rows = this.#rows.slice(0, this.#count * this.#dimension);
  }

  /** In place: good until the next change. */
  row(slot: number): Float32Array {
    return this.#rows.subarray(slot * this.#dimension, (slot + 1) * this.#dimension);
  }

  /** Of a vector and the query. */
  product(slot: number, query: Float32Array): number {
    return dot(query, this.#rows, slot * this.#dimension);
  }
}
