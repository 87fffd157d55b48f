/**
 * What a check for a semantic loop costs: the model by itself, CheckLoop over the socket, and a proxied call with the
 * check on and off. The sidecar's memory over as many checks as four hours bring. Random weights have the cost of real
 * ones; what they say means nothing.
 */
import { startGateway } from '../scripts/lib/gateway-process.mjs';
import { compareTargets } from './lib/compare-targets.mjs';
import {
  checkBudgetMs,
  measureEmbedding,
  measureMinilmThrough,
  minilmTitle,
  withMinilm,
} from './lib/embedding-figures.mjs';
import { openHelper } from './lib/helper.mjs';
import { isQuick } from './lib/quick.mjs';
import { runAlone } from './lib/run-alone.mjs';
import { connectSidecar, measureMemory, measureSidecar } from './lib/sidecar-figures.mjs';
import { startSidecar } from './lib/sidecar-process.mjs';
import { formatNumber, median } from './lib/statistics.mjs';

const rounds = isQuick ? 60 : 500;
const checkAimMs = 1;
/** `LOOP_EMBEDDING_SIDECAR_TIMEOUT` */
const callWaitsMs = 50;
/** Four hours of a fleet that asks ten times a second; in the first of them the heap still takes the room it is allowed. */
const checksOfFourHours = isQuick ? 4_000 : 144_000;
const memoryAim = 1.1;
const patient = { timeoutMs: 30_000, traceParent: null };

const ms = (/** @type {number} */ value) => `${formatNumber(value)} ms`;

/** @returns {Promise<import('./lib/figures.mjs').BenchResult>} */
export async function run() {
  const alone = await measureEmbedding({ rounds });
  const found = await measureSidecar({ calls: rounds * 6 });
  const through = await measureMinilmThrough({
    rounds: Math.ceil(rounds / 2),
    what: 'CheckLoop over the socket',
    open: openThroughSidecar,
  });
  const together = await withMinilm((folder) =>
    measureSidecar({ calls: rounds, env: { LOOP_EMBEDDING_MODEL_PATH: folder } }),
  );
  const searchUrl = process.env.REDIS_SEARCH_URL;
  const searched = searchUrl
    ? await measureSidecar({ calls: rounds * 6, env: { REDIS_URL: searchUrl } })
    : null;
  const memory = await measureMemory(checksOfFourHours);
  const gateway = await measureGateway();
  return {
    figures: [
      {
        title: `CheckLoop over the socket, static, store in memory, ${found.wordCount} words, one in flight: p50`,
        measured: ms(found.checkAlone.p50),
        aim: `at most ${ms(checkAimMs)}`,
        ok: found.checkAlone.p50 <= checkAimMs,
        absolutes: `p99 ${ms(found.checkAlone.p99)}; as a unary call p50 ${ms(found.unaryAlone.p50)}; Embed p50 ${ms(found.embedAlone.p50)}; there and back p50 ${ms(found.wayAlone.p50)}`,
      },
      {
        title: 'CheckLoop, static, 32 in flight: p99',
        measured: ms(found.checkTogether.p99),
        aim: `below the budget of ${ms(checkBudgetMs)}`,
        ok: found.checkTogether.p99 < checkBudgetMs,
        absolutes: `${formatNumber(found.checkTogether.perSecond)}/s, p50 ${ms(found.checkTogether.p50)}`,
      },
      ...alone.figures,
      ...through.figures,
      ...(together === null ? [] : [togetherFigure(together)]),
      ...(searched === null ? [] : [searchedFigure(searched)]),
      {
        title: `resident memory of the sidecar, last quarter of ${checksOfFourHours.toLocaleString('en')} checks / second quarter`,
        measured: formatNumber(memory.growth),
        aim: `flat: at most ${memoryAim}`,
        ok: memory.growth <= memoryAim,
        absolutes: `${memory.quarters.map((bytes) => formatNumber(bytes / 1024 ** 2)).join(', ')} MB at the ends of the quarters; ${memory.sessions.toLocaleString('en')} sessions, each forgotten ${memory.forgottenAfter} after its last prompt`,
      },
      ...gateway,
    ],
    notes: [
      ...(alone.notes ?? []),
      ...(searched === null
        ? ['Redis KNN was not measured: REDIS_SEARCH_URL names no Redis with a query engine.']
        : []),
    ],
  };
}

