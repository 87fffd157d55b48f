/**
 * From the fifth equal step to its alert on the screen, in a real browser, while other agents send 500 steps a second.
 * The dashboard marks `alert-painted:<session id>` after the frame that first shows the row.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import { request } from 'undici';
import { startGateway } from '../scripts/lib/gateway-process.mjs';
import { launchBrowser } from '../test/e2e/browser.mjs';
import { openHelper } from './lib/helper.mjs';
import { readUsage } from './lib/machine.mjs';
import { isQuick } from './lib/quick.mjs';
import { runAlone } from './lib/run-alone.mjs';
import { formatNumber, percentile } from './lib/statistics.mjs';

/** @typedef {import('../scripts/lib/gateway-process.mjs').GatewayProcess} GatewayProcess */

const path = '/v1/decision-logs';
const loopingSessions = isQuick ? 20 : 60;
const equalSteps = 5;
const backgroundPerSecond = 500;
const backgroundConnections = 16;
const warmUpSeconds = 5;
/** Between two looping sessions: the paints of one must not queue behind those of another. */
const spacingMs = 500;
const paintTimeoutMs = 5_000;
const aimMs = 150;
/** Below this share of the background that was meant to flow, nothing was measured. */
const paceShareMin = 0.9;

/** Wall clock with the resolution of the browser's own: time origin plus monotonic. */
const nowMs = () => performance.timeOrigin + performance.now();

/** @returns {Promise<import('./lib/figures.mjs').BenchResult>} */
export async function run() {
  const load = openHelper(new URL('./lib/http-load.mjs', import.meta.url));
  const gateway = await startGateway();
  const browser = await launchBrowser();
  try {
    const page = await openDashboard(browser, gateway);
    const target = {
      port: gateway.port,
      path,
      key: gateway.agentKey,
      connections: backgroundConnections,
      linesPerBody: 1,
    };
    await load.call('open', { ...target, name: 'background', prefix: 'background' });
    const seconds = warmUpSeconds + (loopingSessions * spacingMs) / 1000 + 5;
    const before = readUsage(gateway.pid).cpuSeconds;
    const startedAt = performance.now();
    const background = load.call('run', { name: 'background', seconds, perSecond: backgroundPerSecond });
    await sleep(warmUpSeconds * 1000);

    /** @type {Map<string, number>} */
    const sentAt = new Map();
    for (let session = 0; session < loopingSessions; session++) {
      const id = `looping-${session}`;
      const nextAt = performance.now() + spacingMs;
      sentAt.set(id, await postLoop(gateway, id));
      await sleep(Math.max(0, nextAt - performance.now()));
    }
    const paintedAt = await readPaints(page, [...sentAt.keys()]);
    const window = await background;
    const cpu = (readUsage(gateway.pid).cpuSeconds - before) / ((performance.now() - startedAt) / 1000);

    const delays = [...sentAt].flatMap(([id, sent]) => {
      const painted = paintedAt[id];
      return painted === undefined ? [] : [painted - sent];
    });
    return report(delays, { perSecond: window.perSecond, statuses: window.statuses, cpu });
  } finally {
    await browser.close();
    load.close();
    await gateway.stop();
  }
}

/** @param {import('playwright-core').Browser} browser @param {GatewayProcess} gateway */
async function openDashboard(browser, { url, operatorToken }) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  const answer = await context.request.post(`${url}/v1/auth/login`, {
    data: { token: operatorToken, operator_id: 'bench' },
    headers: { origin: url },
  });
  if (!answer.ok()) throw new Error(`login failed: HTTP ${answer.status()} ${await answer.text()}`);
  const page = await context.newPage();
  await page.goto(url);
  await page.getByText('Entropy Alerts').first().waitFor({ timeout: 20_000 });
  return page;
}

/** @param {GatewayProcess} gateway @param {string} sessionId @returns {Promise<number>} when the fifth equal step left */
async function postLoop({ url, agentKey }, sessionId) {
  let sent = 0;
  for (let step = 0; step < equalSteps; step++) {
    const log = {
      meta: { trace_id: `${sessionId}-${step}`, timestamp: new Date().toISOString(), session_id: sessionId },
      identity: { agent_id: sessionId, agent_type: 'coder', capability_version: '1.0.0' },
      cognition: { intent: 'fix_failing_test' },
      action: { status: 'failure', tool_call: 'shell.run_tests', tool_output_summary: '1 failed' },
    };
    const body = JSON.stringify(log);
    sent = nowMs();
    const answer = await request(new URL(path, url), {
      method: 'POST',
      headers: { authorization: `Bearer ${agentKey}`, 'content-type': 'application/json' },
      body,
    });
    const text = await answer.body.text();
    if (answer.statusCode !== 202) throw new Error(`HTTP ${answer.statusCode} ${text}`);
  }
  return sent;
}

/**
 * @param {import('playwright-core').Page} page
 * @param {string[]} ids
 * @returns {Promise<Record<string, number | undefined>>} wall clock of each mark; a session never painted is absent
 */
async function readPaints(page, ids) {
  const read = () =>
    page.evaluate((wanted) => {
      // The page's monotonic clock may have drifted from the wall clock since it was opened.
      const driftMs = performance.timeOrigin + performance.now() - Date.now();
      const marks = wanted.flatMap((id) => {
        const [mark] = performance.getEntriesByName(`alert-painted:${id}`);
        return mark ? [[id, performance.timeOrigin + mark.startTime - driftMs]] : [];
      });
      return /** @type {Record<string, number>} */ (Object.fromEntries(marks));
    }, ids);
  const deadline = performance.now() + paintTimeoutMs;
  let paints = await read();
  while (Object.keys(paints).length < ids.length && performance.now() < deadline) {
    await sleep(100);
    paints = await read();
  }
  return paints;
}

/**
 * @param {number[]} delays ms
 * @param {{ perSecond: number, statuses: Record<string, number>, cpu: number }} background
 * @returns {import('./lib/figures.mjs').BenchResult}
 */
function report(delays, { perSecond, statuses, cpu }) {
  const p95 = percentile(delays, 95);
  const complete = delays.length === loopingSessions;
  const keptPace = perSecond >= backgroundPerSecond * paceShareMin;
  return {
    figures: [
      {
        title: `fifth equal POST to its alert painted in a browser, at ${backgroundPerSecond} steps/s, p95`,
        measured: delays.length > 0 ? `${formatNumber(p95)} ms` : 'no alert was painted',
        aim: `below ${aimMs} ms`,
        ok: keptPace ? complete && p95 < aimMs : null,
        absolutes: `p50 ${formatNumber(percentile(delays, 50))} ms, max ${formatNumber(Math.max(...delays))} ms, ${delays.length} of ${loopingSessions} painted`,
      },
    ],
    notes: [
      `Browser: background ${formatNumber(perSecond)} steps/s over 1,000 sessions (${JSON.stringify(statuses)}), gateway on ${formatNumber(cpu)} cores; ` +
        `headless Chromium without a GPU on the same machine.${keptPace ? '' : ' The machine was too busy to send at that pace: not measured.'}`,
    ],
  };
}

await runAlone(import.meta.url, run);
