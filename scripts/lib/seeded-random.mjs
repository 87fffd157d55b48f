/**
 * Small, fast and seeded (mulberry32), so that two runs see the same.
 *
 * @param {number} seed
 * @returns {() => number} the next number, 0 included, 1 not
 */
export function seededRandom(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** @param {number} seed @returns {(below: number) => number} the next whole number, 0 included, `below` not */
export function seededIndex(seed) {
  const next = seededRandom(seed);
  return (below) => Math.floor(next() * below);
}
