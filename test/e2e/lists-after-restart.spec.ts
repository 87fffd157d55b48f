/** Pages outlive the gateway: notices, dead letters and steps that came while one was open are all on it after a restart, beside older ones. */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { buildDecisionLog } from '#testing';
import { type Receiver, startReceiver, status } from '../integration/http-receiver.js';
import { type RunningGateway, startGateway } from '../integration/start-gateway.js';
import { launchBrowser } from './browser.mjs';
import { checkEveryLook } from './check-page.js';
import { openAs } from './log-in.js';

let gateway: RunningGateway;
let receiver: Receiver;
let browser: Browser;

beforeAll(async () => {
  [gateway, receiver, browser] = await Promise.all([startGateway(), startReceiver(), launchBrowser()]);
});
afterAll(async () => {
  await browser?.close();
  await Promise.all([gateway?.stop(), receiver?.close()]);
});

/** Kills it in front of the page, and waits until the page is live again. */
async function restart(page: Page): Promise<void> {
  const { dataDir, url } = gateway;
  await gateway.kill();
  await page.getByText('Not live: as of').waitFor();
  gateway = await startGateway({ dataDir, env: { PORT: new URL(url).port } });
  await page.getByText('Not live: as of').waitFor({ state: 'detached' });
}

let stepCount = 0;
function step(session_id: string, intent: string) {
  stepCount += 1;
  return buildDecisionLog({
    meta: { trace_id: `step-${stepCount}`, session_id, timestamp: new Date().toISOString() },
    identity: { agent_id: session_id },
    cognition: { intent },
    action: { status: 'failure', tool_call: 'search' },
  } as never);
}

/** One notice each. */
async function loop(name: string, sessionCount: number): Promise<void> {
  for (let index = 0; index < sessionCount; index += 1) {
    const steps = Array.from({ length: 5 }, () => step(`${name}-${index}`, 'look again'));
    expect((await gateway.ingest(steps)).status).toBe(202);
  }
}

/** A list of notices that grew in front of the page is whole after a restart, and goes on. @param named of its sessions */
async function growsThroughRestart(tab: 'history' | 'dead', named: string): Promise<void> {
  const arrivedBefore = receiver.received.length;
  await loop(`${named}before`, 3);
  await receiver.arrived(arrivedBefore + 3);
  const page = await openAs(browser, gateway, 'ana', `/alerts?tab=${tab}`);
  const rows = page.getByTestId('alert-delivery');
  await expect.poll(() => rows.count()).toBe(3);
  // More than the topic begins with.
  await loop(`${named}meanwhile`, 60);
  await receiver.arrived(arrivedBefore + 63);
  await expect.poll(() => rows.count()).toBe(63);

  await restart(page);
  await loop(`${named}after`, 1);
  await page.getByText(`${named}after-0`).first().waitFor();
  await page.getByRole('button', { name: 'Load older' }).click();
  await expect.poll(() => rows.count()).toBe(64);
}

// First: among few agents the map says of each all there is.
test('the map goes on, and a stream that begins anew leads to the sessions of before', async () => {
  expect((await gateway.ingest(step('earlier-0', 'look once'))).status).toBe(202);
  const page = await openAs(browser, gateway, 'ana', '/fleet');
  const hint = page.getByText('since the gateway’s start');
  const node = page.getByRole('button', { name: /^earlier-0/ });
  await node.waitFor();

  await restart(page);
  await page.reload();
  await node.waitFor();
  expect(await hint.count()).toBe(0);
  await node.getByTitle('Steps: none since the gateway’s start').waitFor();
  const said = page.getByRole('button', { name: /^earlier-0.*steps: none since the gateway’s start$/ });
  await said.waitFor();
  await node.click();
  await hint.waitFor();
  await checkEveryLook(page, 'fleet-after-restart');
  await page.goto(`${gateway.url}/stream`);
  await hint.waitFor();
  await checkEveryLook(page, 'stream-after-restart');
  await page.getByRole('link', { name: 'See the sessions' }).click();
  await page.getByText('earlier-0').first().waitFor();
});

test('the history of notices', async () => {
  const settings = { kind: 'webhook', name: 'On call', url: receiver.url, allow_private: true };
  const { body } = await gateway.operator('POST', '/v1/alert-channels', settings);
  const channel_ids = [body.channel.channel_id];
  await gateway.operator('POST', '/v1/alert-rules', {
    name: 'Loops',
    type: 'entropy_loop',
    cooldown_s: 0,
    channel_ids,
  });
  await growsThroughRestart('history', '');
});

test('the dead letters, among notices that arrived', async () => {
  // Refused for good, to the channel and by the rule of the history.
  receiver.answer = status(404);
  await growsThroughRestart('dead', 'lost-');
});

test('before its first log a gateway that started again says how it is', async () => {
  await loop('looked-after', 1);
  const page = await openAs(browser, gateway, 'ana', '/fleet');
  const health = page.getByRole('region', { name: 'Gateway health' });
  await health.getByText(/^Subscribers\d+$/).waitFor();
  await restart(page);
  await page.reload();
  for (const figure of [/^Throughput0logs\/s$/, /^Live sessions\d+$/, /^Subscribers\d+$/, /^Store queue0$/])
    await health.getByText(figure).waitFor();
  await checkEveryLook(page, 'fleet-before-first-log');
});

test('the timeline of a session whose earlier steps were loaded', async () => {
  const post = async (count: number) => {
    const steps = Array.from({ length: count }, (_, index) => step('long', `look at ${stepCount + index}`));
    expect((await gateway.ingest(steps)).status).toBe(202);
  };
  await post(250);
  const page = await openAs(browser, gateway, 'ana', '/sessions/long');
  const timeline = page.getByRole('region', { name: 'Steps, newest first' });
  const shownCount = async () => {
    await timeline.evaluate((list: any) => list.scrollTo(0, list.scrollHeight));
    return Number(await timeline.locator('[data-index]').last().getAttribute('data-index')) + 1;
  };
  const loadEarlier = async () => {
    await shownCount();
    await page.getByRole('button', { name: 'Load earlier steps' }).click();
  };
  await loadEarlier();
  await loadEarlier();
  await expect.poll(shownCount).toBe(250);
  await timeline.evaluate((list: any) => list.scrollTo(0, 0));
  // More than the topic begins with.
  await post(250);
  await page.getByText('(500 failed)').waitFor();

  await restart(page);
  await timeline.getByText('look at').first().waitFor();
  await loadEarlier();
  await expect.poll(shownCount).toBe(500);
});
