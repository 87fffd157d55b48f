/**
 * The inner loops of the search over many vectors, as a WebAssembly program: they compare four to eight numbers at a
 * time, and give a vector up as soon as it is certain that it cannot reach the bar. First all *sketches* are looked at
 * (the first quarter of a vector's numbers, at eight bits, one vector after another, in blocks of their own), and then,
 * of what is left, the *rows*, 64 numbers at a time.
 *
 * Why no match is lost (Cauchy and Schwarz): with q = (a, b) and v = (c, d) cut at any place, q.v = a.c + b.d is at most
 * a.c + |b||d|; and with a', c' for what the sketches hold of a and c, a.c is at most a'.c' + |a - a'||c'| + |a||c - c'|.
 * Lengths and differences are kept beside the numbers. Whatever is dropped lies below the bar by these bounds. Rounding
 * is on the safe side because the caller lowers the bar by a slack and computes what survives once more, exactly.
 */

/** Numbers of a row between two looks at its bound. */
export const PART_NUMBERS = 64;
export const PART_BYTES = 4 * PART_NUMBERS;
/** Numbers of a sketch come in such steps. */
export const SKETCH_STEP = 32;
/** Largest number in a sketch, and of the query beside it: 2,048 products stay below 2^31. */
export const SKETCH_MAX = 127;
export const QUERY_SKETCH_MAX = 8_191;
/** One page of a program's memory. */
export const BLOCK_BYTES = 65_536;
/** Of a survivor: its place in the block of sketches, and the address of its row, which the caller fills in. */
const SURVIVOR_BYTES = 8;

/** Pages ahead of the blocks. */
export const PROGRAM_PAGES = 3;
export const PROGRAM_LAYOUT = {
  /** Of the query, Float32: its numbers, filled up to whole parts with zeros. */
  query: 0,
  /** Float32: its length behind each part. */
  queryTails: BLOCK_BYTES,
  /** Int16: its sketch. */
  querySketch: BLOCK_BYTES + 4_096,
  survivors: 2 * BLOCK_BYTES,
} as const;

/** The parts of the engine's global that are used here; they are in no library of ours. */
declare const WebAssembly: {
  Module: new (bytes: Uint8Array) => object;
  Instance: new (module: object) => { exports: VectorProgram };
};

export interface VectorProgram {
  memory: { buffer: ArrayBuffer; grow(pages: number): number };
  /**
   * Looks at the sketches of a block and leaves those whose bound is at least `bar`.
   * @param block address of the first sketch; behind the last lie, Float32 each, their scales, how far off they are,
   *   and the lengths of what is behind them
   * @param count sketches in it
   * @param slots sketches it has room for
   * @param scale of the query's sketch
   * @param length of the part of the query that has a sketch; `tail` of the rest
   * @returns how many survived; they lie at `PROGRAM_LAYOUT.survivors`, in their order
   */
  sketch(
    block: number,
    count: number,
    slots: number,
    steps: number,
    scale: number,
    length: number,
    tail: number,
    bar: number,
  ): number;
  /**
   * Looks at the rows of the survivors: their numbers, then their lengths behind each part.
   * @param count survivors so far
   * @returns how many are left
   */
  scan(count: number, parts: number, bar: number): number;
}

/** Null where the engine has no SIMD: then searches run in JavaScript. */
export function startVectorProgram(): VectorProgram | null {
  try {
    return new WebAssembly.Instance(new WebAssembly.Module(writeModule())).exports;
  } catch {
    return null;
  }
}

// What follows writes the module: a stack machine's instructions in order, by their codes in the specification.
// https://webassembly.github.io/spec/core/binary/instructions.html

type Code = readonly number[];

const I32 = 0x7f;
const F32 = 0x7d;
const V128 = 0x7b;

const unsigned = (value: number): number[] =>
  value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...unsigned(value >>> 7)];
const signed = (value: number): number[] =>
  value >= -64 && value < 64 ? [value & 0x7f] : [(value & 0x7f) | 0x80, ...signed(value >> 7)];
const list = (items: readonly Code[]): number[] => [...unsigned(items.length), ...items.flat()];
const section = (id: number, items: readonly Code[]): number[] => {
  const content = list(items);
  return [id, ...unsigned(content.length), ...content];
};
const text = (value: string): number[] => list([...Buffer.from(value)].map((byte) => [byte]));

