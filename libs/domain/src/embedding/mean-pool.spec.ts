import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { meanPool, toUnitLength } from './mean-pool.js';

describe('pooling the vectors of tokens', () => {
  it('points where the mean of the rows points, at unit length', () => {
    const hidden = Float32Array.from([4, 0, 2, 8]);
    const pooled = meanPool(hidden, 2);
    expect(pooled[0]).toBeCloseTo(0.6, 6);
    expect(pooled[1]).toBeCloseTo(0.8, 6);
  });

  it('sums every column over all rows, whatever the dimension', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 13 }), fc.integer({ min: 1, max: 5 }), (dimension, rows) => {
        const hidden = Float32Array.from({ length: rows * dimension }, (_, at) => ((at * 37) % 11) + 1);
        const sums = Array.from({ length: dimension }, (_, column) =>
          hidden.filter((_, at) => at % dimension === column).reduce((sum, value) => sum + value, 0),
        );
        expect(meanPool(hidden, dimension)).toEqual(toUnitLength(sums));
      }),
    );
  });

  it('has no direction where there is no row or everything cancels out', () => {
    expect(meanPool(Float32Array.from([]), 2)).toEqual(Float32Array.from([0, 0]));
    expect(meanPool(Float32Array.from([1, 2, -1, -2]), 2)).toEqual(Float32Array.from([0, 0]));
  });

  it('does not hide that a model answered with something that is no number', () => {
    expect(toUnitLength([1, Number.NaN]).every(Number.isNaN)).toBe(true);
  });
});
