/** In high contrast (forced colours) a browser takes every background away: what only a colour tells must still be told. */
import { expect, test } from 'vitest';
import { gateway, startOneGateway } from '../integration/start-one-gateway.js';
import { browser, launchOneBrowser } from './launch-one-browser.js';
import { openAs } from './log-in.js';
import { loopIn } from './loop-in.js';

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
  const place = page.getByRole('link', { name: 'Fleet', exact: true });
  expect(
    await place.evaluate((it: any) => it.ownerDocument.defaultView.getComputedStyle(it).outlineStyle),
  ).toBe('solid');
});
