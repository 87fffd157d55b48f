/** A list one comes back to, from a page about one of its rows, stands where one left it; opened anew it begins at its top. */
import { beforeAll, expect, test } from 'vitest';
import { gateway, startOneGateway } from '../integration/start-one-gateway.js';
import { SIZES } from './check-page.js';
import { sendCrowd } from './crowd.js';
import { browser, launchOneBrowser } from './launch-one-browser.js';
import { openAs } from './log-in.js';

/** Fifteen sessions are more than it has room for. */
const LOW = { width: 1280, height: 400 };

startOneGateway();
launchOneBrowser();
beforeAll(() => sendCrowd(gateway));

test.each([
  ['the sessions', '/?sort=started', 'session-row', LOW],
  ['the sessions on a phone', '/?sort=started', 'session-row', SIZES.phone],
  ['the table of the fleet', '/fleet?view=table', 'fleet-row', SIZES.desktop],
] as const)('%s', async (_list, path, row, size) => {
  const page = await openAs(browser, gateway, 'ana');
  await page.setViewportSize(size);
  await page.goto(gateway.url + path);
  const links = page.getByTestId(row).locator('a[href*="/sessions/"]');
  await links.nth(3).waitFor();
  // What is scrolled is the list, or on a phone the page.
  const scroller = await links.nth(3).evaluateHandle((it: any) => {
    let scrolled = it;
    while (!/auto|scroll/.test(it.ownerDocument.defaultView.getComputedStyle(scrolled).overflowY))
      scrolled = scrolled.parentElement;
    return scrolled;
  });
  await scroller.evaluate((it: any) => it.scrollTo(0, 240));
  const topPx = () => links.nth(3).evaluate((it: any) => it.getBoundingClientRect().top);
  const href = await links.nth(3).getAttribute('href');
  const same = page.getByTestId(row).locator(`a[href="${href}"]`).first();
  const placePx = () => same.evaluate((it: any) => Math.round(it.getBoundingClientRect().top));
  await expect.poll(() => scroller.evaluate((it: any) => it.scrollTop)).toBe(240);
  expect(await topPx()).toBeLessThan(size.height);
  const before = await placePx();
  await same.evaluate((it: any) => it.click());
  await page.getByTestId('control-state').first().waitFor();
  await page.goBack();
  await expect.poll(placePx).toBe(before);

  await page.goto(gateway.url + path);
  await expect.poll(placePx).toBe(before + 240);
  await page.context().close();
});
