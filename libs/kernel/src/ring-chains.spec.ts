import fc from 'fast-check';
import { expect, it } from 'vitest';
import { RingChains } from './ring-chains.js';

/** Rows of one digest, latest first. */
function rowsOf(chains: RingChains, digest: number): number[] {
  const rows: number[] = [];
  for (let row = chains.latest(digest); chains.isKept(row); row = chains.before(row))
    if (chains.digestOf(row) === digest) rows.push(row);
  return rows;
}

it('finds of each digest the rows that the ring still has, whatever its size', () => {
  const digests = fc.array(fc.oneof(fc.integer({ min: -3, max: 3 }), fc.integer()), {
    maxLength: 1_500,
    size: 'max',
  });
  fc.assert(
    fc.property(digests, fc.constantFrom(1, 2, 7, 255, 256, 257, 300, 1_000), (added, rowsMax) => {
      const chains = new RingChains(rowsMax);
      const numbers = added.map((digest) => chains.add(digest));
      expect(numbers).toEqual(added.map((_digest, at) => at + 1));
      const kept = numbers.filter((row) => row > added.length - rowsMax);
      expect(new Set(kept.map((row) => chains.placeOf(row))).size).toBe(kept.length);
      for (const digest of new Set(added)) {
        const expected = kept.filter((row) => added[row - 1] === digest).reverse();
        expect(rowsOf(chains, digest)).toEqual(expected);
      }
    }),
    { numRuns: 60 },
  );
});

it('finds nothing where nothing was added', () => {
  expect(rowsOf(new RingChains(3), 0)).toEqual([]);
});
