/**
 * The static embedder's model: one row of small whole numbers and a scale for each feature; a text's vector is the sum
 * of its features' rows, at unit length. The sum is a WebAssembly program, eight numbers at a time out of the table as it
 * is stored: a runtime for neural networks takes ten times as long for it, and most of that is its own.
 *
 * @see models/observatory-static-384/features.md
 */
import {
  advance,
  branchIf,
  bytes16,
  type Code,
  compile,
  FunctionWriter,
  f32x4,
  i16x8,
  i32,
  i32x4,
  loop,
  type Variable,
  variables,
  writeModule,
} from '#kernel/wasm-writer';
import { toUnitLength } from './mean-pool.js';
import { STATIC_BUCKET_COUNT } from './static-buckets.js';

/** Learned numbers of a vector; those behind them, up to the dimension, are 0. */
export const STATIC_RANK = 256;

const PAGE_BYTES = 65_536;
const F32_BYTES = 4;
const I32_BYTES = 4;
const IDS_AT = STATIC_RANK * F32_BYTES;
const SCALES_AT = IDS_AT + STATIC_BUCKET_COUNT * I32_BYTES;
const ROWS_AT = SCALES_AT + STATIC_BUCKET_COUNT * F32_BYTES;
const END = ROWS_AT + STATIC_BUCKET_COUNT * STATIC_RANK;

/** Columns whose sums stay in registers while the rows go by. */
const COLUMNS_AT_ONCE = 32;

interface StaticProgram {
  /** Leaves the sum of the rows of these ids, scaled, at address 0. */
  sum(idsAt: number, idsEnd: number): void;
}

const startProgram = compile<StaticProgram>(
  writeModule([writeSum()], { sum: 0 }, Math.ceil(END / PAGE_BYTES)),
);

export class StaticTable {
  readonly #program: StaticProgram;
  readonly #ids: Int32Array;
  readonly #sums: Float32Array;

  /**
   * @param rows Int8, `STATIC_BUCKET_COUNT` rows of `STATIC_RANK`; copied
   * @param scales one a row
   */
  constructor(rows: Int8Array, scales: Float32Array) {
    const program = startProgram();
    const { buffer } = program.memory;
    this.#program = program;
    this.#sums = new Float32Array(buffer, 0, STATIC_RANK);
    this.#ids = new Int32Array(buffer, IDS_AT, STATIC_BUCKET_COUNT);
    new Float32Array(buffer, SCALES_AT, STATIC_BUCKET_COUNT).set(scales);
    new Int8Array(buffer, ROWS_AT, STATIC_BUCKET_COUNT * STATIC_RANK).set(rows);
  }

  /**
   * @param ids at least one, each once and below `STATIC_BUCKET_COUNT`
   * @returns of unit length, `dimension` long. Cost: about 0.1 us a feature
   */
  vectorOf(ids: Int32Array, dimension: number): Float32Array {
    this.#ids.set(ids);
    this.#program.sum(IDS_AT, IDS_AT + ids.length * I32_BYTES);
    const vector = new Float32Array(dimension);
    vector.set(this.#sums);
    return toUnitLength(vector);
  }
}

function writeSum(): FunctionWriter {
  const writer = new FunctionWriter(['i32', 'i32'], null);
  const [from, to] = [writer.parameter(0), writer.parameter(1)];
  const [at, id, row] = variables(writer, 'i32', 3);
  const [scale, eight] = variables(writer, 'v128', 2);
  const sums = Array.from({ length: COLUMNS_AT_ONCE / 4 }, () => writer.variable('v128'));
  const plus = (sum: Variable, four: Code): Code =>
    sum.set(f32x4.add(sum.get, f32x4.mul(f32x4.ofI32x4(four), scale.get)));
  const addColumns = (first: number): Code[] =>
    Array.from({ length: COLUMNS_AT_ONCE / 8 }, (_, index) => [
      ...eight.set(i16x8.loadBytes(row.get, ROWS_AT + first + 8 * index)),
      ...plus(sums[2 * index] as Variable, i32x4.ofFirst(eight.get)),
      ...plus(sums[2 * index + 1] as Variable, i32x4.ofLast(eight.get)),
    ]);
  const sumColumns = (first: number): Code[] => [
    ...sums.map((sum) => sum.set(f32x4.zeros)),
    at.set(from.get),
    loop(
      id.set(i32.load(at.get)),
      scale.set(f32x4.loadSplat(i32.mul(id.get, i32.of(F32_BYTES)), SCALES_AT)),
      row.set(i32.mul(id.get, i32.of(STATIC_RANK))),
      ...addColumns(first),
      advance(at, I32_BYTES),
      branchIf(0, i32.less(at.get, to.get)),
    ),
    ...sums.map((sum, index) => bytes16.store(i32.of(0), sum.get, F32_BYTES * first + 16 * index)),
  ];
  for (let first = 0; first < STATIC_RANK; first += COLUMNS_AT_ONCE)
    writer.body = [...writer.body, ...sumColumns(first).flat()];
  return writer;
}
