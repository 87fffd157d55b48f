/**
 * What a proxied LLM call costs: a bare undici pass-through (the limit), ours with every guard on, and Portkey's gateway
 * from npm, all before one scripted upstream. Short windows in turn, so that what slows the machine slows all alike; CPU
 * per request is read from the processes themselves, all threads together.
 *
 * Added latency is ours less going straight to the upstream, at one connection.
 */

import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { findFreePort, startGateway } from '../scripts/lib/gateway-process.mjs';
import { compareTargets, rounds, windowSeconds } from './lib/compare-targets.mjs';
import { openHelper } from './lib/helper.mjs';
import { Inspector } from './lib/inspector.mjs';
import { runAlone } from './lib/run-alone.mjs';
import { formatNumber, median } from './lib/statistics.mjs';

const path = '/v1/chat/completions';
const connections = 32;
const bodyBytes = 2_000;
const largeBodyBytes = 400_000;
const largeConnections = 8;
const heldCount = 500;
const aims = {
  cpuRatio: 2,
  largeCpuRatio: 3,
  timesPortkey: 8,
  addedP50Ms: 0.35,
  addedFirstByteMs: 0.5,
  heldBytes: 10_000,
};

const libFile = (/** @type {string} */ name) => new URL(`./lib/${name}`, import.meta.url);

/** @returns {Promise<import('./lib/figures.mjs').BenchResult>} */
export async function run() {
  const load = openHelper(libFile('llm-load.mjs'));
  const upstream = openHelper(libFile('llm-upstream.mjs'));
  const bare = openHelper(libFile('bare-proxy.mjs'));
  const upstreamPort = await upstream.call('listen');
  const barePort = await bare.call('listen', { upstreamPort });
  const inspectPort = await findFreePort();
  const gateway = await startGateway({
    nodeArgs: [`--inspect=127.0.0.1:${inspectPort}`],
    env: {
      OBSERVATORY_UPSTREAM_OPENAI_URL: `http://127.0.0.1:${upstreamPort}/v1`,
      OBSERVATORY_UPSTREAM_OPENAI_KEY: 'sk-bench',
      HITL_HOLD_MS: '600000',
      // Their figures are in their own sections; here, as before there were any.
      LOOP_DETECTION_ENABLED: 'false',
      LLM_CACHE_BACKEND: 'off',
    },
  });
  const portkey = await startPortkey();
  const key = { authorization: `Bearer ${gateway.agentKey}` };
  const ours = { port: gateway.port, path: `/agents/bench/proxy/openai${path}`, headers: key };
  const direct = { port: upstreamPort, path, headers: { authorization: 'Bearer sk-bench' } };
  const passThrough = { ...direct, port: barePort };
  const peer = {
    port: portkey.port,
    path,
    headers: {
      ...direct.headers,
      'x-portkey-provider': 'openai',
      'x-portkey-custom-host': `http://127.0.0.1:${upstreamPort}/v1`,
    },
  };
  const compare = (
    /** @type {Record<string, { target: object, pid: number }>} */ targets,
    /** @type {object} */ shape,
  ) => compareTargets(load, targets, shape);
  try {
    await limitAgent(gateway);
    const small = await compare(
      {
        bare: { target: passThrough, pid: bare.pid },
        ours: { target: ours, pid: gateway.pid },
        portkey: { target: peer, pid: portkey.pid },
      },
      { connections, bodyBytes, stream: false },
    );
    const large = await compare(
      { bare: { target: passThrough, pid: bare.pid }, ours: { target: ours, pid: gateway.pid } },
      { connections: largeConnections, bodyBytes: largeBodyBytes, stream: false },
    );
    const single = await compare(
      {
        direct: { target: direct, pid: upstream.pid },
        bare: { target: passThrough, pid: bare.pid },
        ours: { target: ours, pid: gateway.pid },
      },
      { connections: 1, bodyBytes, stream: false },
    );
    const stream = await compare(
      {
        direct: { target: direct, pid: upstream.pid },
        bare: { target: passThrough, pid: bare.pid },
        ours: { target: ours, pid: gateway.pid },
      },
      { connections: 1, bodyBytes, stream: true },
    );
    const heldBytes = await heldCallBytes(load, gateway, ours, inspectPort);
    return report({ small, large, single, stream, heldBytes });
  } finally {
    for (const helper of [load, upstream, bare]) helper.close();
    portkey.stop();
    await gateway.stop();
  }
}

