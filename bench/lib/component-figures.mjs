/** The entropy and store benches return rows of their own; here they become figures beside the others. */
import { formatNumber } from './statistics.mjs';

/** @typedef {import('./figures.mjs').BenchResult} BenchResult */

const scoreAimNs = 1_000;
const sessionAimBytes = 1_024;
/** "Flat" from a thousand to a million sessions: memory per session; time also pays for caches that no longer fit. */
const flatBytesAim = 1.25;

/** @param {any} result of entropy.mjs @returns {BenchResult} */
export function figuresOfEntropy({
  rows,
  all_distinct: dearest,
  ns_ratio_1m_to_1k: timeRatio,
  bytes_ratio_1m_to_1k: bytesRatio,
}) {
  const at100k = rows.find((/** @type {any} */ row) => row.sessions === 100_000) ?? rows.at(-1);
  const largest = Math.max(
    ...rows.map((/** @type {any} */ row) => row.bytes_per_session),
    dearest.bytes_per_session,
  );
  const list = (/** @type {(row: any) => string} */ text) => rows.map(text).join(', ');
  return {
    figures: [
      {
        title: "recordAndScore with its session's window at hand, 100,000 live sessions, median",
        measured: `${formatNumber(at100k.ns_per_call)} ns`,
        aim: `below ${formatNumber(scoreAimNs)} ns`,
        ok: at100k.ns_per_call < scoreAimNs,
        absolutes: `${list((row) => `${formatNumber(row.sessions)}: ${formatNumber(row.ns_per_call)} ns`)}; finding the window first, at 100,000: ${formatNumber(at100k.ns_with_look_up)} ns (a bare Map.get: ${formatNumber(at100k.ns_map_get)} ns)`,
      },
      {
        title: 'memory per session, the largest of all runs',
        measured: `${formatNumber(largest)} B`,
        aim: `below ${formatNumber(sessionAimBytes)} B`,
        ok: largest < sessionAimBytes,
        absolutes: `${list((row) => `${formatNumber(row.sessions)}: ${formatNumber(row.bytes_per_session)} B`)}; all steps different: ${formatNumber(dearest.bytes_per_session)} B`,
      },
      {
        title: '1,000,000 sessions / 1,000 sessions, memory per session',
        measured: formatNumber(bytesRatio),
        aim: `flat (at most ${flatBytesAim})`,
        ok: bytesRatio <= flatBytesAim,
        absolutes: `time per call ${formatNumber(timeRatio)} times, which is memory that no longer fits the caches`,
      },
    ],
  };
}

/**
 * The store bench prints its rows, each with its ratio; a version of it that returns `figures` is taken as it is.
 *
 * @param {any} result of store.mjs
 * @param {string} printed
 * @returns {BenchResult}
 */
export function figuresOfStore(result, printed) {
  if (Array.isArray(result?.figures)) return result;
  const row = /^store: (.+?): ([\d.]+) us a row, ([\d.]+) of the limit(.*)$/gm;
  const limit = /limit .*?([\d.]+) us a row/.exec(printed)?.[1] ?? '-';
  const figures = [...printed.matchAll(row)].map(([, shape = '', us = '', ratio = '', more = '']) => ({
    title: `store alone, ${shape} / parse and insert in one transaction`,
    measured: ratio,
    aim: '-',
    ok: null,
    absolutes: `${us} us a row against ${limit} us${more}`,
  }));
  return figures.length > 0
    ? { figures }
    : { figures: [], notes: printed ? [`\`\`\`\n${printed.trim()}\n\`\`\``] : [] };
}
