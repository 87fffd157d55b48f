/** A browser whose clock is an hour wrong tells ages as they are: by the clock of the gateway, which stamped what is shown. */
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { loopIn } from '../integration/loop-in.js';
import { gateway, startOneGateway } from '../integration/start-one-gateway.js';
import { browser, launchOneBrowser } from './launch-one-browser.js';
import { openAs } from './log-in.js';

const HOUR_MS = 3_600_000;
const seenAt = (page: Page, sessionId: string) =>
  page.locator(`[data-testid=session-row][data-session-id="${sessionId}"] time`);
const JUST_NOW = /^(now|\d+ s)$/;

startOneGateway();
launchOneBrowser();

test.each([
  ['fast', HOUR_MS],
  ['slow', -HOUR_MS],
])('a loop of just now is one of just now on a clock that is an hour %s', async (_, offMs) => {
  const page = await openAs(browser, gateway, 'ana');
  await page.clock.install({ time: Date.now() + offMs });
  await page.reload();
  const session_id = `loop-at-${offMs}`;
  await loopIn(gateway, session_id);
  const seen = seenAt(page, session_id);
  await seen.waitFor();
  expect(await seen.innerText()).toMatch(JUST_NOW);
  // It goes on, until the gateway is asked again.
  await page.route('**/v1/**', (route) => route.abort());
  await page.clock.fastForward('02:00');
  await expect.poll(() => seen.innerText()).toBe('2 min');
  await page.context().close();
});

test('a page that is only looked at tells ages as they are once its clock was set by an hour', async () => {
  const page = await openAs(browser, gateway, 'ana');
  await page.clock.install();
  await page.reload();
  await loopIn(gateway, 'clock-set');
  const seen = seenAt(page, 'clock-set');
  await seen.waitFor();
  await page.route('**/v1/**', (route) => route.abort());
  await page.clock.setSystemTime(Date.now() + HOUR_MS);
  await expect.poll(() => seen.innerText()).toBe('1 h');
  await page.unroute('**/v1/**');
  await page.clock.fastForward('01:00');
  await expect.poll(() => seen.innerText()).toMatch(JUST_NOW);
  await page.context().close();
});
