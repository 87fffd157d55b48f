import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { launchBrowser } from './browser.mjs';

const hasPackaged = process.platform === 'linux' && process.arch === 'x64';

/** Whichever of the two the other tests look through, both must do. */
describe.each([
  ['the browser at hand', undefined, true],
  ['the packaged browser', 'packaged', hasPackaged],
])('%s', (_title, wanted, isThere) => {
  if (!isThere) return it.skip('has no build for this machine');
  let browser: Browser;

  beforeAll(async () => {
    browser = await launchBrowser(wanted);
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

  it('has a font: letters take up room, and a form field does not crash the page', async () => {
    const page = await browser.newPage();
    await page.setContent('<span>Hello</span><input value="Hello">');

    const letters = await page.locator('span').boundingBox();
    expect(letters?.width).toBeGreaterThan(10);
    expect(await page.locator('input').inputValue()).toBe('Hello');
  });

  it('says its language in words that Intl takes', async () => {
    const page = await browser.newPage();

    expect(await page.evaluate('new Intl.NumberFormat(navigator.language).format(5)')).toBe('5');
  });
});