/** Every guard has something to do: limits far above what the bench reaches. @param {import('../scripts/lib/gateway-process.mjs').GatewayProcess} gateway */
async function limitAgent(gateway) {
  const answer = await fetch(`${gateway.url}/v1/agents/bench/policy`, {
    method: 'PATCH',
    headers: operatorHeaders(gateway),
    body: JSON.stringify({
      requests_per_minute: 10_000_000,
      tokens_per_minute: 1_000_000_000,
      budget_hour_usd: 1_000_000,
      budget_day_usd: 1_000_000,
      budget_month_usd: 1_000_000,
      allowed_hours: { time_zone: 'Europe/Zurich', days: [1, 2, 3, 4, 5, 6, 7], from: '00:00', to: '00:00' },
      session_calls_max: 10_000_000,
    }),
  });
  if (!answer.ok) throw new Error(`policy: ${answer.status} ${await answer.text()}`);
}

/** @param {import('../scripts/lib/gateway-process.mjs').GatewayProcess} gateway */
const operatorHeaders = (gateway) => ({
  authorization: `Bearer ${gateway.operatorToken}`,
  'x-observatory-operator-id': 'bench',
  'content-type': 'application/json',
});

/**
 * 500 calls of a paused session, and what one costs the gateway while it hangs.
 *
 * @param {ReturnType<typeof openHelper>} load
 * @param {import('../scripts/lib/gateway-process.mjs').GatewayProcess} gateway
 * @param {{ port: number, path: string, headers: Record<string, string> }} ours
 * @param {number} inspectPort
 */
async function heldCallBytes(load, gateway, ours, inspectPort) {
  const session = 'bench-held';
  const headers = { ...ours.headers, 'x-observatory-session': session };
  const hold = { ...ours, headers, connections: heldCount, bodyBytes, stream: false };
  await load.call('open', { ...hold, name: 'begin', connections: 1 });
  await load.call('run', { name: 'begin', seconds: 0.01 });
  await load.call('close', 'begin');
  await sleep(1_000);
  const command = (/** @type {string} */ name, body = {}) =>
    fetch(`${gateway.url}/v1/sessions/${session}/${name}`, {
      method: 'POST',
      headers: operatorHeaders(gateway),
      body: JSON.stringify(body),
    });
  const inspector = await Inspector.attach(inspectPort);
  await load.call('open', { ...hold, name: 'held' });
  await command('pause', { reason: 'bench' });
  await sleep(500);
  const before = await inspector.liveBytes();
  // Long enough for every connection to begin its one call; none begins a second while it hangs.
  const running = load.call('run', { name: 'held', seconds: 3 });
  for (let count = 0; count < heldCount; ) {
    await sleep(100);
    const answer = await fetch(`${gateway.url}/v1/held-calls?session_id=${session}`, {
      headers: operatorHeaders(gateway),
    });
    count = /** @type {any} */ (await answer.json()).items.length;
  }
  const after = await inspector.liveBytes();
  await command('resume');
  await running;
  await load.call('close', 'held');
  inspector.close();
  return (after - before) / heldCount;
}

/** Portkey's gateway as its npm package starts. */
async function startPortkey() {
  const root = dirname(createRequire(import.meta.url).resolve('@portkey-ai/gateway/package.json'));
  const port = await findFreePort();
  const child = spawn(
    process.execPath,
    [join(root, 'build/start-server.js'), `--port=${port}`, '--headless'],
    {
      cwd: root,
      stdio: ['ignore', 'ignore', 'ignore'],
      env: { ...process.env, NODE_ENV: 'production' },
    },
  );
  process.once('exit', () => child.kill('SIGKILL'));
  for (let attempt = 0; attempt < 100; attempt += 1) {
    if (
      await fetch(`http://127.0.0.1:${port}/`).then(
        () => true,
        () => false,
      )
    )
      break;
    await sleep(100);
  }
  return { port, pid: child.pid ?? 0, stop: () => child.kill('SIGKILL') };
}

