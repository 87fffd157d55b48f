/**
 * Vectors of one model and dimension, each with its owner, searched exactly: what a search finds is what comparing with
 * every one of them would find. Small sets are rows in JavaScript; past `ROWS_BYTES_MAX` they move to blocks of the
 * arena, and back when they have shrunk to half of it. Removing moves the last into the gap, wherever it lies.
 */
import type { Cosine } from '#contracts';
import { type BlockShape, blockShape, type VectorArena } from './vector-arena.js';
import { dot, toCosine } from './vector-math.js';
import { VectorRows } from './vector-rows.js';

/** Some 50 us of a search in JavaScript; what blocks leave empty is little beside it. */
const ROWS_BYTES_MAX = 524_288;

/** What a vector belongs to. The set keeps its slot up to date. */
export interface VectorOwner {
  slot: number;
}

export interface Candidate<Owner> {
  owner: Owner;
  cosine: Cosine;
}

export class VectorSet<Owner extends VectorOwner> {
  readonly dimension: number;
  readonly #arena: VectorArena | null;
  readonly #shape: BlockShape | null;
  readonly #owners: Owner[] = [];
  #rows: VectorRows | null;
  /** Of the arena, while there are no rows; all but the last of each are full. */
  #rowBlocks: number[] = [];
  #sketchBlocks: number[] = [];
  /** Rises when the arena had no room, so that not every addition asks again. */
  #moveAboveBytes = ROWS_BYTES_MAX;

  /** @param arena null: all sets are rows */
  constructor(dimension: number, arena: VectorArena | null) {
    this.dimension = dimension;
    this.#arena = arena;
    this.#shape = arena === null ? null : blockShape(dimension);
    this.#rows = new VectorRows(dimension);
  }

  get count(): number {
    return this.#owners.length;
  }

  /** Blocks it has of the arena. */
  get blockCount(): number {
    return this.#rowBlocks.length + this.#sketchBlocks.length;
  }

