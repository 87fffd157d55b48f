import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { blockShape, VectorArena } from './vector-arena.js';
import { dot } from './vector-math.js';
import { VectorSet } from './vector-set.js';

interface Owner {
  slot: number;
  name: number;
  values: Float32Array;
}

/** Small, fast and seeded. */
function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

const normalised = (values: Float32Array): Float32Array => {
  const length = Math.sqrt(dot(values, values)) || 1;
  return values.map((value) => value / length);
};

/** At about that cosine from another; `spikes`: most of its length is in a few numbers, at either end. */
function near(centre: Float32Array, cosine: number, random: () => number, spikes: boolean): Float32Array {
  const aside = normalised(
    centre.map((_, index) => {
      const value = random() + random() + random() + random() - 2;
      return spikes && index % 37 > 1 ? value / 50 : value;
    }),
  );
  const share = Math.sqrt(1 - cosine * cosine);
  return normalised(centre.map((value, index) => cosine * value + share * (aside[index] as number)));
}

/** What comparing with every one finds: the products of the best, best first. */
const bruteForce = (owners: Owner[], query: Float32Array, lowest: number, count: number): number[] =>
  owners
    .map(({ values }) => dot(query, values))
    .filter((product) => product >= lowest)
    .sort((one, other) => other - one)
    .slice(0, count);

const clamped = (products: number[]): number[] => products.map((one) => Math.min(1, Math.max(-1, one)));

