/** The gateway is killed under an open page and comes back: at each moment the page says what is so. */
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type RunningGateway, startGateway } from '../integration/start-gateway.js';
import { launchBrowser } from './browser.mjs';
import { openAs } from './log-in.js';

let gateway: RunningGateway;
let browser: Browser;

beforeAll(async () => {
  [gateway, browser] = await Promise.all([startGateway(), launchBrowser()]);
});
afterAll(async () => {
  await browser?.close();
  await gateway?.stop();
});

test('a page opened while the gateway is away says so, and has what it asked for once it is back', async () => {
  const page = await openAs(browser, gateway, 'ana', '/settings');
  await page.getByText('Everything is saved.').waitFor();
  const { dataDir, url } = gateway;
  await gateway.kill();
  await page.getByText('Not live: as of').waitFor();
  await page.getByRole('link', { name: 'Prices' }).click();
  await page.getByText('The gateway cannot be reached.').first().waitFor();

  gateway = await startGateway({ dataDir, env: { PORT: new URL(url).port } });
  await page.getByTestId('prices-save').waitFor();
  expect(await page.getByText('The gateway cannot be reached.').count()).toBe(0);
  await page.getByText('Not live: as of').waitFor({ state: 'detached' });
});

test('an empty page listens only while somebody could be heard', async () => {
  const page = await openAs(browser, gateway, 'ana');
  const listening = page.getByText('Listening for your first DecisionLog');
  await listening.waitFor();
  const { dataDir, url } = gateway;
  await gateway.kill();
  await page.getByText('Not connected: nothing can arrive now').waitFor();
  expect(await listening.count()).toBe(0);

  gateway = await startGateway({ dataDir, env: { PORT: new URL(url).port } });
  await listening.waitFor();
});

test('who signs out while the gateway is away is told that the login is still there, and signs out once it is back', async () => {
  const page = await openAs(browser, gateway, 'ana');
  const signOut = page.getByRole('button', { name: 'Sign out' });
  const { dataDir, url } = gateway;
  await gateway.kill();
  await signOut.click();
  await page.getByText('You are still signed in').waitFor();

  gateway = await startGateway({ dataDir, env: { PORT: new URL(url).port } });
  await signOut.click();
  await page.waitForURL(({ pathname }) => pathname === '/login');
  await page.goto(url);
  await page.waitForURL(({ pathname }) => pathname === '/login');
});
