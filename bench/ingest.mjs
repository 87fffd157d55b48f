/**
 * What a durable DecisionLog costs: single POSTs against a bare Fastify route that only parses the same body, NDJSON
 * batches against parsing and inserting alone. Short windows in turn (A B B A ...), so that what slows the machine
 * slows both; the figure is the median of the ratios of neighbours. Short ones, since a shared machine changes its speed
 * within seconds: five windows of four had ratios of 0.47 to 0.79 in one run.
 */
import { startGateway } from '../scripts/lib/gateway-process.mjs';
import { openHelper } from './lib/helper.mjs';
import { readUsage } from './lib/machine.mjs';
import { isQuick } from './lib/quick.mjs';
import { runAlone } from './lib/run-alone.mjs';
import { formatNumber, median, medianRatio } from './lib/statistics.mjs';
import { sessionCount, stepBytes } from './lib/traffic.mjs';

/** @typedef {import('./lib/http-load.mjs').WindowResult} WindowResult */

const path = '/v1/decision-logs';
const windowSeconds = 1.5;
const warmUpSeconds = 3;
const rounds = isQuick ? 3 : 15;
const singleConnections = 64;
const batchConnections = 4;
const linesPerBatch = 500;
const singleRatioAim = 0.6;
const batchRatioAim = 0.4;

const libFile = (/** @type {string} */ name) => new URL(`./lib/${name}`, import.meta.url);

/** @param {WindowResult} window @param {string} what @returns {WindowResult} throws if anything but 202 came */
function requireAccepted(window, what) {
  const others = Object.entries(window.statuses).filter(([status]) => status !== '202');
  if (window.requests > 0 && others.length === 0) return window;
  throw new Error(`${what}: ${JSON.stringify(window.statuses)} instead of 202 only\n${window.firstBad}`);
}

/** @returns {Promise<import('./lib/figures.mjs').BenchResult>} */
export async function run() {
  const load = openHelper(libFile('http-load.mjs'));
  const bare = openHelper(libFile('bare-server.mjs'));
  const limit = openHelper(libFile('insert-limit.mjs'));
  const gateway = await startGateway();
  try {
    const single = { path, key: gateway.agentKey, connections: singleConnections, linesPerBody: 1 };
    await load.call('open', { ...single, name: 'bare', port: await bare.call('listen'), prefix: 'bare' });
    await load.call('open', { ...single, name: 'durable', port: gateway.port, prefix: 'single' });
    const batch = { path, key: gateway.agentKey, connections: batchConnections, linesPerBody: linesPerBatch };
    await load.call('open', { ...batch, name: 'batch', port: gateway.port, prefix: 'batch' });

    const singles = await compareSingles(load, { bare: bare.pid, durable: gateway.pid, load: load.pid });
    const batches = await compareBatches(load, limit);
    return { figures: [singles.figure, batches.figure], notes: [...singles.notes, ...batches.notes] };
  } finally {
    for (const helper of [load, bare, limit]) helper.close();
    await gateway.stop();
  }
}

/**
 * Each comes first as often as the other.
 *
 * @template {string} Name
 * @param {number} round
 * @param {readonly Name[]} names
 */
const inTurn = (round, names) => (round % 2 === 0 ? names : names.toReversed());

/** @param {ReturnType<typeof openHelper>} load @param {{ bare: number, durable: number, load: number }} pids */
async function compareSingles(load, pids) {
  /** @type {{ bare: WindowResult[], durable: WindowResult[] }} */
  const windows = { bare: [], durable: [] };
  const cpuSeconds = { bare: 0, durable: 0, load: 0 };
  for (const name of ['bare', 'durable']) await load.call('run', { name, seconds: warmUpSeconds });
  for (let round = 0; round < rounds; round++) {
    for (const name of inTurn(round, /** @type {const} */ (['bare', 'durable']))) {
      const before = { server: readUsage(pids[name]).cpuSeconds, load: readUsage(pids.load).cpuSeconds };
      windows[name].push(requireAccepted(await load.call('run', { name, seconds: windowSeconds }), name));
      cpuSeconds[name] += readUsage(pids[name]).cpuSeconds - before.server;
      cpuSeconds.load += readUsage(pids.load).cpuSeconds - before.load;
    }
  }
  const rate = (/** @type {WindowResult[]} */ of) => of.map(({ perSecond }) => perSecond);
  const ratio = medianRatio(rate(windows.durable), rate(windows.bare));
  const p99 = (/** @type {WindowResult[]} */ of) => formatNumber(median(of.map((window) => window.p99)));
  const requests = (/** @type {WindowResult[]} */ of) => of.reduce((sum, window) => sum + window.requests, 0);
  const cpu = {
    durable: formatNumber((cpuSeconds.durable / requests(windows.durable)) * 1e6),
    bare: formatNumber((cpuSeconds.bare / requests(windows.bare)) * 1e6),
    load: formatNumber((cpuSeconds.load / (requests(windows.durable) + requests(windows.bare))) * 1e6),
  };
  return {
    figure: {
      title: `single durable POST / bare Fastify route that parses the same body, ${singleConnections} connections`,
      measured: formatNumber(ratio),
      aim: `at least ${singleRatioAim}`,
      ok: ratio >= singleRatioAim,
      absolutes: `${formatNumber(median(rate(windows.durable)))}/s (p99 ${p99(windows.durable)} ms) against ${formatNumber(median(rate(windows.bare)))}/s (p99 ${p99(windows.bare)} ms)`,
    },
    notes: [
      `Single: ${rounds} x ${windowSeconds} s each in turn, bodies of ${stepBytes} B, ${formatNumber(sessionCount)} sessions, ` +
        `every trace_id once. CPU per request, all threads: ours ${cpu.durable} us, bare ${cpu.bare} us, load generator ${cpu.load} us. ` +
        `Ratios: ${rate(windows.durable)
          .map((value, at) => formatNumber(value / (rate(windows.bare)[at] ?? Number.NaN)))
          .join(', ')}.`,
    ],
  };
}

/** @param {ReturnType<typeof openHelper>} load @param {ReturnType<typeof openHelper>} limit */
async function compareBatches(load, limit) {
  const seconds = windowSeconds;
  const lineCount = linesPerBatch;
  /** @type {number[]} */
  const limits = [];
  /** @type {number[]} */
  const throughHttp = [];
  await limit.call('run', { seconds: 1, lineCount });
  await load.call('run', { name: 'batch', seconds: 1 });
  for (let round = 0; round < rounds; round++) {
    for (const name of inTurn(round, ['limit', 'batch'])) {
      if (name === 'limit') limits.push((await limit.call('run', { seconds, lineCount })).linesPerSecond);
      else {
        const window = requireAccepted(await load.call('run', { name, seconds }), name);
        throughHttp.push(window.perSecond * lineCount);
      }
    }
  }
  const ratio = medianRatio(throughHttp, limits);
  return {
    figure: {
      title: `NDJSON batches of ${lineCount}, durable, over HTTP / JSON.parse plus one prepared insert per line in one transaction`,
      measured: formatNumber(ratio),
      aim: `at least ${batchRatioAim}`,
      ok: ratio >= batchRatioAim,
      absolutes: `${formatNumber(median(throughHttp))} lines/s against ${formatNumber(median(limits))} lines/s`,
    },
    notes: [
      `Batches: ${rounds} x ${seconds} s each in turn, ${batchConnections} connections. ` +
        `Ratios: ${throughHttp.map((value, at) => formatNumber(value / (limits[at] ?? Number.NaN))).join(', ')}.`,
    ],
  };
}

await runAlone(import.meta.url, run);
