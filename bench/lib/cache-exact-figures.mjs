/**
 * Exact hits through the whole gateway, every other guard on, and of the cache by itself, beside a bare server that
 * parses, hashes and looks up.
 */
import { startGateway } from '../../scripts/lib/gateway-process.mjs';
import { compareTargets } from './compare-targets.mjs';
import { openHelper } from './helper.mjs';
import { formatNumber, median, medianRatio } from './statistics.mjs';

const connections = 32;
const bodyBytes = 2_000;
/** Different questions: all of them are in the cache after the warm-up. */
const distinct = 997;
const ratioAim = 0.7;

const libFile = (/** @type {string} */ name) => new URL(`./${name}`, import.meta.url);

/** @returns {Promise<import('./figures.mjs').BenchResult>} */
export async function exactHitFigures() {
  const load = openHelper(libFile('llm-load.mjs'));
  const upstream = openHelper(libFile('llm-upstream.mjs'));
  const bare = openHelper(libFile('bare-cache.mjs'));
  const alone = openHelper(libFile('cache-alone.mjs'));
  const upstreamPort = await upstream.call('listen');
  const barePort = await bare.call('listen');
  const alonePort = await alone.call('listen');
  const gateway = await startGateway({
    env: {
      OBSERVATORY_UPSTREAM_OPENAI_URL: `http://127.0.0.1:${upstreamPort}/v1`,
      OBSERVATORY_UPSTREAM_OPENAI_KEY: 'sk-bench',
      LLM_CACHE_BACKEND: 'memory',
      LLM_CACHE_SEMANTIC: 'off',
      LOOP_DETECTION_ENABLED: 'false',
    },
  });
  const path = '/v1/chat/completions';
  try {
    const windows = await compareTargets(
      load,
      {
        bare: { target: { port: barePort, path, headers: {} }, pid: bare.pid },
        alone: { target: { port: alonePort, path, headers: {} }, pid: alone.pid },
        hits: {
          target: {
            port: gateway.port,
            path: `/agents/bench/proxy/openai${path}`,
            headers: { authorization: `Bearer ${gateway.agentKey}` },
          },
          pid: gateway.pid,
        },
      },
      { connections, bodyBytes, stream: false, distinct },
    );
    const of = (
      /** @type {'bare' | 'alone' | 'hits'} */ name,
      /** @type {'perSecond' | 'cpuUs' | 'p50'} */ what,
    ) => (windows[name] ?? []).map((window) => window[what]);
    const ratioOf = (/** @type {'alone' | 'hits'} */ name) =>
      medianRatio(of(name, 'perSecond'), of('bare', 'perSecond'));
    const ratio = ratioOf('hits');
    const rate = (/** @type {'bare' | 'alone' | 'hits'} */ name) =>
      `${show(of(name, 'perSecond'))}/s (p50 ${show(of(name, 'p50'))} ms)`;
    const show = (/** @type {number[]} */ values) => formatNumber(median(values));
    return {
      figures: [
        {
          title: `exact hits through the gateway / bare server that parses, hashes and looks up, ${connections} connections, 2 kB`,
          measured: formatNumber(ratio),
          aim: `at least ${ratioAim}`,
          ok: ratio >= ratioAim,
          absolutes: `${rate('hits')} against ${rate('bare')}`,
        },
        {
          title: 'the same of the cache by itself, on such a server: canonical form, key, look-up, answer',
          measured: formatNumber(ratioOf('alone')),
          aim: '-',
          ok: null,
          absolutes: rate('alone'),
        },
      ],
      notes: [
        `Exact hits: ${distinct} questions in turn; identity, policy, hold, kill switch, record and session steps included. ` +
          `CPU per request, all threads: ours ${show(of('hits', 'cpuUs'))} us, the cache by itself ${show(of('alone', 'cpuUs'))} us, bare ${show(of('bare', 'cpuUs'))} us.`,
      ],
    };
  } finally {
    for (const helper of [load, upstream, bare, alone]) helper.close();
    await gateway.stop();
  }
}
