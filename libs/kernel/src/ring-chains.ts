/**
 * Finds rows of a ring by a digest. Rows are numbered from 1 on and lie at their number modulo the size of the ring; each digest
 * has a bucket, and each bucket a chain, from its latest row back to where the ring has come round, so that nothing is ever taken
 * out of one. Grows with its rows until the ring is full.
 *
 *     for (let row = chains.latest(digest); chains.isKept(row); row = chains.before(row)) ...
 */
const ROWS_FIRST = 256;

export class RingChains {
  readonly #rowsMax: number;
  /** Of each bucket; 0: none. */
  #latest = new Float64Array(ROWS_FIRST);
  /** By place: the row that was the latest of its bucket before. */
  #before = new Float64Array(ROWS_FIRST);
  #digests = new Int32Array(ROWS_FIRST);
  #count = 0;
  /** The row that took the ring's first place last. */
  #lapRow = 0;

  /** @param rowsMax size of the ring */
  constructor(rowsMax: number) {
    this.#rowsMax = rowsMax;
  }

  /** Adds a row. @returns its number */
  add(digest: number): number {
    this.#count += 1;
    if (this.#count - this.#lapRow === this.#rowsMax) this.#lapRow = this.#count;
    const place = this.placeOf(this.#count);
    if (place >= this.#digests.length) this.#grow();
    this.#digests[place] = digest;
    this.#enter(this.#count, place, digest);
    return this.#count;
  }

  /** The latest row of the digest's bucket, which other digests may share; one that is not kept where there is none. */
  latest(digest: number): number {
    return this.#latest[digest & (this.#latest.length - 1)] as number;
  }

  /** The row before a kept one in its bucket; one that is not kept where there is none. */
  before(row: number): number {
    return this.#before[this.placeOf(row)] as number;
  }

  /** Of a kept row. */
  digestOf(row: number): number {
    return this.#digests[this.placeOf(row)] as number;
  }

  /** Its place is not another's by now. */
  isKept(row: number): boolean {
    return row > 0 && row > this.#count - this.#rowsMax;
  }

  /** Of a kept row: its number modulo the ring's size, without the division, which takes longest of all that is done here. */
  placeOf(row: number): number {
    const place = row - this.#lapRow;
    return place < 0 ? place + this.#rowsMax : place;
  }

  #enter(row: number, place: number, digest: number): void {
    const bucket = digest & (this.#latest.length - 1);
    this.#before[place] = this.#latest[bucket] as number;
    this.#latest[bucket] = row;
  }

  /** Happens before the ring has come round: a row's place is its number. */
  #grow(): void {
    const [digests, capacity] = [this.#digests, this.#digests.length * 2];
    this.#digests = new Int32Array(capacity);
    this.#digests.set(digests);
    this.#before = new Float64Array(capacity);
    this.#latest = new Float64Array(capacity);
    for (let row = 1; row < this.#count; row += 1) this.#enter(row, row, this.#digests[row] as number);
  }
}
