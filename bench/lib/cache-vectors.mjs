/** Clustered unit vectors, as questions about a few dozen subjects have them, and the two ways to search them. */
import { VectorArena, VectorSet } from '#domain/llm-cache';
import { seededRandom } from '../../scripts/lib/seeded-random.mjs';

/** @param {Float32Array} values */
function normalised(values) {
  let squares = 0;
  for (const value of values) squares += value * value;
  const length = Math.sqrt(squares);
  return values.map((value) => value / length);
}

/** @param {number} dimension @param {() => number} random */
const anyVector = (dimension, random) =>
  normalised(Float32Array.from({ length: dimension }, () => random() + random() + random() + random() - 2));

/** A vector at about that cosine. @param {Float32Array} centre @param {number} cosine @param {() => number} random */
function near(centre, cosine, random) {
  const aside = anyVector(centre.length, random);
  const share = Math.sqrt(1 - cosine * cosine);
  return normalised(centre.map((value, at) => cosine * value + share * (aside[at] ?? 0)));
}

/**
 * @param {number} count
 * @param {number} dimension
 * @param {number} common cosine of the clusters' centres with one another's origin: 0 for subjects that share nothing
 */
export function makeVectors(count, dimension, common) {
  const random = seededRandom(count + dimension);
  const origin = anyVector(dimension, random);
  const centres = Array.from({ length: Math.ceil(count / 100) }, () => near(origin, common, random));
  const rows = new Float32Array(count * dimension);
  for (let at = 0; at < count; at += 1)
    rows.set(near(centres[at % centres.length] ?? origin, 0.85, random), at * dimension);
  const row = (/** @type {number} */ at) => rows.subarray(at * dimension, (at + 1) * dimension);
  /** Every other one has an answer. */
  const queries = Array.from({ length: 200 }, (_, at) =>
    at % 2 === 0
      ? near(row(Math.floor(random() * count)), 0.96, random)
      : near(centres[at % centres.length] ?? origin, 0.85, random),
  );
  return { rows, row, queries };
}

/** In bounds. @param {Float32Array} of @param {number} at */
const number = (of, at) => /** @type {number} */ (of[at]);

/**
 * The peer: every row, in plain JavaScript over one Float32Array.
 *
 * @param {Float32Array} rows
 * @param {Float32Array} query
 * @returns {{ at: number, product: number }}
 */
function searchPlainly(rows, query) {
  const dimension = query.length;
  let best = -2;
  let bestAt = -1;
  for (let from = 0; from < rows.length; from += dimension) {
    let [a, b, c, d] = [0, 0, 0, 0];
    for (let at = 0; at < dimension; at += 4) {
      const to = from + at;
      a += number(rows, to) * number(query, at);
      b += number(rows, to + 1) * number(query, at + 1);
      c += number(rows, to + 2) * number(query, at + 2);
      d += number(rows, to + 3) * number(query, at + 3);
    }
    const product = a + b + c + d;
    if (product > best) [best, bestAt] = [product, from / dimension];
  }
  return { at: bestAt, product: best };
}

/**
 * @param {number} count
 * @param {number} dimension
 * @param {{ common?: number, rounds?: number, plainRounds?: number, threshold?: number }} [options]
 */
export function timeSearches(count, dimension, options = {}) {
  const { common = 0, rounds = 3, plainRounds = 20, threshold = 0.92 } = options;
  const { rows, row, queries } = makeVectors(count, dimension, common);
  /** @type {VectorSet<{ slot: number, at: number }>} */
  const set = new VectorSet(dimension, VectorArena.start());
  for (let at = 0; at < count; at += 1) set.add({ slot: 0, at }, row(at));
  const search = (/** @type {Float32Array} */ query) => set.search(query, threshold, 8, () => true)[0];
  let [expected, right, wrong] = [0, 0, 0];
  /** @type {number[]} */
  const plainMs = [];
  for (const [index, query] of queries.entries()) {
    const startMs = performance.now();
    const best = searchPlainly(rows, query);
    const ms = performance.now() - startMs;
    if (index < plainRounds) plainMs.push(ms);
    const found = search(query);
    if (best.product < threshold) wrong += found === undefined ? 0 : 1;
    else {
      expected += 1;
      right += found?.owner.at === best.at ? 1 : 0;
    }
  }
  /** @type {number[]} */
  const ms = [];
  for (let round = 0; round < rounds; round += 1)
    for (const query of queries) {
      const startMs = performance.now();
      search(query);
      ms.push(performance.now() - startMs);
    }
  set.clear();
  return { ms, plainMs, recall: right / expected, expected, wrong };
}
