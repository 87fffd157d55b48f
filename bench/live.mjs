/**
 * The live topics under load: how late 1,000 subscribers hear of a step, and what one that stops reading costs.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import { request } from 'undici';
import { findFreePort, startGateway } from '../scripts/lib/gateway-process.mjs';
import { LatencyHistogram } from '../scripts/lib/latency-histogram.mjs';
import { FrozenSubscriber } from './lib/frozen-subscriber.mjs';
import { openHelper } from './lib/helper.mjs';
import { Inspector } from './lib/inspector.mjs';
import { readUsage } from './lib/machine.mjs';
import { isQuick } from './lib/quick.mjs';
import { runAlone } from './lib/run-alone.mjs';
import { formatMegabytes, formatNumber, median } from './lib/statistics.mjs';
import { stepBytes } from './lib/traffic.mjs';

/** @typedef {import('../scripts/lib/gateway-process.mjs').GatewayProcess} GatewayProcess */

const topic = 'gateway:messages';
const path = '/v1/decision-logs';

const subscriberCount = 1_000;
const subscriberProcesses = 2;
const eventsPerSecond = 100;
const fanOutSeconds = isQuick ? 8 : 20;
const fanOutAimMs = 250;

const frozenStepsPerSecond = 2_000;
const frozenSeconds = 20;
/** In small batches, so that the traffic and not the price of a request is what is heavy. */
const frozenLinesPerRequest = 20;
const frozenConnections = 8;
const frozenRounds = isQuick ? 1 : 2;
const frozenAimBytes = 16 * 1024 ** 2;
/** Often enough to see what is held in the seconds before the cut. */
const sampleEveryMs = 2_000;
/** Below this share of the traffic that was meant to flow, nothing was measured. */
const paceShareMin = 0.9;

const libFile = (/** @type {string} */ name) => new URL(`./lib/${name}`, import.meta.url);

const tooBusy = ' The machine was too busy to send at that pace: not measured.';

/** @returns {Promise<import('./lib/figures.mjs').BenchResult>} */
export async function run() {
  const fanOut = await measureFanOut();
  const frozen = await measureFrozen();
  return { figures: [fanOut.figure, frozen.figure], notes: [...fanOut.notes, ...frozen.notes] };
}

/** @param {number} index @param {string} prefix @returns {string} a step that says when it was sent */
function stampedStep(index, prefix) {
  return JSON.stringify({
    meta: {
      trace_id: `${prefix}-${index}`,
      timestamp: new Date().toISOString(),
      session_id: `${prefix}-session-${index % 50}`,
    },
    identity: { agent_id: `agent-${index % 50}`, agent_type: 'coder', capability_version: '1.0.0' },
    cognition: {
      intent: `step ${index}`,
      reasoning_chain: ['What matters here is when it arrives, not what it says. '.repeat(4)],
    },
    action: {
      status: 'success',
      tool_call: 'file.read',
      tool_input: {
        path: 'packages/billing/src/invoice/totals.ts',
        sent_us: Number(process.hrtime.bigint() / 1000n),
      },
      tool_output_summary: 'Three matches; the first is the function itself, the others call it. '.repeat(3),
    },
  });
}

/** @param {GatewayProcess} gateway @param {{ seconds: number, perSecond: number, prefix: string }} pace @returns {Promise<number>} how many were accepted */
async function postPaced({ url, agentKey }, { seconds, perSecond, prefix }) {
  const count = seconds * perSecond;
  const startedAt = performance.now();
  /** @type {Promise<void>[]} */
  const posts = [];
  let accepted = 0;
  for (let index = 0; index < count; index++) {
    const waitMs = startedAt + (index * 1000) / perSecond - performance.now();
    if (waitMs > 1) await sleep(waitMs);
    const post = request(new URL(path, url), {
      method: 'POST',
      headers: { authorization: `Bearer ${agentKey}`, 'content-type': 'application/json' },
      body: stampedStep(index, prefix),
    }).then(async ({ statusCode, body }) => {
      await body.dump();
      if (statusCode === 202) accepted++;
    });
    posts.push(post);
  }
  await Promise.all(posts);
  return accepted;
}

