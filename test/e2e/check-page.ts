/** A look at a page: a picture of it for people, and what can be checked about any view without knowing which it is. */
import { mkdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Locator, Page } from 'playwright-core';
import { expect } from 'vitest';

const SCREENSHOTS = 'test-output/screenshots';
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** How many ran. Colours that are inherited change one level of the page after the other, each with its own. */
const FINISH_ANIMATIONS = `
  const running = document.getAnimations();
  for (const animation of running) animation.finish();
  running.length`;

/**
 * As text: what runs in the page has the page's globals, not the tests'. Of a result only this leaves the page: the whole of it
 * is a megabyte or two, and takes longer than finding it.
 */
const VIOLATIONS = `axe.run({ resultTypes: ['violations'] }).then(({ violations }) =>
  violations.map(({ id, nodes }) => id + ': ' + nodes.slice(0, 3).map(({ target }) => target.join(' ')).join(' | ')),
)`;

export const THEMES = ['light', 'dark'] as const;
export type Theme = (typeof THEMES)[number];
export const SIZES = { desktop: { width: 1440, height: 900 }, phone: { width: 390, height: 844 } } as const;
export type Size = keyof typeof SIZES;

/** Keeps a picture of it, and expects that axe finds no violation and that the window itself scrolls nowhere. */
export async function checkPage(page: Page, name: string): Promise<void> {
  mkdirSync(SCREENSHOTS, { recursive: true });
  await page.screenshot({ path: `${SCREENSHOTS}/${name}.png` });
  if (await page.evaluate("typeof axe === 'undefined'")) await page.evaluate(AXE);
  expect(await page.evaluate(VIOLATIONS), name).toEqual([]);
  const { sideways, down }: any = await page.evaluate(`({
    sideways: document.documentElement.scrollWidth - document.documentElement.clientWidth,
    down: document.documentElement.scrollHeight - document.documentElement.clientHeight,
  })`);
  expect(sideways, `${name} scrolls sideways`).toBeLessThanOrEqual(0);
  // Pages scroll in their frame. Whatever reaches out of it would let the whole window scroll away, down to nothing.
  expect(down, `${name} scrolls out of its frame`).toBeLessThanOrEqual(0);
}

/** Checks the page as it stands, half filled in or open, in every theme and size; leaves it as it was: light, desktop. */
export async function checkEveryLook(page: Page, name: string): Promise<void> {
  for (const size of ['phone', 'desktop'] as const) {
    await page.setViewportSize(SIZES[size]);
    await checkThemes(page, name, size);
  }
}

/** Checks the page as it stands, at the size it has, in every theme; leaves it light. A page that was loaded once is checked sooner. */
export async function checkThemes(page: Page, name: string, size: Size): Promise<void> {
  for (const theme of [...THEMES].reverse()) {
    await page.emulateMedia({ colorScheme: theme });
    await page.locator(`html[data-theme=${theme}]`).waitFor();
    await expect.poll(() => page.evaluate(FINISH_ANIMATIONS)).toBe(0);
    await bringIntoView(page, '[aria-invalid=true]');
    await checkPage(page, `${name}-${theme}-${size}`);
  }
}

/** What was refused belongs into the picture, wherever another size has put it. */
async function bringIntoView(page: Page, selector: string): Promise<void> {
  const first = page.locator(selector).first();
  if ((await first.count()) > 0) await first.scrollIntoViewIfNeeded();
}

/** What is said at a field that was refused; null while nothing is. */
export const problemAt = (field: Locator): Promise<string | null> =>
  field.evaluate((input: any) => {
    const isRefused = input.getAttribute('aria-invalid') === 'true';
    const noteId = input.getAttribute('aria-describedby') ?? '';
    return isRefused ? (input.ownerDocument.getElementById(noteId)?.textContent ?? '') : null;
  });

/** What has the focus, by its role or tag and its name: "tabpanel Rules"; "body" when it was lost. */
export const focusOf = (page: Page): Promise<string> =>
  page.evaluate(`(() => {
    const { activeElement: focused } = document;
    const names = focused.getAttribute('aria-labelledby')?.split(' ') ?? [];
    const name = focused.getAttribute('aria-label') ?? names.map((id) => document.getElementById(id)?.textContent).join(' ');
    return \`\${focused.getAttribute('role') ?? focused.tagName.toLowerCase()} \${name}\`.trim();
  })()`);
