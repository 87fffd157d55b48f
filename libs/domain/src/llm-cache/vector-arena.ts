/**
 * Where the vectors of large sets lie: in the memory of one WebAssembly program, which alone can compare several numbers
 * at a time. Blocks are all of one size, so that any of them serves any set, and what one set gives back another takes.
 * The memory grows with need and does not shrink; the cache's byte bound is its bound.
 */
import {
  BLOCK_BYTES,
  PART_BYTES,
  PART_NUMBERS,
  PROGRAM_LAYOUT,
  QUERY_SKETCH_MAX,
  SKETCH_MAX,
  SKETCH_STEP,
  startVectorProgram,
  type VectorProgram,
} from './vector-program.js';

/** Share by which the memory grows, so that growing is rare and little lies idle. */
const GROWTH_SHARE = 1 / 8;
const PAGES_MAX = 65_536;
/** Of a vector's numbers in its sketch: enough to give up what is no nearer than a cosine of about 0.6. */
const SKETCH_SHARE = 1 / 4;
/** A Float32 holds 24 bits. */
const ROUNDING = 2 ** -24;
/** Of the sketch of a unit vector: rounding each number by half a step cannot make it twice as long. */
const SKETCH_LENGTH_MAX = 2;

/** How the vectors of one dimension lie in blocks. */
export interface BlockShape {
  dimension: number;
  sketchNumbers: number;
  /** Sketches in a block. */
  sketchSlots: number;
  parts: number;
  rowBytes: number;
  /** Rows in a block. */
  rowSlots: number;
}

/** Null: a row does not fit a block. */
export function blockShape(dimension: number): BlockShape | null {
  const steps = Math.max(1, Math.round((dimension * SKETCH_SHARE) / SKETCH_STEP));
  const sketchNumbers = steps * SKETCH_STEP;
  const parts = Math.ceil(dimension / PART_NUMBERS);
  const rowBytes = parts * (PART_BYTES + 4);
  const rowSlots = Math.floor(BLOCK_BYTES / rowBytes);
  const sketchSlots = Math.floor(BLOCK_BYTES / (sketchNumbers + 3 * 4));
  return rowSlots === 0 ? null : { dimension, sketchNumbers, sketchSlots, parts, rowBytes, rowSlots };
}

/**
 * Most that a bound as the program computes it may lie below the true one. Each rounding changes a sum of at most 1 by
 * half a unit in its last place, and a term goes through fewer of them than are counted here.
 */
const roundingSlack = ({ parts }: BlockShape): number =>
  2 * ROUNDING * (parts * (PART_NUMBERS / 16 + 8) + 32);

export class VectorArena {
  readonly #program: VectorProgram;
  /** Addresses of blocks that nobody uses. */
  readonly #free: number[] = [];
  #numbers: Float32Array;
  #ints: Int32Array;
  #bytes: Int8Array;
  /** Of the query that is set. */
  #query = { scale: 0, off: 0, length: 0, tail: 0 };

  private constructor(program: VectorProgram) {
    const { buffer } = program.memory;
    this.#program = program;
    this.#numbers = new Float32Array(buffer);
    this.#ints = new Int32Array(buffer);
    this.#bytes = new Int8Array(buffer);
  }

  /** Null where the engine has no SIMD. */
  static start(): VectorArena | null {
    const program = startVectorProgram();
    return program === null ? null : new VectorArena(program);
  }

  get freeBlockCount(): number {
    return this.#free.length;
  }

  /** @returns its address; null: no more memory is to be had */
  take(): number | null {
    const free = this.#free.pop();
    if (free !== undefined) return free;
    const { memory } = this.#program;
    const pages = memory.buffer.byteLength / BLOCK_BYTES;
    const more = Math.min(Math.max(1, Math.floor(pages * GROWTH_SHARE)), PAGES_MAX - pages);
    try {
      if (more < 1) return null;
      memory.grow(more);
    } catch {
      return null;
    }
    this.#numbers = new Float32Array(memory.buffer);
    this.#ints = new Int32Array(memory.buffer);
    this.#bytes = new Int8Array(memory.buffer);
    for (let page = pages + more - 1; page > pages; page -= 1) this.#free.push(page * BLOCK_BYTES);
    return pages * BLOCK_BYTES;
  }

  giveBack(block: number): void {
    this.#free.push(block);
  }

