/** A browser whose clock is an hour wrong tells ages as they are: by the clock of the gateway, which stamped what is shown. */
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type RunningGateway, startGateway } from '../integration/start-gateway.js';
import { launchBrowser } from './browser.mjs';
import { openAs } from './log-in.js';
import { loopIn } from './loop-in.js';

const HOUR_MS = 3_600_000;
const JUST_NOW = /^(now|\d+ s)$/;

let gateway: RunningGateway;
let browser: Browser;

beforeAll(async () => {
  [gateway, browser] = await Promise.all([startGateway(), launchBrowser()]);
});
afterAll(async () => {
  await browser?.close();
  await gateway?.stop();
});

test.each([
  ['fast', HOUR_MS],
  ['slow', -HOUR_MS],
])('a loop of just now is one of just now on a clock that is an hour %s', async (_, offMs) => {
  const page = await openAs(browser, gateway, 'ana');
  await page.clock.install({ time: Date.now() + offMs });
  await page.reload();
  const session_id = `loop-at-${offMs}`;
  await loopIn(gateway, session_id);
  const seen = page.locator(`[data-testid=session-row][data-session-id="${session_id}"] time`);
  await seen.waitFor();
  expect(await seen.innerText()).toMatch(JUST_NOW);
  // It goes on.
  await page.clock.fastForward('02:00');
  await expect.poll(() => seen.innerText()).toBe('2 min');
  await page.context().close();
});
