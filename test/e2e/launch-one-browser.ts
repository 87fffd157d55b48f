/** One browser for all tests of the file that calls it; each test opens a context of its own in it. */
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll } from 'vitest';
import { launchBrowser } from './browser.mjs';

export let browser: Browser;

export function launchOneBrowser(): void {
  beforeAll(async () => {
    browser = await launchBrowser();
  });
  afterAll(() => browser?.close());
}