const get = (local: number): Code => [0x20, local];
const set = (local: number): Code => [0x21, local];
const int = (value: number): Code => [0x41, ...signed(value)];
const op = {
  loop: [0x03, 0x40],
  block: [0x02, 0x40],
  when: [0x04, 0x40],
  end: [0x0b],
  again: [0x0c, 0],
  againIf: [0x0d, 0],
  leaveIf: [0x0d, 1],
  isZero: [0x45],
  less: [0x49],
  add: [0x6a],
  multiply: [0x6c],
  toF32: [0xb2],
  atLeastF32: [0x60],
  addF32: [0x92],
  multiplyF32: [0x94],
  addF32x4: [0xfd, 0xe4, 0x01],
  multiplyF32x4: [0xfd, 0xe6, 0x01],
  addI32x4: [0xfd, 0xae, 0x01],
  /** Eight products of Int16, neighbours added. */
  dotI16x8: [0xfd, 0xba, 0x01],
} as const;
const loadInt = (offset = 0): Code => [0x28, 2, ...unsigned(offset)];
const storeInt = (offset = 0): Code => [0x36, 2, ...unsigned(offset)];
const loadF32 = (offset = 0): Code => [0x2a, 2, ...unsigned(offset)];
const load16Bytes = (offset = 0): Code => [0xfd, 0x00, 2, ...unsigned(offset)];
/** Eight Int8 as Int16. */
const loadI8x8 = (offset = 0): Code => [0xfd, 0x01, 2, ...unsigned(offset)];
const noF32: Code = [0x43, 0, 0, 0, 0];
const zeros: Code = [0xfd, 0x0c, ...new Array<number>(16).fill(0)];
const laneF32 = (index: number): Code => [0xfd, 0x1f, index];
const laneI32 = (index: number): Code => [0xfd, 0x1b, index];
const advance = (local: number, by: Code): Code => [...get(local), ...by, ...op.add, ...set(local)];
/** `index` * `bytes` behind an address that is on the stack. */
const behind = (index: number, bytes: Code): Code => [...get(index), ...bytes, ...op.multiply, ...op.add];
/** Runs until `at` has met `end`. */
const until = (at: number, end: number, ...body: Code[]): Code => [
  ...[...op.block, ...op.loop, ...get(at), ...get(end), ...op.less, ...op.isZero, ...op.leaveIf],
  ...body.flat(),
  ...[...op.again, ...op.end, ...op.end],
];

interface Written {
  parameters: number[];
  locals: [count: number, type: number][];
  body: Code;
}

function writeSketch(): Written {
  const [block, count, slots, steps, scale, length, tail, bar] = [0, 1, 2, 3, 4, 5, 6, 7];
  const [place, row, query, step, scales, offs, tails, to, kept] = [8, 9, 10, 11, 12, 13, 14, 15, 16];
  const sums = [17, 18];
  const eights = Array.from({ length: SKETCH_STEP / 8 }, (_, eight): Code => {
    const sum = sums[eight % sums.length] as number;
    const products = [...get(row), ...loadI8x8(8 * eight), ...get(query), ...load16Bytes(16 * eight)];
    return [...products, ...op.dotI16x8, ...get(sum), ...op.addI32x4, ...set(sum)];
  }).flat();
  const [total, other] = sums as [number, number];
  const addLanes = [1, 2, 3].flatMap((index) => [...get(total), ...laneI32(index), ...op.add]);
  const ofPlace = (address: number): Code => [...get(address), ...behind(place, int(4)), ...loadF32()];
  return {
    parameters: [I32, I32, I32, I32, F32, F32, F32, F32],
    locals: [
      [9, I32],
      [2, V128],
    ],
    body: [
      ...[...get(steps), ...int(SKETCH_STEP), ...op.multiply, ...get(slots), ...op.multiply],
      ...[...get(block), ...op.add, ...set(scales)],
      ...[...get(scales), ...behind(slots, int(4)), ...set(offs)],
      ...[...get(offs), ...behind(slots, int(4)), ...set(tails)],
      ...[...get(block), ...set(row), ...int(PROGRAM_LAYOUT.survivors), ...set(to)],
      ...until(
        place,
        count,
        [...int(PROGRAM_LAYOUT.querySketch), ...set(query), ...get(steps), ...set(step)],
        sums.flatMap((sum) => [...zeros, ...set(sum)]),
        [...op.loop, ...eights, ...advance(row, int(SKETCH_STEP)), ...advance(query, int(2 * SKETCH_STEP))],
        [...advance(step, int(-1)), ...get(step), ...op.againIf, ...op.end],
        [...get(total), ...get(other), ...op.addI32x4, ...set(total)],
        // scale * scale of it * products + |query| * how far off + |rest of query| * |rest| >= bar
        [...get(total), ...laneI32(0), ...addLanes, ...op.toF32, ...get(scale), ...op.multiplyF32],
        [...ofPlace(scales), ...op.multiplyF32],
        [...get(length), ...ofPlace(offs), ...op.multiplyF32, ...op.addF32],
        [...get(tail), ...ofPlace(tails), ...op.multiplyF32, ...op.addF32],
        [...get(bar), ...op.atLeastF32, ...op.when],
        [...get(to), ...get(place), ...storeInt()],
        [...advance(to, int(SURVIVOR_BYTES)), ...advance(kept, int(1))],
        [...op.end, ...advance(place, int(1))],
      ),
      ...get(kept),
    ],
  };
}

