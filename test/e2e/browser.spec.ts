import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { launchBrowser } from './browser.mjs';

let browser: Browser;

beforeAll(async () => {
  browser = await launchBrowser();
});

afterAll(async () => {
  await browser?.close();
});

it('opens a page, reads its title and takes a picture of it', async () => {
  const page = await browser.newPage({ viewport: { width: 640, height: 360 } });
  await page.goto('data:text/html,<title>Observatory</title><h1>Hello</h1>');

  expect(await page.title()).toBe('Observatory');
  const picture = await page.screenshot();
  expect(picture.subarray(1, 4).toString()).toBe('PNG');
  expect(picture.length).toBeGreaterThan(1_000);
});
