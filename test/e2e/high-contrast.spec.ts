/** In high contrast (forced colours) a browser takes every background away: what only a colour tells must still be told. */
import type { Locator } from 'playwright-core';
import { expect, test } from 'vitest';
import { loopIn } from '../integration/loop-in.js';
import { gateway, startOneGateway } from '../integration/start-one-gateway.js';
import { browser, launchOneBrowser } from './launch-one-browser.js';
import { openAs } from './log-in.js';

startOneGateway();
launchOneBrowser();

const SESSION = 'round-in-circles';

/** Of whatever is drawn as a dot or a bar and nothing else: how many of them there are, and how many of those are seen. */
const DRAWN = `(() => {
  const marks = [...document.querySelectorAll('.says-by-colour')];
  const isSeen = (mark) => {
    const { backgroundColor, boxShadow } = getComputedStyle(mark);
    return boxShadow !== 'none' || backgroundColor !== getComputedStyle(document.body).backgroundColor;
  };
  return { isAny: marks.length > 0, unseen: marks.filter((mark) => !isSeen(mark)).length };
})()`;

const styleOf = (it: Locator, name: 'backgroundColor' | 'outlineStyle'): Promise<string> =>
  it.evaluate(
    (element: any, property) => element.ownerDocument.defaultView.getComputedStyle(element)[property],
    name,
  );

test('in high contrast states, the window and switches are seen, and where one is', async () => {
  await loopIn(gateway, SESSION);
  const page = await openAs(browser, gateway, 'ana');
  await page.emulateMedia({ forcedColors: 'active' });
  for (const [path, mark] of [
    ['/', '[data-testid=session-row] [role=img] .says-by-colour'],
    [`/sessions/${SESSION}`, '[data-testid=step-row] .says-by-colour'],
    ['/fleet', 'fieldset .says-by-colour'],
  ] as const) {
    await page.goto(gateway.url + path);
    await page.locator(mark).first().waitFor();
    expect(await page.evaluate(DRAWN), path).toEqual({ isAny: true, unseen: 0 });
  }
  expect(await styleOf(page.getByRole('link', { name: 'Fleet', exact: true }), 'outlineStyle')).toBe('solid');
});

test('in high contrast the map tells who loops, and a choice what is chosen', async () => {
  await loopIn(gateway, SESSION);
  const page = await openAs(browser, gateway, 'ana', '/fleet');
  await page.emulateMedia({ forcedColors: 'active' });
  const looping = page.locator('[data-testid=fleet-node][data-state=alert_entropy] .says-by-colour').first();
  await looping.waitFor();
  expect(await styleOf(looping, 'backgroundColor')).not.toBe(
    await styleOf(page.locator('body'), 'backgroundColor'),
  );
  const choice = (name: string) =>
    page.locator('label', { has: page.getByRole('radio', { name, exact: true }) });
  expect(await styleOf(choice('Map'), 'outlineStyle')).toBe('solid');
  expect(await styleOf(choice('Table'), 'outlineStyle')).toBe('none');
  await page.getByTestId('fleet-state').first().click();
  await page.locator('[data-testid=fleet-state][aria-pressed=true]').evaluate((it: any) => it.blur());
  expect(await styleOf(page.getByTestId('fleet-state').first(), 'outlineStyle')).toBe('solid');
});