function writeScan(): Written {
  const [count, parts, bar] = [0, 1, 2];
  const [part, query, queryTail, from, to, last, kept, row, tails] = [3, 4, 5, 6, 7, 8, 9, 10, 11];
  const sum = 12;
  const sums = [13, 14, 15, 16];
  const products = Array.from({ length: PART_NUMBERS / 4 }, (_, step): Code => {
    const into = sums[step % sums.length] as number;
    const product = [...get(row), ...load16Bytes(16 * step), ...get(query), ...load16Bytes(16 * step)];
    const added = step < sums.length ? [] : [...get(into), ...op.addF32x4];
    return [...product, ...op.multiplyF32x4, ...added, ...set(into)];
  }).flat();
  const total = sums[0] as number;
  const fold = sums.slice(1).flatMap((one) => [...get(total), ...get(one), ...op.addF32x4, ...set(total)]);
  const addLanes = [0, 1, 2, 3].flatMap((index) => [...get(total), ...laneF32(index), ...op.addF32]);
  const eachPart = [
    ...[...products, ...fold, ...get(sum), ...addLanes, ...set(sum)],
    // sum + |query behind the part| * |row behind the part| >= bar, or it leaves
    ...[...get(sum), ...get(queryTail), ...loadF32(), ...get(tails), ...loadF32()],
    ...[...op.multiplyF32, ...op.addF32, ...get(bar), ...op.atLeastF32, ...op.isZero, ...op.leaveIf],
    ...[...advance(row, int(PART_BYTES)), ...advance(query, int(PART_BYTES))],
    ...[...advance(tails, int(4)), ...advance(queryTail, int(4)), ...advance(part, int(-1))],
    ...[...get(part), ...op.againIf],
  ];
  return {
    parameters: [I32, I32, F32],
    locals: [
      [9, I32],
      [1, F32],
      [sums.length, V128],
    ],
    body: [
      ...[...int(PROGRAM_LAYOUT.survivors), ...set(from), ...int(PROGRAM_LAYOUT.survivors), ...set(to)],
      ...[...get(from), ...behind(count, int(SURVIVOR_BYTES)), ...set(last)],
      ...until(
        from,
        last,
        [...get(from), ...loadInt(4), ...set(row), ...get(parts), ...set(part)],
        [...get(row), ...behind(parts, int(PART_BYTES)), ...set(tails)],
        [...int(PROGRAM_LAYOUT.query), ...set(query), ...int(PROGRAM_LAYOUT.queryTails), ...set(queryTail)],
        [...noF32, ...set(sum)],
        [...op.block, ...op.loop, ...eachPart, ...op.end],
        // All parts were looked at.
        [...get(to), ...get(from), ...loadInt(), ...storeInt()],
        [...advance(to, int(SURVIVOR_BYTES)), ...advance(kept, int(1)), ...op.end],
        advance(from, int(SURVIVOR_BYTES)),
      ),
      ...get(kept),
    ],
  };
}

function writeModule(): Uint8Array {
  const written = [writeSketch(), writeScan()];
  const types = (values: readonly number[]): number[] => list(values.map((type) => [type]));
  return Uint8Array.from([
    ...[0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00],
    ...section(
      1,
      written.map(({ parameters }) => [0x60, ...types(parameters), ...types([I32])]),
    ),
    ...section(3, [[0], [1]]),
    ...section(5, [[0x00, ...unsigned(PROGRAM_PAGES)]]),
    ...section(7, [
      [...text('memory'), 0x02, 0],
      [...text('sketch'), 0x00, 0],
      [...text('scan'), 0x00, 1],
    ]),
    ...section(
      10,
      written.map(({ locals, body }) => {
        const code = [...list(locals.map(([count, type]) => [count, type])), ...body, ...op.end];
        return [...unsigned(code.length), ...code];
      }),
    ),
  ]);
}