  writeSketch(shape: BlockShape, block: number, slot: number, values: Float32Array): void {
    const { sketchNumbers, sketchSlots } = shape;
    const at = block + slot * sketchNumbers;
    const { scale, off, tail } = sketch(values, sketchNumbers, SKETCH_MAX, this.#bytes, at);
    const behind = (block + sketchSlots * sketchNumbers) / 4 + slot;
    this.#numbers[behind] = scale;
    this.#numbers[behind + sketchSlots] = off;
    this.#numbers[behind + 2 * sketchSlots] = tail;
  }

  copySketch(shape: BlockShape, from: number, fromSlot: number, to: number, toSlot: number): void {
    const { sketchNumbers, sketchSlots } = shape;
    const source = from + fromSlot * sketchNumbers;
    this.#bytes.copyWithin(to + toSlot * sketchNumbers, source, source + sketchNumbers);
    for (let row = 0; row < 3; row += 1) {
      const behind = (sketchSlots * sketchNumbers) / 4 + row * sketchSlots;
      this.#numbers[to / 4 + behind + toSlot] = this.#numbers[from / 4 + behind + fromSlot] as number;
    }
  }

  /** @param address of the row */
  writeRow({ dimension, parts }: BlockShape, address: number, values: Float32Array): void {
    this.#writeParts(address / 4, address / 4 + parts * PART_NUMBERS, dimension, parts, values);
  }

  copyRow({ rowBytes }: BlockShape, from: number, to: number): void {
    this.#bytes.copyWithin(to, from, from + rowBytes);
  }

  /** The numbers of a row, in place: good until the memory grows. */
  row({ dimension }: BlockShape, address: number): Float32Array {
    return this.#numbers.subarray(address / 4, address / 4 + dimension);
  }

  /** For the scans that follow, until another query is set. */
  setQuery({ dimension, parts, sketchNumbers }: BlockShape, query: Float32Array): void {
    const { query: at, queryTails, querySketch } = PROGRAM_LAYOUT;
    this.#writeParts(at / 4, queryTails / 4, dimension, parts, query);
    const words = new Int16Array(this.#numbers.buffer);
    const made = sketch(query, sketchNumbers, QUERY_SKETCH_MAX, words, querySketch / 2);
    let squares = 0;
    for (let index = 0; index < Math.min(sketchNumbers, dimension); index += 1)
      squares += (query[index] as number) ** 2;
    this.#query = { ...made, length: roundedUp(squares) };
  }

  /**
   * Slots of a block of sketches whose product with the query may be at least `bar`; all whose product is, are among
   * them. `survivor(n)` names them, until the next scan.
   * @param count sketches in it
   * @param rowOf address of a slot's row
   * @returns how many
   */
  scan(
    shape: BlockShape,
    block: number,
    count: number,
    bar: number,
    rowOf: (slot: number) => number,
  ): number {
    const { scale, off, length, tail } = this.#query;
    const { sketchNumbers, sketchSlots, parts } = shape;
    const lowered = bar - roundingSlack(shape);
    const sketchBar = lowered - SKETCH_LENGTH_MAX * off;
    const steps = sketchNumbers / SKETCH_STEP;
    const left = this.#program.sketch(block, count, sketchSlots, steps, scale, length, tail, sketchBar);
    if (left === 0) return 0;
    const ints = this.#ints;
    for (let at = PROGRAM_LAYOUT.survivors / 4, end = at + 2 * left; at < end; at += 2)
      ints[at + 1] = rowOf(ints[at] as number);
    return this.#program.scan(left, parts, lowered);
  }

  survivor(nth: number): number {
    return this.#ints[PROGRAM_LAYOUT.survivors / 4 + 2 * nth] as number;
  }

  /** Numbers, filled up to whole parts with zeros, and their length behind each part. @param at, tails indices of Float32 */
  #writeParts(at: number, tails: number, dimension: number, parts: number, values: Float32Array): void {
    const numbers = this.#numbers;
    numbers.set(values, at);
    numbers.fill(0, at + dimension, at + parts * PART_NUMBERS);
    let behind = 0;
    for (let part = parts - 1; part >= 0; part -= 1) {
      numbers[tails + part] = roundedUp(behind);
      for (let index = part * PART_NUMBERS; index < (part + 1) * PART_NUMBERS; index += 1)
        behind += (numbers[at + index] as number) ** 2;
    }
  }
}

/** The length that belongs to a sum of squares. A bound must not come out too short. */
const roundedUp = (squares: number): number => Math.fround(Math.sqrt(squares) * (1 + 2 * ROUNDING));

/**
 * Writes the first numbers as whole multiples of a scale.
 * @returns the scale; `off`: the length of what rounding left out; `tail`: of the numbers behind the sketch
 */
function sketch(
  values: Float32Array,
  count: number,
  largest: number,
  into: Int8Array | Int16Array,
  at: number,
): { scale: number; off: number; tail: number } {
  const end = Math.min(count, values.length);
  let top = 0;
  for (let index = 0; index < end; index += 1) top = Math.max(top, Math.abs(values[index] as number));
  const scale = Math.fround(top / largest);
  let [left, behind] = [0, 0];
  for (let index = 0; index < count; index += 1) {
    const value = index < end ? (values[index] as number) : 0;
    const steps = scale === 0 ? 0 : Math.max(-largest, Math.min(largest, Math.round(value / scale)));
    into[at + index] = steps;
    left += (value - steps * scale) ** 2;
  }
  for (let index = end; index < values.length; index += 1) behind += (values[index] as number) ** 2;
  return { scale, off: roundedUp(left), tail: roundedUp(behind) };
}