/** @typedef {Awaited<ReturnType<typeof measureSidecar>>} SidecarFigures */

/** Texts are computed one after another: how many fit into the time that a call waits. @param {SidecarFigures} found */
const togetherFigure = ({ checkTogether: { p50, p99, perSecond }, checkAlone, wordCount }) => ({
  title: `${minilmTitle}, CheckLoop, ${wordCount} words, 32 in flight: p50`,
  measured: ms(p50),
  aim: '-',
  ok: null,
  absolutes: `p99 ${ms(p99)}, ${formatNumber(perSecond)}/s; one in flight p50 ${ms(checkAlone.p50)}; a call waits ${ms(callWaitsMs)} and goes on unchecked`,
});

/** @param {SidecarFigures} found */
const searchedFigure = ({ checkAlone: { p50, p99 }, checkTogether, embedAlone }) => ({
  title: 'CheckLoop over the socket, static, store in Redis with its query engine, one in flight: p50',
  measured: ms(p50),
  aim: `below the budget of ${ms(checkBudgetMs)}`,
  ok: p50 < checkBudgetMs,
  absolutes: `p99 ${ms(p99)}; without the search, Embed p50 ${ms(embedAlone.p50)}; 32 in flight p99 ${ms(checkTogether.p99)}`,
});

/** @param {string} folder of the model */
async function openThroughSidecar(folder) {
  const sidecar = await startSidecar({ LOOP_EMBEDDING_MODEL_PATH: folder, LOOP_QUEUE_MAX: '4096' });
  const client = await connectSidecar(sidecar.socketPath);
  let serial = 0;
  return {
    embed: (/** @type {string} */ prompt) => {
      serial += 1;
      return client.checkLoop(
        {
          tenant_id: 'bench',
          session_id: `session-${serial % 50}`,
          request_id: `${serial}`,
          prompt,
          // Random weights find everything alike, and the words of all five prompts would be compared each time; no
          // similarity is above this, as with real weights hardly any is.
          threshold: /** @type {import('#contracts').LoopSimilarity} */ (1),
        },
        patient,
      );
    },
    close: async () => {
      await client.close();
      await sidecar.stop();
    },
  };
}

/** One proxied call at a time, through two gateways that differ in one setting. */
async function measureGateway() {
  const libFile = (/** @type {string} */ name) => new URL(`./lib/${name}`, import.meta.url);
  const load = openHelper(libFile('llm-load.mjs'));
  const upstream = openHelper(libFile('llm-upstream.mjs'));
  const upstreamPort = await upstream.call('listen');
  const start = (/** @type {string} */ isOn) =>
    startGateway({
      env: {
        OBSERVATORY_UPSTREAM_OPENAI_URL: `http://127.0.0.1:${upstreamPort}/v1`,
        OBSERVATORY_UPSTREAM_OPENAI_KEY: 'sk-bench',
        LLM_CACHE_BACKEND: 'off',
        LOOP_DETECTION_ENABLED: isOn,
      },
    });
  const gateways = { off: await start('false'), on: await start('true') };
  const target = (/** @type {'on' | 'off'} */ name) => ({
    pid: gateways[name].pid,
    target: {
      port: gateways[name].port,
      path: '/agents/bench/proxy/openai/v1/chat/completions',
      headers: { authorization: `Bearer ${gateways[name].agentKey}` },
    },
  });
  try {
    const windows = await compareTargets(
      load,
      { off: target('off'), on: target('on') },
      { connections: 1, bodyBytes: 2_000, stream: false },
    );
    const of = (/** @type {'on' | 'off'} */ name, /** @type {'p50' | 'p99'} */ what) =>
      median((windows[name] ?? []).map((window) => window[what]));
    return [
      {
        title: 'a proxied call with the check on, less one with it off: p50',
        measured: ms(of('on', 'p50') - of('off', 'p50')),
        aim: '-',
        ok: null,
        absolutes: `p50 ${ms(of('on', 'p50'))} against ${ms(of('off', 'p50'))}, p99 ${ms(of('on', 'p99'))} against ${ms(of('off', 'p99'))}`,
      },
    ];
  } finally {
    for (const helper of [load, upstream]) helper.close();
    await Promise.all([gateways.off.stop(), gateways.on.stop()]);
  }
}

await runAlone(import.meta.url, run);