describe('VectorSet', () => {
  const start = (dimension: number, arena = VectorArena.start()) => {
    if (arena === null) throw new Error('no SIMD');
    return { arena, set: new VectorSet<Owner>(dimension, arena) };
  };

  // Thirty sets of up to 900 kB, each compared by brute force: seconds on a slow machine.
  it('finds what comparing with every vector finds, through growth, removal and both kinds of storage', () => {
    fc.assert(
      fc.property(
        fc.record({
          seed: fc.integer(),
          dimension: fc.constantFrom(1, 3, 63, 64, 65, 100, 384, 1_000, 1_536),
          clusters: fc.integer({ min: 1, max: 6 }),
          spread: fc.double({ min: 0.2, max: 0.999, noNaN: true }),
          spikes: fc.boolean(),
          kilobytes: fc.integer({ min: 1, max: 900 }),
          removedShare: fc.double({ min: 0, max: 1, noNaN: true }),
          threshold: fc.constantFrom(-1, 0, 0.5, 0.9, 0.92, 0.99),
          count: fc.integer({ min: 1, max: 8 }),
        }),
        ({ seed, dimension, clusters, spread, spikes, kilobytes, removedShare, threshold, count }) => {
          const random = randomFrom(seed);
          const { arena, set } = start(dimension);
          const zero = new Float32Array(dimension);
          const centres = Array.from({ length: clusters }, () => near(zero, 0, random, spikes));
          const size = Math.max(1, Math.min(2_000, Math.floor((kilobytes * 1_000) / (4 * dimension))));
          let owners = Array.from({ length: size }, (_, name): Owner => {
            const centre = centres[name % clusters] as Float32Array;
            return { slot: 0, name, values: near(centre, spread, random, spikes) };
          });
          const check = (): void => {
            expect(set.count).toBe(owners.length);
            for (let nth = 0; nth < 4; nth += 1) {
              const member =
                owners[Math.floor(random() * owners.length)]?.values ?? (centres[0] as Float32Array);
              const query = near(member, nth === 0 ? 1 : 0.8 + random() / 5, random, spikes);
              const found = set.search(query, threshold, count, () => true);
              expect(found.map(({ cosine }) => cosine)).toEqual(
                clamped(bruteForce(owners, query, threshold, count)),
              );
              for (const { owner, cosine } of found)
                expect(clamped([dot(query, owner.values)])).toEqual([cosine]);
            }
          };
          for (const owner of owners) set.add(owner, owner.values);
          check();
          const kept: Owner[] = [];
          for (const owner of owners) {
            if (random() < removedShare) set.remove(owner);
            else kept.push(owner);
          }
          owners = kept;
          check();
          for (const owner of owners) expect(owner.slot).toBeLessThan(set.count);
          for (const owner of [...owners]) set.remove(owner);
          expect([set.count, set.blockCount]).toEqual([0, 0]);
          expect(arena.freeBlockCount).toBeLessThan(64);
        },
      ),
      { numRuns: 30 },
    );
  }, 60_000);

  it.each([
    ['in all their numbers', 384, 0],
    ['in what the sketch holds', 90, 0],
    ['in what the sketch holds, one number far larger than the rest', 90, 30],
    ['in the last part', -60, 0],
  ])('finds all at or above the threshold that lie within rounding of it, different %s', (_, used, spike) => {
    const random = randomFrom(7);
    const dimension = 384;
    const { set } = start(dimension);
    const only = (values: Float32Array): Float32Array =>
      normalised(
        values.map((value, at) => {
          const isUsed = used > 0 ? at < used : at >= dimension + used;
          return isUsed ? value * (spike > 0 && at === 3 ? spike : 1) : 0;
        }),
      );
    const centre = only(near(new Float32Array(dimension), 0, random, false));
    const owners = Array.from({ length: 3_000 }, (_, name): Owner => {
      const aside = only(near(new Float32Array(dimension), 0, random, false));
      const along = dot(aside, centre);
      const across = normalised(aside.map((value, at) => value - along * (centre[at] as number)));
      const cosine = 0.92 + (random() - 0.5) * 1e-5;
      const share = Math.sqrt(1 - cosine * cosine);
      const values = centre.map((value, at) => cosine * value + share * (across[at] as number));
      return { slot: 0, name, values };
    });
    for (const owner of owners) set.add(owner, owner.values);
    expect(set.blockCount).toBeGreaterThan(0);
    for (const bar of [0.919_999, 0.92, 0.920_001]) {
      const found = set.search(centre, bar, owners.length, () => true).map(({ cosine }) => cosine);
      expect(found).toEqual(bruteForce(owners, centre, bar, owners.length));
      expect(found.length).toBeGreaterThan(100);
    }
  });

  it('asks only for those above the threshold whether they may be used, and goes on to the next', () => {
    const random = randomFrom(11);
    const { set } = start(64);
    const centre = near(new Float32Array(64), 0, random, false);
    const cosines = [0.99, 0.97, 0.95, 0.5];
    for (const [name, cosine] of cosines.entries())
      set.add({ slot: 0, name, values: centre }, near(centre, cosine, random, false));
    const asked: number[] = [];
    const found = set.search(centre, 0.9, 1, ({ name }) => {
      asked.push(name);
      return name !== 0;
    });
    expect(found.map(({ owner }) => owner.name)).toEqual([1]);
    expect(asked).not.toContain(3);
  });

  it('shares blocks between sets: what one gives back another takes', () => {
    const random = randomFrom(13);
    const { arena, set: first } = start(384);
    const make = (name: number): Owner => ({
      slot: 0,
      name,
      values: near(new Float32Array(384), 0, random, false),
    });
    const fill = (set: VectorSet<Owner>): Owner[] => {
      const owners = Array.from({ length: 1_000 }, (_, name) => make(name));
      for (const owner of owners) set.add(owner, owner.values);
      return owners;
    };
    fill(first);
    const blocks = first.blockCount;
    const free = arena.freeBlockCount;
    first.clear();
    expect(first.count).toBe(0);
    expect(arena.freeBlockCount).toBe(free + blocks);
    const second = new VectorSet<Owner>(384, arena);
    const owners = fill(second);
    expect(arena.freeBlockCount).toBe(free);
    const query = owners[500]?.values as Float32Array;
    expect(second.search(query, 0.99, 1, () => true)[0]?.owner.name).toBe(500);
  });

  it('works without SIMD, and with vectors too long for a block, as rows', () => {
    const random = randomFrom(17);
    for (const [dimension, arena] of [
      [384, null],
      [20_000, VectorArena.start()],
    ] as const) {
      const set = new VectorSet<Owner>(dimension, arena);
      const owners = Array.from({ length: 60 }, (_, name): Owner => {
        return { slot: 0, name, values: near(new Float32Array(dimension), 0, random, true) };
      });
      for (const owner of owners) set.add(owner, owner.values);
      expect(set.blockCount).toBe(0);
      const query = owners[33]?.values as Float32Array;
      expect(set.search(query, 0.9, 1, () => true)[0]?.owner.name).toBe(33);
    }
    expect(blockShape(20_000)).toBeNull();
  });
});
