/** What an operator is about to press stays where it is: what comes late pushes nothing, while a page loads and after. */
import type { Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { buildDecisionLog, respondJson } from '#testing';
import { loopIn } from '../integration/loop-in.js';
import { startGateway } from '../integration/start-gateway.js';
import { gateway, startOneGateway, upstream, upstreamsAt } from '../integration/start-one-gateway.js';
import { browser, launchOneBrowser } from './launch-one-browser.js';
import { openAs } from './log-in.js';

startOneGateway(upstreamsAt);
launchOneBrowser();

const LOOP_COUNT = 5;
/** As browsers measure it: half of what https://web.dev/articles/cls calls good. */
const SHIFT_MAX = 0.05;

/** From before the first paint on. */
const WATCH_SHIFTS = `
  window.shifted = 0;
  new PerformanceObserver((list) => {
    for (const { value } of list.getEntries()) window.shifted += value;
  }).observe({ type: 'layout-shift', buffered: true });
`;

/** Once all that was drawn until now has been painted and measured. */
const shiftedIn = (page: Page): Promise<number> =>
  page.evaluate(`new Promise((settle) => {
    requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(() => settle(window.shifted))));
  })`);

beforeAll(async () => {
  for (let at = 0; at < LOOP_COUNT; at += 1) await loopIn(gateway, `goes-round-${at}`);
});

test.each([
  [390, 844],
  [768, 1024],
  [1440, 900],
])('at %i px alerts that come after the sessions push no session down', async (width, height) => {
  const page = await openAs(browser, gateway, 'ana');
  await page.setViewportSize({ width, height });
  await page.addInitScript(WATCH_SHIFTS);
  let letGo = () => {};
  const held = new Promise<void>((settle) => {
    letGo = settle;
  });
  await page.routeWebSocket(/\/socket\.io\//, (browserSide) => {
    const gatewaySide = browserSide.connectToServer();
    browserSide.onMessage(async (message) => {
      if (String(message).includes('gateway:entropy_alerts')) await held;
      gatewaySide.send(message);
    });
  });
  await page.reload();
  // It counts the loops by the sessions, which are there by now.
  await expect.poll(() => page.title()).toContain(`(${LOOP_COUNT})`);
  await shiftedIn(page);
  letGo();
  await page.getByTestId('alert-row').first().waitFor();
  await page.getByRole('link', { name: 'goes-round-0' }).first().waitFor();
  expect(await shiftedIn(page)).toBeLessThan(SHIFT_MAX);
  await page.context().close();
});

test('an alert that comes while somebody is at the filters moves neither them nor the list, and is there', async () => {
  const quiet = await startGateway();
  await loopIn(quiet, 'goes-round');
  const page = await openAs(browser, quiet, 'ana');
  const search = page.getByRole('searchbox', { name: 'Search sessions' });
  const topPx = () => search.evaluate((it: any) => it.getBoundingClientRect().top);
  const alerts = page.getByTestId('alert-row');
  await alerts.waitFor();
  await search.hover();
  const before = await topPx();
  await loopIn(quiet, 'goes-round-too');
  await expect.poll(() => alerts.count()).toBe(2);
  expect(await topPx()).toBe(before);
  // Once nobody is there it takes the place that it needs.
  await page.getByRole('link', { name: 'Fleet', exact: true }).hover();
  await expect.poll(topPx).toBeGreaterThan(before);
  await page.context().close();
  await quiet.stop();
});

test('word that a vendor fails, which comes after the agents, pushes none of them down', async () => {
  upstream.script((_call, response) => respondJson(response, 529, { error: { type: 'overloaded_error' } }));
  for (let count = 0; count < 3; count += 1) {
    const answer = await fetch(`${gateway.url}/agents/scout/proxy/openai/v1/chat/completions`, {
      method: 'POST',
      headers: { 'x-observatory-key': gateway.agentKey, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'gpt-4o', messages: [{ role: 'user', content: 'Greet me.' }] }),
    });
    expect(answer.status).toBe(529);
  }
  const page = await openAs(browser, gateway, 'ana');
  await page.setViewportSize({ width: 390, height: 844 });
  await page.addInitScript(WATCH_SHIFTS);
  let letGo = () => {};
  const held = new Promise<void>((settle) => {
    letGo = settle;
  });
  await page.route('**/v1/system', async (route) => {
    await held;
    await route.continue();
  });
  await page.reload();
  // Its page shows alerts once the agents are there, too.
  await page.getByTestId('alert-row').first().waitFor();
  await page.getByRole('link', { name: 'Agents', exact: true }).click();
  await page.getByRole('search', { name: 'Agents' }).waitFor();
  await shiftedIn(page);
  letGo();
  await page.getByText('openai is failing').waitFor();
  await page.getByRole('link', { name: 'scout' }).first().waitFor();
  expect(await shiftedIn(page)).toBeLessThan(SHIFT_MAX);
  await page.context().close();
});

test('agents are shown though nobody says how the vendors do', async () => {
  await fetch(`${gateway.url}/agents/scout/proxy/openai/v1/models`, {
    headers: { 'x-observatory-key': gateway.agentKey },
  });
  const page = await openAs(browser, gateway, 'ana');
  await page.route('**/v1/system', () => {});
  await page.goto(`${gateway.url}/agents`);
  // Sooner than the question is given up.
  await page.getByRole('link', { name: 'scout' }).first().waitFor({ timeout: 12_000 });
  await page.context().close();
});

test('on a phone what waits for a person is on the first screen, however many loops stand above it', async () => {
  await gateway.ingest(
    buildDecisionLog({
      meta: { trace_id: 'asks', session_id: 'asks', timestamp: new Date().toISOString() },
      control: { hitl_required: true },
    } as never),
  );
  const page = await openAs(browser, gateway, 'ana');
  await page.setViewportSize({ width: 390, height: 844 });
  const waiting = page.getByRole('button', { name: '1 waits for a person' });
  await waiting.waitFor();
  const bottomPx = await waiting.evaluate((it: any) => it.getBoundingClientRect().bottom);
  const barTopPx = await page
    .getByRole('navigation', { name: 'Main' })
    .evaluate((it: any) => it.getBoundingClientRect().top);
  expect(bottomPx).toBeLessThan(barTopPx);
  await page.getByRole('button', { name: `Show all ${LOOP_COUNT}` }).click();
  await expect.poll(() => page.getByTestId('alert-row').count()).toBe(LOOP_COUNT);
  await page.context().close();
});
