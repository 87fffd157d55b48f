import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { STATIC_BUCKET_COUNT } from './static-buckets.js';
import { STATIC_RANK, StaticTable } from './static-table.js';

const DIMENSION = 384;
const rows = Int8Array.from(
  { length: STATIC_BUCKET_COUNT * STATIC_RANK },
  (_, at) => Math.imul(at, 2_654_435_761) >> 24,
);
const scales = Float32Array.from({ length: STATIC_BUCKET_COUNT }, (_, row) => ((row % 97) + 1) / 1_000);
const table = new StaticTable(rows, scales);

/** The same, one number after the other and at double precision. */
function plainVector(ids: Int32Array): number[] {
  const sums = new Array<number>(DIMENSION).fill(0);
  for (const id of ids)
    for (let at = 0; at < STATIC_RANK; at += 1)
      sums[at] = (sums[at] as number) + (rows[id * STATIC_RANK + at] as number) * (scales[id] as number);
  const norm = Math.hypot(...sums);
  return sums.map((value) => value / norm);
}

const farthest = (vector: Float32Array, plain: number[]): number =>
  Math.max(...plain.map((value, at) => Math.abs(value - (vector[at] as number))));

describe('the table of the static embedder', () => {
  it('gives what the plain sum gives, for any features', () => {
    const id = fc.nat(STATIC_BUCKET_COUNT - 1);
    fc.assert(
      fc.property(fc.uniqueArray(id, { minLength: 1, maxLength: 400, size: 'max' }), (picked) => {
        const ids = Int32Array.from(picked);
        expect(farthest(table.vectorOf(ids, DIMENSION), plainVector(ids))).toBeLessThan(2e-6);
      }),
      { numRuns: 60 },
    );
  });

  it('takes every feature at once, first and last row included', () => {
    const all = Int32Array.from({ length: STATIC_BUCKET_COUNT }, (_, id) => id);
    expect(farthest(table.vectorOf(all, DIMENSION), plainVector(all))).toBeLessThan(1e-4);
    for (const ids of [Int32Array.of(0), Int32Array.of(STATIC_BUCKET_COUNT - 1)])
      expect(farthest(table.vectorOf(ids, DIMENSION), plainVector(ids))).toBeLessThan(2e-6);
  });

  it('gives each text a vector of its own memory, with zeros behind the learned numbers', () => {
    const first = table.vectorOf(Int32Array.of(1, 2, 3), DIMENSION);
    const copy = first.slice();
    table.vectorOf(Int32Array.of(4, 5), DIMENSION);
    expect(first).toEqual(copy);
    expect(first.subarray(STATIC_RANK).every((value) => value === 0)).toBe(true);
  });
});