const of = (
  /** @type {import('./lib/compare-targets.mjs').Window[] | undefined} */ windows,
  /** @type {keyof import('./lib/compare-targets.mjs').Window} */ name,
) => (windows ?? []).map((window) => window[name]);
const ratioOf = (/** @type {number[]} */ values, /** @type {number[]} */ references) =>
  median(values.map((value, at) => value / (references[at] ?? Number.NaN)));
const differenceOf = (/** @type {number[]} */ values, /** @type {number[]} */ references) =>
  median(values.map((value, at) => value - (references[at] ?? Number.NaN)));

/** @param {Record<string, any>} measured @returns {import('./lib/figures.mjs').BenchResult} */
function report({ small, large, single, stream, heldBytes }) {
  const cpuRatio = ratioOf(of(small.ours, 'cpuUs'), of(small.bare, 'cpuUs'));
  const timesPortkey = ratioOf(of(small.ours, 'perSecond'), of(small.portkey, 'perSecond'));
  const largeRatio = ratioOf(of(large.ours, 'cpuUs'), of(large.bare, 'cpuUs'));
  const added = differenceOf(of(single.ours, 'p50'), of(single.direct, 'p50'));
  const addedBare = differenceOf(of(single.bare, 'p50'), of(single.direct, 'p50'));
  const firstByte = differenceOf(of(stream.ours, 'firstByteP50'), of(stream.direct, 'firstByteP50'));
  const firstByteBare = differenceOf(of(stream.bare, 'firstByteP50'), of(stream.direct, 'firstByteP50'));
  const us = (/** @type {import('./lib/compare-targets.mjs').Window[]} */ windows) =>
    `${formatNumber(median(of(windows, 'cpuUs')))} us`;
  const rate = (/** @type {import('./lib/compare-targets.mjs').Window[]} */ windows) =>
    `${formatNumber(median(of(windows, 'perSecond')))}/s`;
  return {
    figures: [
      {
        title: `CPU per call, ours with all guards / bare undici pass-through, ${formatNumber(bodyBytes / 1000)} kB, ${connections} connections`,
        measured: formatNumber(cpuRatio),
        aim: `at most ${aims.cpuRatio}`,
        ok: cpuRatio <= aims.cpuRatio,
        absolutes: `${us(small.ours)} against ${us(small.bare)}; Portkey ${us(small.portkey)}`,
      },
      {
        title: 'calls per second, ours / Portkey gateway, the same load',
        measured: formatNumber(timesPortkey),
        aim: `at least ${aims.timesPortkey}`,
        ok: timesPortkey >= aims.timesPortkey,
        absolutes: `${rate(small.ours)} against ${rate(small.portkey)}; bare ${rate(small.bare)}`,
      },
      {
        title: `CPU per call, ours / bare, ${largeBodyBytes / 1000} kB prompt`,
        measured: formatNumber(largeRatio),
        aim: `at most ${aims.largeCpuRatio}`,
        ok: largeRatio <= aims.largeCpuRatio,
        absolutes: `${us(large.ours)} against ${us(large.bare)}`,
      },
      {
        title: 'added to the p50 at one connection',
        measured: `${formatNumber(added)} ms`,
        aim: `at most ${aims.addedP50Ms} ms`,
        ok: added <= aims.addedP50Ms,
        absolutes: `bare adds ${formatNumber(addedBare)} ms`,
      },
      {
        title: 'added to the time to first token at one connection',
        measured: `${formatNumber(firstByte)} ms`,
        aim: `at most ${aims.addedFirstByteMs} ms`,
        ok: firstByte <= aims.addedFirstByteMs,
        absolutes: `bare adds ${formatNumber(firstByteBare)} ms`,
      },
      {
        title: `memory of one of ${heldCount} held calls`,
        measured: `${formatNumber(heldBytes / 1000)} kB`,
        aim: `below ${aims.heldBytes / 1000} kB`,
        ok: heldBytes < aims.heldBytes,
        absolutes: `live memory of JavaScript and buffers, bodies of ${bodyBytes / 1000} kB included`,
      },
    ],
    notes: [
      `${rounds} x ${windowSeconds} s each in turn. Every question differs, over 1,000 sessions of one agent with a limit of every kind, ` +
        'kill switch on, every call recorded in SQLite. Steps for the session view are made of at most 200 calls a second. ' +
        'The load generator, the upstream and the proxy share the cores.',
    ],
  };
}

await runAlone(import.meta.url, run);