async function measureFanOut() {
  const gateway = await startGateway();
  const helpers = Array.from({ length: subscriberProcesses }, () => openHelper(libFile('subscribers.mjs')));
  try {
    const target = {
      url: gateway.url,
      token: gateway.operatorToken,
      topic,
      count: subscriberCount / subscriberProcesses,
    };
    await Promise.all(helpers.map((helper) => helper.call('connect', target)));
    await postPaced(gateway, { seconds: 3, perSecond: eventsPerSecond, prefix: 'warm' });
    await sleep(500);
    await Promise.all(helpers.map((helper) => helper.call('reset')));

    const before = { gateway: readUsage(gateway.pid), helpers: helpers.map(({ pid }) => readUsage(pid)) };
    const startedAt = performance.now();
    const sent = await postPaced(gateway, {
      seconds: fanOutSeconds,
      perSecond: eventsPerSecond,
      prefix: 'fan',
    });
    const seconds = (performance.now() - startedAt) / 1000;
    const cpu = (/** @type {number} */ pid, /** @type {{ cpuSeconds: number }} */ earlier) =>
      (readUsage(pid).cpuSeconds - earlier.cpuSeconds) / seconds;
    const gatewayCpu = cpu(gateway.pid, before.gateway);
    const helperCpus = helpers.map(({ pid }, at) => cpu(pid, before.helpers[at] ?? { cpuSeconds: 0 }));
    await sleep(1_000);

    const latency = new LatencyHistogram();
    const reads = await Promise.all(helpers.map((helper) => helper.call('read')));
    for (const read of reads) latency.merge(read.latency);
    const complete = reads.every(
      ({ receivedMin, receivedMax }) => receivedMin === sent && receivedMax === sent,
    );
    const cuts = reads.reduce((sum, read) => sum + read.cuts, 0);
    const keptPace = sent / seconds >= eventsPerSecond * paceShareMin;
    const p50 = latency.percentileMs(50) ?? Number.NaN;
    const p99 = latency.percentileMs(99) ?? Number.NaN;
    return {
      figure: {
        title: `POST sent to frame received, ${formatNumber(subscriberCount)} live subscribers, ${eventsPerSecond} events/s, p99`,
        measured: `${formatNumber(p99)} ms`,
        aim: `below ${fanOutAimMs} ms`,
        ok: keptPace ? p99 < fanOutAimMs && complete && cuts === 0 : null,
        absolutes: `p50 ${formatNumber(p50)} ms, max ${formatNumber(latency.maxMs)} ms; ${complete ? 'every subscriber got every event' : 'EVENTS ARE MISSING'}${cuts > 0 ? `, ${cuts} were cut` : ''}`,
      },
      notes: [
        `Fan-out: ${formatNumber(sent)} steps in ${formatNumber(seconds)} s, ${formatNumber(latency.count)} deliveries. ` +
          `Cores in use: gateway ${formatNumber(gatewayCpu)}, subscribers ${helperCpus.map(formatNumber).join(' and ')}. ` +
          `Feeds leave every 100 ms, so a p50 of about 50 ms is the design.${keptPace ? '' : tooBusy}`,
      ],
    };
  } finally {
    for (const helper of helpers) helper.close();
    await gateway.stop();
  }
}

/**
 * The same traffic with and without a frozen subscriber; one that reads is there both times.
 *
 * @param {boolean} withFrozen
 */
