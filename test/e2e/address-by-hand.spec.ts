/** An address that somebody wrote by hand, cut short or kept from an older version: what it says wrongly falls away. */
import { expect, test } from 'vitest';
import { gateway, startOneGateway } from '../integration/start-one-gateway.js';
import { SIZES } from './check-page.js';
import { browser, launchOneBrowser } from './launch-one-browser.js';
import { openAs } from './log-in.js';

startOneGateway();
launchOneBrowser();

test('a page whose address says what it does not know shows what it shows without', async () => {
  const page = await openAs(browser, gateway, 'ana', '/alerts?tab=deliveries');
  await page.getByRole('tab', { name: 'Rules', exact: true, selected: true }).waitFor();
  await page.goto(`${gateway.url}/agents?sort=oldest&state=asleep`);
  await page.getByText('Point an agent at the proxy').waitFor();
});

test('a page that is none says so in its heading, and leads back', async () => {
  const page = await openAs(browser, gateway, 'ana', '/session');
  await page.getByRole('heading', { level: 1, name: 'There is nothing at this address' }).waitFor();
  await page.getByRole('link', { name: 'Go to sessions' }).click();
  await expect.poll(() => page.url()).toBe(`${gateway.url}/`);
});

test('who signs in at an address that leads elsewhere comes to the first page', async () => {
  for (const elsewhere of ['https://example.org/', '//example.org/', '/\\example.org/']) {
    const context = await browser.newContext({ viewport: SIZES.desktop });
    const page = await context.newPage();
    await page.goto(
      `${gateway.url}/login?next=${encodeURIComponent(elsewhere)}#token=${gateway.operatorToken}`,
    );
    await page.getByTestId('operator-name').fill('ana');
    await page.getByTestId('login-submit').click();
    await expect.poll(() => page.url(), { message: elsewhere }).toBe(`${gateway.url}/`);
    await context.close();
  }
});
