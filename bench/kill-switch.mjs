/**
 * Cost of one kill-switch decision against a full window of 20, for prompts of 1, 10 and 100 kB, and of what a window
 * keeps. Reads the built libraries. The peer is a SHA-256 of the same text in the same run: what it costs merely to
 * read every byte with good code.
 */

import { bytesPerEntry, timeDecisions } from './lib/kill-switch.mjs';
import { isQuick } from './lib/quick.mjs';
import { runAlone } from './lib/run-alone.mjs';
import { formatNumber, median, medianRatio, percentile } from './lib/statistics.mjs';

const medianAimUs = 200;
const p99AimUs = 1_000;
const sizes = [1_000, 10_000, 100_000];
const roundsOf = (/** @type {number} */ chars) => (chars >= 100_000 ? 4_000 : 10_000) / (isQuick ? 8 : 1);

/** @param {number[]} us */
const spread = (us) =>
  `p50 ${formatNumber(median(us))} us, p99 ${formatNumber(percentile(us, 99))} us, fastest ${formatNumber(percentile(us, 0))} us`;

/** @returns {Promise<import('./lib/figures.mjs').BenchResult>} */
export async function run() {
  const figures = sizes.flatMap((chars) => {
    const { decisionUs, hashUs } = timeDecisions('prose', chars, roundsOf(chars));
    const [p50, p99] = [median(decisionUs), percentile(decisionUs, 99)];
    const title = `decision, ${chars / 1_000} kB of prose, window of 20`;
    return [
      {
        title: `${title}, p50`,
        measured: `${formatNumber(p50)} us`,
        aim: chars === 100_000 ? `below ${medianAimUs} us` : '-',
        ok: chars === 100_000 ? p50 < medianAimUs : null,
        absolutes: `fastest ${formatNumber(percentile(decisionUs, 0))} us; ${formatNumber(medianRatio(decisionUs, hashUs))} of a SHA-256 of it (${formatNumber(median(hashUs))} us)`,
      },
      {
        title: `${title}, p99`,
        measured: `${formatNumber(p99)} us`,
        aim: `below ${formatNumber(p99AimUs)} us`,
        ok: p99 < p99AimUs,
        absolutes: `slowest ${formatNumber(percentile(decisionUs, 100))} us of ${formatNumber(decisionUs.length)}`,
      },
    ];
  });
  const others = /** @type {const} */ ([
    ['log', 100_000],
    ['json', 100_000],
    ['cyrillic', 50_000],
  ]).map(
    ([kind, chars]) => `${kind}: ${spread(timeDecisions(kind, chars, roundsOf(100_000) / 4).decisionUs)}`,
  );
  const [small, large] = [bytesPerEntry(200, 200), bytesPerEntry(5_000, 5_000)];
  figures.push({
    title: 'memory of one request in a window, prompt and answer of 5 kB',
    measured: `${formatNumber(large)} B`,
    aim: 'below 4,096 B',
    ok: large < 4_096,
    absolutes: `200 characters of each: ${formatNumber(small)} B`,
  });
  return {
    figures,
    notes: [
      `100 kB of other texts (timestamps, UUIDs and numbers; minified; two bytes a letter). ${others.join('. ')}.`,
    ],
  };
}

await runAlone(import.meta.url, run);