async function measureMemory(withFrozen) {
  const inspectPort = await findFreePort();
  const gateway = await startGateway({ nodeArgs: [`--inspect=127.0.0.1:${inspectPort}`] });
  const load = openHelper(libFile('http-load.mjs'));
  const reader = openHelper(libFile('subscribers.mjs'));
  try {
    const inspector = await Inspector.attach(inspectPort);
    await reader.call('connect', { url: gateway.url, token: gateway.operatorToken, topic, count: 1 });
    const target = {
      port: gateway.port,
      path,
      key: gateway.agentKey,
      connections: frozenConnections,
      linesPerBody: frozenLinesPerRequest,
    };
    await load.call('open', { ...target, name: 'steps', prefix: 'frozen' });
    const pace = { name: 'steps', perSecond: frozenStepsPerSecond / frozenLinesPerRequest };
    await load.call('run', { ...pace, seconds: 5 });
    const frozen = withFrozen ? new FrozenSubscriber(gateway.port) : null;
    await frozen?.subscribeAndFreeze(`127.0.0.1:${gateway.port}`, gateway.operatorToken, topic);

    const baseBytes = await inspector.liveBytes();
    const baseResidentBytes = readUsage(gateway.pid).residentBytes;
    let peakBytes = 0;
    let peakResidentBytes = 0;
    let done = false;
    const traffic = load.call('run', { ...pace, seconds: frozenSeconds }).finally(() => {
      done = true;
    });
    while (!done) {
      await Promise.race([sleep(sampleEveryMs), traffic]);
      peakResidentBytes = Math.max(peakResidentBytes, readUsage(gateway.pid).residentBytes);
      peakBytes = Math.max(peakBytes, await inspector.liveBytes());
    }
    const window = await traffic;
    const cut = frozen ? await frozen.thawAndFindOut(10_000) : false;
    inspector.close();
    return {
      grownBytes: peakBytes - baseBytes,
      grownResidentBytes: peakResidentBytes - baseResidentBytes,
      perSecond: window.perSecond * frozenLinesPerRequest,
      steps: window.requests * frozenLinesPerRequest,
      statuses: window.statuses,
      cut,
    };
  } finally {
    load.close();
    reader.close();
    await gateway.stop();
  }
}

async function measureFrozen() {
  /** @type {Awaited<ReturnType<typeof measureMemory>>[]} */
  const without = [];
  /** @type {Awaited<ReturnType<typeof measureMemory>>[]} */
  const withOne = [];
  for (let round = 0; round < frozenRounds; round++) {
    without.push(await measureMemory(false));
    withOne.push(await measureMemory(true));
  }
  const costBytes = median(
    withOne.map(({ grownBytes }, at) => grownBytes - (without[at]?.grownBytes ?? Number.NaN)),
  );
  const grown = (/** @type {typeof without} */ of) =>
    of.map(({ grownBytes }) => formatMegabytes(grownBytes)).join(', ');
  const resident = (/** @type {typeof without} */ of) =>
    of.map(({ grownResidentBytes }) => formatMegabytes(grownResidentBytes)).join(', ');
  const cut = withOne.every((one) => one.cut);
  const keptPace = [...withOne, ...without].every(
    ({ perSecond }) => perSecond >= frozenStepsPerSecond * paceShareMin,
  );
  const sentBytes = median(withOne.map(({ steps }) => steps)) * stepBytes;
  return {
    figure: {
      title: `memory held for a subscriber that stopped reading, ${formatNumber(frozenStepsPerSecond)} steps/s for ${frozenSeconds} s`,
      measured: formatMegabytes(costBytes),
      aim: 'below 16 MB, and cut',
      ok: keptPace ? costBytes < frozenAimBytes && cut : null,
      absolutes: `${cut ? 'cut' : 'NOT CUT'}; ${formatMegabytes(sentBytes)} of steps went by; live memory grew by ${grown(withOne)} with it, ${grown(without)} without`,
    },
    notes: [
      `Frozen: peak of heap and buffers after a forced collection every ${sampleEveryMs / 1000} s, ${frozenRounds} rounds each. ` +
        `Reached ${formatNumber(median(withOne.map(({ perSecond }) => perSecond)))} steps/s. Resident size grew by ${resident(withOne)} with it, ${resident(without)} without.${keptPace ? '' : tooBusy}`,
    ],
  };
}

await runAlone(import.meta.url, run);
