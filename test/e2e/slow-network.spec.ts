/** A network on which each piece of the page takes its time: what is awaited is said, and nothing looks dead or empty. */
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { gateway, startOneGateway } from '../integration/start-one-gateway.js';
import { checkEveryLook } from './check-page.js';
import { browser, launchOneBrowser } from './launch-one-browser.js';
import { openAs } from './log-in.js';

startOneGateway();
launchOneBrowser();

/** Holds up what matches, until the returned function is called. */
async function holdUp(page: Page, url: string): Promise<() => void> {
  let letGo = () => {};
  const held = new Promise<void>((settle) => {
    letGo = settle;
  });
  await page.route(url, async (route) => {
    await held;
    await route.continue();
  });
  return letGo;
}

test('a page whose scripts are on their way says so, and so does one that is not let in yet', async () => {
  const page = await openAs(browser, gateway, 'ana');
  const letScriptsGo = await holdUp(page, '**/assets/vendor-*.js');
  const letIn = await holdUp(page, '**/v1/auth/me');
  await page.goto(gateway.url, { waitUntil: 'commit' });
  await page.getByText('Loading Observatory', { exact: true }).waitFor();

  letScriptsGo();
  await page.getByText('Loading', { exact: true }).waitFor();

  letIn();
  await page.getByText('Listening for your first DecisionLog').waitFor();
  expect(await page.getByText('Loading').count()).toBe(0);
});

test('a link to a page that is on its way leaves the page before it, and says what is awaited', async () => {
  const page = await openAs(browser, gateway, 'ana');
  // From the start on: a few seconds later the page has fetched all others by itself.
  const letGo = await holdUp(page, '**/assets/calls-page-*.js');
  await page.reload();
  await page.getByText('Listening for your first DecisionLog').waitFor();
  await page.getByRole('link', { name: 'Calls' }).click();
  await page.getByText('Loading', { exact: true }).waitFor();
  expect(new URL(page.url()).pathname).toBe('/calls');

  letGo();
  await page.getByText('Loading', { exact: true }).waitFor({ state: 'detached' });
  await page.getByTestId('proxy-onboarding').waitFor();
});

test('a list of the cache that does not come keeps nobody from the rest of the page', async () => {
  const page = await openAs(browser, gateway, 'ana');
  await page.route('**/v1/cache/stats', async (route) => {
    const stats = await (await route.fetch()).json();
    await route.fulfill({ json: { ...stats, backend: 'memory', total_misses: 3 } });
  });
  const letGo = await holdUp(page, '**/v1/cache/matches*');
  await page.goto(`${gateway.url}/cache`);
  await page.getByRole('heading', { name: 'Answers not kept' }).waitFor();
  await page.locator('[aria-busy=true]').first().waitFor();
  expect(await page.getByText('No match yet').count()).toBe(0);
  await checkEveryLook(page, 'cache-list-on-its-way');

  letGo();
  await page.getByText('No match yet').waitFor();
  expect(await page.locator('[aria-busy=true]').count()).toBe(0);
});

test('the licences of what is bundled come as the text that they are, those of the fonts too', async () => {
  const response = await fetch(`${gateway.url}/licenses.txt`, { headers: { accept: 'text/html' } });
  expect(response.headers.get('content-type')).toBe('text/plain; charset=utf-8');
  const text = await response.text();
  for (const name of ['react', 'uplot', '@fontsource-variable/inter', 'tailwindcss'])
    expect(text).toMatch(new RegExp(`^## ${name} - \\S+ \\(`, 'm'));
});

test('scripts and styles come gzipped', async () => {
  const html = await (await fetch(gateway.url)).text();
  const paths = [...html.matchAll(/"(\/assets\/[^"]+\.(?:js|css))"/g)].map(([, path]) => path);
  expect(paths.length).toBeGreaterThan(3);
  for (const path of paths) {
    const { headers } = await fetch(gateway.url + path);
    expect(headers.get('content-encoding'), path).toBe('gzip');
    expect(headers.get('vary'), path).toMatch(/accept-encoding/i);
    expect(headers.get('content-type'), path).toMatch(/javascript|css/);
    expect(headers.get('cache-control'), path).toMatch(/immutable/);
  }
});
