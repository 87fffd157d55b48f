import { describe, expect, it } from 'vitest';
import { meanPool, toUnitLength } from './mean-pool.js';

describe('pooling the vectors of tokens', () => {
  it('points where the mean of the rows points, at unit length', () => {
    const hidden = Float32Array.from([4, 0, 2, 8]);
    const pooled = meanPool(hidden, [1, 1], 2);
    expect(pooled[0]).toBeCloseTo(0.6, 6);
    expect(pooled[1]).toBeCloseTo(0.8, 6);
  });

  it('leaves out what the mask hides, however it is written', () => {
    const hidden = Float32Array.from([3, 4, 100, -100]);
    const expected = Float32Array.from([0.6, 0.8]);
    expect(meanPool(hidden, [1, 0], 2)).toEqual(expected);
    expect(meanPool(hidden, BigInt64Array.from([1n, 0n]), 2)).toEqual(expected);
  });

  it('has no direction where nothing counts or everything cancels out', () => {
    expect(meanPool(Float32Array.from([1, 2]), [0], 2)).toEqual(Float32Array.from([0, 0]));
    expect(meanPool(Float32Array.from([1, 2, -1, -2]), [1, 1], 2)).toEqual(Float32Array.from([0, 0]));
  });

  it('does not hide that a model answered with something that is no number', () => {
    expect(toUnitLength([1, Number.NaN]).every(Number.isNaN)).toBe(true);
  });
});
