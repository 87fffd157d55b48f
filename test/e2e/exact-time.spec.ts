/** Whoever touches a screen has no tooltip: a tap tells the exact time. */
import { expect, test } from 'vitest';
import { gateway, startOneGateway } from '../integration/start-one-gateway.js';
import { checkPage, SIZES } from './check-page.js';
import { browser, launchOneBrowser } from './launch-one-browser.js';
import { logIn } from './log-in.js';
import { loopIn } from './loop-in.js';

startOneGateway();
launchOneBrowser();

test('a tap on a time shows the exact one, and the next tap takes it away', async () => {
  await loopIn(gateway, 'round-in-circles');
  const context = await browser.newContext({
    viewport: SIZES.phone,
    hasTouch: true,
    reducedMotion: 'reduce',
  });
  const page = await context.newPage();
  await logIn(page, gateway, 'ana');
  const began = page.getByTestId('alert-row').locator('time');
  await began.waitFor();
  const exact = page.getByText((await began.getAttribute('title')) as string, { exact: true });
  expect(await exact.count()).toBe(0);
  await began.tap();
  await exact.waitFor();
  await checkPage(page, 'exact-time-light-phone');
  await page.getByRole('heading', { name: 'Entropy Alerts' }).tap();
  await exact.waitFor({ state: 'detached' });
  await context.close();
});
