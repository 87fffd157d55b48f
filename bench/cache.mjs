/**
 * The LLM cache: semantic search in memory against plain JavaScript over the same vectors, what an entry and a key cost,
 * hits in Redis, and exact hits through the whole gateway. Reads the built libraries.
 */
import { exactHitFigures } from './lib/cache-exact-figures.mjs';
import { cacheKeyFigures } from './lib/cache-key-figures.mjs';
import { measureMemory } from './lib/cache-memory.mjs';
import { hasRedis, measureRedis } from './lib/cache-redis.mjs';
import { timeSearches } from './lib/cache-vectors.mjs';
import { isQuick } from './lib/quick.mjs';
import { runAlone } from './lib/run-alone.mjs';
import { formatNumber, median, percentile } from './lib/statistics.mjs';

/** @typedef {import('./lib/figures.mjs').Figure} Figure */

/** Count, dimension, and the p50 asked for in ms. */
const searches = /** @type {const} */ ([
  [10_000, 384, 0.4],
  [10_000, 1_024, 1.3],
  [100_000, 384, 2.5],
]);
const memoryAim = 1.3;
const tripsAim = 2;

const rounds = isQuick ? 1 : 5;

/** @returns {Figure[]} */
function searchFigures() {
  return searches.map(([count, dimension, aimMs]) => {
    const { ms, plainMs, recall, expected, wrong } = timeSearches(count, dimension, { rounds });
    // Questions whose subjects have much in common: fewer can be given up early.
    const alike = timeSearches(count, dimension, { rounds: 1, common: 0.7, plainRounds: 1 });
    const [p50, plain] = [median(ms), median(plainMs)];
    return {
      title: `semantic search in memory, ${formatNumber(count)} x ${formatNumber(dimension)}, exact, p50`,
      measured: `${formatNumber(p50)} ms`,
      aim: `at most ${aimMs} ms, recall@1 of 1`,
      ok: p50 <= aimMs && recall === 1 && wrong === 0 && alike.recall === 1 && alike.wrong === 0,
      absolutes:
        `p99 ${formatNumber(percentile(ms, 99))} ms, fastest ${formatNumber(Math.min(...ms))} ms; ` +
        `plain Float32Array ${formatNumber(plain)} ms (${formatNumber(plain / p50)} times); ` +
        `recall@1 ${recall} of ${expected}, ${wrong} found that are not there; ` +
        `clusters that share much: p50 ${formatNumber(median(alike.ms))} ms`,
    };
  });
}

/** @returns {Figure} */
function memoryFigure() {
  const shapes = [
    ['2 kB answers, no vector', { count: 20_000, answerChars: 2_000, dimension: 0, perScope: 1 }],
    ['one vector of 384 to a scope', { count: 10_000, answerChars: 2_000, dimension: 384, perScope: 1 }],
    ['50 vectors of 384 to a scope', { count: 10_000, answerChars: 500, dimension: 384, perScope: 50 }],
    ['10,000 of 1,024 in one scope', { count: 10_000, answerChars: 500, dimension: 1_024, perScope: 10_000 }],
  ];
  const measured = shapes.map(([name, shape]) => ({ name, ...measureMemory(/** @type {any} */ (shape)) }));
  const worst = Math.max(...measured.map(({ ratio }) => ratio));
  return {
    title: 'memory of an entry in memory / the bytes it is counted with, the worst of all shapes',
    measured: formatNumber(worst),
    aim: `at most ${memoryAim}`,
    ok: worst <= memoryAim,
    absolutes: measured
      .map(
        ({ name, ratio, bytesPerEntry }) =>
          `${name}: ${formatNumber(ratio)} (${formatNumber(bytesPerEntry)} B)`,
      )
      .join('; '),
  };
}

/** @returns {Promise<Figure[]>} */
async function redisFigures() {
  if (!hasRedis()) return [];
  const of = { rounds: isQuick ? 200 : 2_000, entries: 1_000, perScope: 20, dimension: 384 };
  const { pingMs, exactMs, semanticMs, exactTrips, semanticTrips } = await measureRedis(of);
  const ping = median(pingMs);
  const spread = (/** @type {number[]} */ ms) =>
    `p50 ${formatNumber(1_000 * median(ms))} us, p99 ${formatNumber(1_000 * percentile(ms, 99))} us; a bare PING ${formatNumber(1_000 * ping)} us`;
  const figure = (/** @type {string} */ kind, /** @type {number} */ trips, /** @type {number[]} */ ms) => ({
    title: `${kind} hit in Redis, round trips (against a PING over a line that is slow on purpose)`,
    // By time, so that what is done at both ends counts as part of one.
    measured: `${Math.round(trips)} (${formatNumber(trips)} by time)`,
    aim: `at most ${tripsAim}`,
    ok: Math.round(trips) <= tripsAim,
    absolutes: spread(ms),
  });
  return [figure('exact', exactTrips, exactMs), figure('semantic', semanticTrips, semanticMs)];
}

/** @returns {Promise<import('./lib/figures.mjs').BenchResult>} */
export async function run() {
  const figures = [...searchFigures(), memoryFigure(), ...(await redisFigures()), ...cacheKeyFigures()];
  const notes = hasRedis() ? [] : ['redis-server is not installed: hits in Redis were not measured.'];
  const exact = await exactHitFigures();
  return { figures: [...figures, ...exact.figures], notes: [...notes, ...(exact.notes ?? [])] };
}

await runAlone(import.meta.url, run);