  /** @param values copied */
  add(owner: Owner, values: Float32Array): void {
    owner.slot = this.#owners.length;
    this.#owners.push(owner);
    if (this.#rows !== null) {
      this.#rows.push(values);
      if (this.#bytes > this.#moveAboveBytes) this.#moveToBlocks();
    } else if (!this.#writeToBlocks(owner.slot, values)) {
      this.#moveToRows(owner.slot);
      (this.#rows as VectorRows | null)?.push(values);
      this.#moveAboveBytes = 2 * this.#bytes;
    }
  }

  remove(owner: Owner): void {
    const { slot } = owner;
    const last = this.#owners.pop();
    if (last === undefined) return;
    if (last !== owner) {
      this.#owners[slot] = last;
      last.slot = slot;
    }
    if (this.#rows !== null) {
      this.#rows.remove(slot);
      return;
    }
    const [arena, shape] = [this.#arena as VectorArena, this.#shape as BlockShape];
    const { rowSlots, sketchSlots } = shape;
    const end = this.#owners.length;
    if (slot !== end) {
      arena.copyRow(shape, this.#rowAddress(end), this.#rowAddress(slot));
      const [from, to] = [this.#sketchBlockOf(end), this.#sketchBlockOf(slot)];
      arena.copySketch(shape, from, end % sketchSlots, to, slot % sketchSlots);
    }
    if (end % rowSlots === 0) arena.giveBack(this.#rowBlocks.pop() as number);
    if (end % sketchSlots === 0) arena.giveBack(this.#sketchBlocks.pop() as number);
    if (this.#bytes <= ROWS_BYTES_MAX / 2) this.#moveToRows(end);
  }

  /** Gives its blocks back; the set is empty then. */
  clear(): void {
    this.#giveBlocksBack();
    this.#owners.length = 0;
    this.#rows = new VectorRows(this.dimension);
  }

  /**
   * @param query unit length
   * @param lowest inclusive
   * @param countMax most to find
   * @param isUsable asked of those at or above `lowest` only
   * @returns the nearest, nearest first; of equals, those found first
   */
  search(
    query: Float32Array,
    lowest: number,
    countMax: number,
    isUsable: (owner: Owner) => boolean,
  ): Candidate<Owner>[] {
    const found: Candidate<Owner>[] = [];
    /** Rises once there are enough: only what is nearer than the last of them is of interest. */
    let bar = lowest;
    const offer = (slot: number, product: number): void => {
      if (product < bar || (found.length === countMax && product <= bar)) return;
      const owner = this.#owners[slot] as Owner;
      if (!isUsable(owner)) return;
      let at = found.length;
      while (at > 0 && (found[at - 1] as Candidate<Owner>).cosine < product) at -= 1;
      found.splice(at, 0, { owner, cosine: product as Cosine });
      if (found.length > countMax) found.pop();
      if (found.length === countMax) bar = (found[countMax - 1] as Candidate<Owner>).cosine;
    };
    if (this.#rows !== null)
      for (let slot = 0; slot < this.#rows.count; slot += 1) offer(slot, this.#rows.product(slot, query));
    else this.#searchBlocks(query, () => bar, offer);
    for (const one of found) one.cosine = toCosine(one.cosine);
    return found;
  }

  #searchBlocks(
    query: Float32Array,
    bar: () => number,
    offer: (slot: number, product: number) => void,
  ): void {
    const [arena, shape] = [this.#arena as VectorArena, this.#shape as BlockShape];
    arena.setQuery(shape, query);
    const end = this.#owners.length;
    let first = 0;
    const rowOf = (slot: number): number => this.#rowAddress(first + slot);
    for (const block of this.#sketchBlocks) {
      const survivors = arena.scan(shape, block, Math.min(shape.sketchSlots, end - first), bar(), rowOf);
      for (let nth = 0; nth < survivors; nth += 1) {
        const slot = first + arena.survivor(nth);
        offer(slot, dot(query, arena.row(shape, this.#rowAddress(slot))));
      }
      first += shape.sketchSlots;
    }
  }

  get #bytes(): number {
    return 4 * this.dimension * this.#owners.length;
  }

  #rowAddress(slot: number): number {
    const { rowSlots, rowBytes } = this.#shape as BlockShape;
    const index = Math.floor(slot / rowSlots);
    return (this.#rowBlocks[index] as number) + (slot - index * rowSlots) * rowBytes;
  }

  #sketchBlockOf(slot: number): number {
    return this.#sketchBlocks[Math.floor(slot / (this.#shape as BlockShape).sketchSlots)] as number;
  }

  /** False when the arena has no room for it. */
  #writeToBlocks(slot: number, values: Float32Array): boolean {
    const [arena, shape] = [this.#arena as VectorArena, this.#shape as BlockShape];
    const { rowSlots, sketchSlots } = shape;
    if (slot === this.#rowBlocks.length * rowSlots && !this.#takeBlock(this.#rowBlocks)) return false;
    if (slot === this.#sketchBlocks.length * sketchSlots && !this.#takeBlock(this.#sketchBlocks))
      return false;
    arena.writeRow(shape, this.#rowAddress(slot), values);
    arena.writeSketch(shape, this.#sketchBlockOf(slot), slot % sketchSlots, values);
    return true;
  }

  #takeBlock(blocks: number[]): boolean {
    const block = (this.#arena as VectorArena).take();
    if (block !== null) blocks.push(block);
    return block !== null;
  }

  #giveBlocksBack(): void {
    for (const block of [...this.#rowBlocks, ...this.#sketchBlocks]) this.#arena?.giveBack(block);
    this.#rowBlocks = [];
    this.#sketchBlocks = [];
  }

  #moveToBlocks(): void {
    const rows = this.#rows as VectorRows;
    if (this.#shape === null) return;
    for (let slot = 0; slot < rows.count; slot += 1) {
      if (this.#writeToBlocks(slot, rows.row(slot))) continue;
      this.#giveBlocksBack();
      this.#moveAboveBytes = 2 * this.#bytes;
      return;
    }
    this.#rows = null;
  }

  #moveToRows(count: number): void {
    const [arena, shape] = [this.#arena as VectorArena, this.#shape as BlockShape];
    const rows = new VectorRows(this.dimension);
    for (let slot = 0; slot < count; slot += 1) rows.push(arena.row(shape, this.#rowAddress(slot)));
    this.#giveBlocksBack();
    this.#rows = rows;
  }
}
