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

import {
  advance,
  block,
  branch,
  branchIf,
  bytes16,
  type Code,
  compile,
  FunctionWriter,
  f32,
  f32x4,
  i16x8,
  i32,
  i32x4,
  loop,
  type Variable,
  variables,
  type WasmMemory,
  when,
  writeModule,
} from '#kernel/wasm-writer';

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
const PROGRAM_PAGES = 3;
export const PROGRAM_LAYOUT = {
  /** Of the query, Float32: its numbers, filled up to whole parts with zeros. */
  query: 0,
  /** Float32: its length behind each part. */
  queryTails: BLOCK_BYTES,
  /** Int16: its sketch. */
  querySketch: BLOCK_BYTES + 4_096,
  survivors: 2 * BLOCK_BYTES,
} as const;

export interface VectorProgram {
  memory: WasmMemory;
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
    return compile<VectorProgram>(
      writeModule([writeSketch(), writeScan()], { sketch: 0, scan: 1 }, PROGRAM_PAGES),
    )();
  } catch {
    return null;
  }
}

type Four = [Variable, Variable, Variable, Variable];

const times = (value: Code, by: number): Code => i32.mul(value, i32.of(by));
/** Runs until `at` has met `end`. */
const until = (at: Variable, end: Variable, ...body: Code[]): Code =>
  block(loop(branchIf(1, i32.isZero(i32.less(at.get, end.get))), ...body, branch(0)));
const sumOf = (lanes: Code[], add: (one: Code, other: Code) => Code): Code => lanes.reduce(add);
const LANES = [0, 1, 2, 3] as const;

function writeSketch(): FunctionWriter {
  const writer = new FunctionWriter(['i32', 'i32', 'i32', 'i32', 'f32', 'f32', 'f32', 'f32'], 'i32');
  const [blockAt, count, slots, steps] = [0, 1, 2, 3].map((index) => writer.parameter(index)) as Four;
  const [scale, length, tail, bar] = [4, 5, 6, 7].map((index) => writer.parameter(index)) as Four;
  const [place, row, query, step, scales, offs, tails, to] = variables(writer, 'i32', 8);
  const kept = writer.variable('i32');
  const [total, other] = variables(writer, 'v128', 2);
  const eights = Array.from({ length: SKETCH_STEP / 8 }, (_, eight): Code => {
    const sum = eight % 2 === 0 ? total : other;
    const products = i32x4.ofProducts(
      i16x8.loadBytes(row.get, 8 * eight),
      bytes16.load(query.get, 16 * eight),
    );
    return sum.set(i32x4.add(products, sum.get));
  });
  const ofPlace = (values: Variable): Code => f32.load(i32.add(values.get, times(place.get, 4)));
  const product = sumOf(
    LANES.map((lane) => i32x4.lane(total.get, lane)),
    i32.add,
  );
  // scale * scale of it * products + |query| * how far off + |rest of query| * |rest|
  const bound = sumOf(
    [
      f32.mul(f32.mul(f32.ofI32(product), scale.get), ofPlace(scales)),
      f32.mul(length.get, ofPlace(offs)),
      f32.mul(tail.get, ofPlace(tails)),
    ],
    f32.add,
  );
  writer.body = [
    scales.set(i32.add(blockAt.get, i32.mul(times(steps.get, SKETCH_STEP), slots.get))),
    offs.set(i32.add(scales.get, times(slots.get, 4))),
    tails.set(i32.add(offs.get, times(slots.get, 4))),
    row.set(blockAt.get),
    to.set(i32.of(PROGRAM_LAYOUT.survivors)),
    until(
      place,
      count,
      query.set(i32.of(PROGRAM_LAYOUT.querySketch)),
      step.set(steps.get),
      total.set(f32x4.zeros),
      other.set(f32x4.zeros),
      loop(
        ...eights,
        advance(row, SKETCH_STEP),
        advance(query, 2 * SKETCH_STEP),
        advance(step, -1),
        branchIf(0, step.get),
      ),
      total.set(i32x4.add(total.get, other.get)),
      when(f32.atLeast(bound, bar.get), [
        i32.store(to.get, place.get),
        advance(to, SURVIVOR_BYTES),
        advance(kept, 1),
      ]),
      advance(place, 1),
    ),
    kept.get,
  ].flat();
  return writer;
}

function writeScan(): FunctionWriter {
  const writer = new FunctionWriter(['i32', 'i32', 'f32'], 'i32');
  const [count, parts, bar] = [writer.parameter(0), writer.parameter(1), writer.parameter(2)];
  const [part, query, queryTail, from, to, last, row, tails] = variables(writer, 'i32', 8);
  const kept = writer.variable('i32');
  const sum = writer.variable('f32');
  const sums = variables(writer, 'v128', 4);
  const [total, ...others] = sums as [Variable, ...Variable[]];
  const products = Array.from({ length: PART_NUMBERS / 4 }, (_, step): Code => {
    const into = sums[step % sums.length] as Variable;
    const product = f32x4.mul(bytes16.load(row.get, 16 * step), bytes16.load(query.get, 16 * step));
    return into.set(step < sums.length ? product : f32x4.add(product, into.get));
  });
  const bound = f32.add(sum.get, f32.mul(f32.load(queryTail.get), f32.load(tails.get)));
  const eachPart = [
    ...products,
    ...others.map((one) => total.set(f32x4.add(total.get, one.get))),
    sum.set(sumOf(LANES.map((lane) => f32x4.lane(total.get, lane)).toSpliced(0, 0, sum.get), f32.add)),
    // sum + |query behind the part| * |row behind the part| >= bar, or it leaves
    branchIf(1, i32.isZero(f32.atLeast(bound, bar.get))),
    advance(row, PART_BYTES),
    advance(query, PART_BYTES),
    advance(tails, 4),
    advance(queryTail, 4),
    advance(part, -1),
    branchIf(0, part.get),
  ];
  writer.body = [
    from.set(i32.of(PROGRAM_LAYOUT.survivors)),
    to.set(i32.of(PROGRAM_LAYOUT.survivors)),
    last.set(i32.add(from.get, times(count.get, SURVIVOR_BYTES))),
    until(
      from,
      last,
      row.set(i32.load(from.get, 4)),
      part.set(parts.get),
      tails.set(i32.add(row.get, times(parts.get, PART_BYTES))),
      query.set(i32.of(PROGRAM_LAYOUT.query)),
      queryTail.set(i32.of(PROGRAM_LAYOUT.queryTails)),
      sum.set(f32.zero),
      block(
        loop(...eachPart),
        // All parts were looked at.
        i32.store(to.get, i32.load(from.get)),
        advance(to, SURVIVOR_BYTES),
        advance(kept, 1),
      ),
      advance(from, SURVIVOR_BYTES),
    ),
    kept.get,
  ].flat();
  return writer;
}
