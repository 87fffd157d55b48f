/** Whoever touches a screen, or has no pointer, has no tooltip: a tap or a key tells the exact time. */
import { expect, test } from 'vitest';
import { loopIn } from '../integration/loop-in.js';
import { gateway, startOneGateway } from '../integration/start-one-gateway.js';
import { checkPage, SIZES } from './check-page.js';
import { browser, launchOneBrowser } from './launch-one-browser.js';
import { logIn, openAs } from './log-in.js';

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

test('the key t shows the exact time of what has the focus, then the next, and Escape takes it away', async () => {
  await loopIn(gateway, 'first-in-circles');
  await loopIn(gateway, 'then-in-circles');
  const page = await openAs(browser, gateway, 'ana');
  const row = (session: string) => page.locator(`[data-testid=alert-row][data-session-id=${session}]`);
  /** From what is told down to the time in that row. */
  const distancePx = async (session: string) => {
    const time = row(session).locator('time');
    const exact = page
      .getByRole('status')
      .getByText((await time.getAttribute('title')) ?? '', { exact: true });
    const [above, below] = [await exact.boundingBox(), await time.boundingBox()];
    return (below?.y ?? 0) - (above?.y ?? 0) - (above?.height ?? 0);
  };
  const isToldAbove = (session: string) =>
    expect.poll(() => distancePx(session).then((px) => (px > 0 && px < 20 ? 'above' : px))).toBe('above');
  await row('then-in-circles').getByRole('link').focus();
  await page.keyboard.press('t');
  await isToldAbove('then-in-circles');
  await checkPage(page, 'exact-time-by-key');
  await page.keyboard.press('t');
  await isToldAbove('first-in-circles');
  await page.keyboard.press('Escape');
  await page.getByRole('status').getByText('UTC').waitFor({ state: 'detached' });
  expect(new URL(page.url()).pathname).toBe('/');
  await page.context().close();
});
