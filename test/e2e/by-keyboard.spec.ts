/** Every page as somebody without a pointer has it: each stop of Tab is seen, says what it is, and stays while things move. */
import type { Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { buildDecisionLog } from '#testing';
import { loopIn } from '../integration/loop-in.js';
import { gateway, startOneGateway, upstream, upstreamsAt } from '../integration/start-one-gateway.js';
import { checkPage, focusOf, problemAt } from './check-page.js';
import { guardEnvironment, sendGuardedTraffic } from './guarded-traffic.js';
import { browser, launchOneBrowser } from './launch-one-browser.js';
import { openAs } from './log-in.js';
import { askForOrder, ORDER_BOT } from './order-bot.js';

const STOPS_MAX = 60;

let page: Page;
let incidentId: string;

startOneGateway((origin) => ({ ...upstreamsAt(origin), ...guardEnvironment }));
launchOneBrowser();
beforeAll(async () => {
  await sendGuardedTraffic(gateway, upstream);
  await loopIn(gateway, 'in-circles');
  await gateway.operator('PATCH', `/v1/agents/${ORDER_BOT}/kill-switch`, { threshold: 10 });
  for (let request = 0; request < 8; request += 1) await askForOrder(gateway, 4_701, { temperature: 1 });
  incidentId = (await gateway.operator('GET', '/v1/incidents')).body.items[0].incident_id;
  page = await openAs(browser, gateway, 'ana');
});

/** What has the focus: its accessible name as far as it is written down, where it leads, and what is wrong with it. */
const LOOK_AT_FOCUS = `(() => {
  const { activeElement: focused } = document;
  if (focused === null || focused === document.body) return null;
  const label = focused.closest('label');
  const isOutlined = (element) => element !== null && getComputedStyle(element).outlineStyle !== 'none';
  const box = focused.getBoundingClientRect();
  const inWindow = (at, size) => Math.min(Math.max(at, 1), size - 1);
  const top = document.elementFromPoint(
    inWindow(box.left + box.width / 2, innerWidth),
    inWindow(box.top + box.height / 2, innerHeight),
  );
  const isSeen = box.bottom > 0 && box.top < innerHeight && top !== null &&
    (focused.contains(top) || top.contains(focused) || label?.contains(top) === true);
  const group = focused.closest('fieldset')?.querySelector('legend')?.textContent ?? '';
  const names = (focused.getAttribute('aria-labelledby')?.split(' ') ?? []).map((id) => document.getElementById(id)?.textContent ?? '');
  const name = focused.getAttribute('aria-label') || label?.textContent || focused.labels?.[0]?.textContent || (names.length > 0 ? names.join(' ') : '') || focused.innerText || '';
  return {
    name: [focused.getAttribute('role') ?? focused.tagName.toLowerCase(), group, name.replace(/\\s+/g, ' ').trim().slice(0, 80)].filter(Boolean).join(' '),
    leads: focused.href ?? '',
    isAction: focused.matches('button:not([aria-expanded]), a'),
    isOutlined: isOutlined(focused) || isOutlined(label),
    isSeen,
  };
})()`;

const HOLD_FRAMES = `{
  window.heldFrames = [];
  window.drawFrame = requestAnimationFrame;
  window.requestAnimationFrame = (draw) => heldFrames.push(draw);
}`;
const DRAW_FRAMES = `{
  window.requestAnimationFrame = drawFrame;
  heldFrames.forEach((draw) => drawFrame(draw));
}`;

/** Goes from stop to stop once round the page, or as far as `STOPS_MAX`. */
async function problemsOnTheWay(): Promise<string[]> {
  const problems: string[] = [];
  const places = new Map<string, string>();
  for (let stop = 0; stop < STOPS_MAX; stop += 1) {
    await page.keyboard.press('Tab');
    const focus: any = await page.evaluate(LOOK_AT_FOCUS);
    if (focus === null) return stop === 0 ? ['nothing takes the focus'] : problems;
    if (stop === 0 && focus.name !== 'a Skip to content') problems.push(`begins at ${focus.name}`);
    if (!focus.isOutlined) problems.push(`${focus.name}: the focus is not shown`);
    if (!focus.isSeen) problems.push(`${focus.name}: out of sight`);
    const elsewhere = places.get(focus.name);
    if (focus.isAction && elsewhere !== undefined && (elsewhere !== focus.leads || focus.leads === ''))
      problems.push(`${focus.name}: twice`);
    places.set(focus.name, focus.leads);
  }
  return problems;
}

test.for([
  '/',
  '/sessions/in-circles',
  '/fleet',
  '/fleet?view=table',
  '/stream',
  '/agents',
  '/agents/help-desk',
  '/incidents',
  '/incidents/{incident}',
  '/calls',
  '/spend',
  '/cache',
  '/alerts',
  '/alerts?tab=channels',
  '/alerts?tab=history',
  '/system',
  '/settings',
  '/settings?section=prices',
  '/settings?section=upstreams',
  '/settings?section=agent-keys',
  '/settings?section=operators',
  '/settings?section=audit',
  '/settings?section=appearance',
  '/settings?section=about',
])(
  'at %s each stop of Tab is in sight, shows that it has the focus, and has a name of its own',
  async (path) => {
    await page.goto(gateway.url + path.replace('{incident}', incidentId));
    await page.locator('[aria-busy=true]').first().waitFor({ state: 'detached' });
    await page.getByRole('main').waitFor();
    expect(await problemsOnTheWay()).toEqual([]);
  },
);

test('a step that has the focus stays where it is, and keeps it, while others come', async () => {
  await page.goto(`${gateway.url}/sessions/in-circles`);
  await page.getByTestId('step-row').first().waitFor();
  await page.keyboard.press('j');
  await page.keyboard.press('j');
  const before = await focusOf(page);
  const box = (): Promise<number> => page.evaluate('document.activeElement.getBoundingClientRect().top');
  const top = await box();
  for (let step = 0; step < 60; step += 1)
    await gateway.ingest(
      buildDecisionLog({
        meta: { trace_id: `later-${step}`, session_id: 'in-circles', timestamp: new Date().toISOString() },
      } as never),
    );
  await page.getByRole('button', { name: '60 new' }).waitFor();
  expect([await focusOf(page), await box()]).toEqual([before, top]);
  await page.getByTestId('hitl-terminate').first().focus();
  await page.getByRole('button', { name: '60 new' }).waitFor({ state: 'detached' });
});

test('who confirms without the word that has to be typed is told so at its field', async () => {
  await page.goto(`${gateway.url}/sessions/in-circles`);
  await page.getByTestId('hitl-terminate').first().press('Enter');
  await page.getByLabel('Reason, for the audit').press('Enter');
  const word = page.getByLabel('Type “terminate” to confirm');
  await expect.poll(() => problemAt(word)).toBe('Nothing is done until “terminate” stands here.');
  expect(await word.and(page.locator(':focus')).count()).toBe(1);
  await page.getByRole('dialog').getByRole('alert').waitFor();
  await checkPage(page, 'terminate-untyped');
  await word.pressSequentially('term');
  expect(await problemAt(word)).toBeNull();
  await page.keyboard.press('Escape');
  await expect
    .poll(() => page.getByTestId('hitl-terminate').first().and(page.locator(':focus')).count())
    .toBe(1);
});

test('what is typed before a slow page has drawn its dialog is not lost', async () => {
  await page.goto(`${gateway.url}/sessions/in-circles`);
  await page.getByTestId('step-row').first().waitFor();
  for (const [keys, field] of [
    ['Control+k', page.getByPlaceholder('Session, agent, page or action')],
    ['Enter', page.getByLabel('Reason, for the audit')],
  ] as const) {
    await page.getByTestId('hitl-terminate').first().focus();
    await page.evaluate(HOLD_FRAMES);
    await page.keyboard.press(keys);
    await page.keyboard.type('calls');
    await page.evaluate(DRAW_FRAMES);
    expect(await field.inputValue()).toBe('calls');
    await page.keyboard.press('Escape');
    await field.waitFor({ state: 'detached' });
  }
});

test('who goes by Tab is not led through every step, or every call, to what comes after them', async () => {
  for (const [path, skip, next] of [
    ['/sessions/in-circles', 'Skip the steps', 'button Hold its messages anyway'],
    ['/agents/help-desk', 'Skip the calls', 'switch Kill switch is On'],
  ] as const) {
    await page.goto(gateway.url + path);
    await page.getByRole('button', { name: skip }).press('Enter');
    await page.keyboard.press('Tab');
    const focus: any = await page.evaluate(LOOK_AT_FOCUS);
    expect(focus.name).toBe(next);
  }
});

test('Enter leaves the search for what was typed by then, without a pause', async () => {
  await page.goto(gateway.url);
  const rows = page.getByTestId('session-row');
  await rows.nth(1).waitFor();
  await page.keyboard.press('/');
  // No pause ends.
  await page.evaluate('window.setTimeout = () => 0');
  await page.keyboard.type('in-circles');
  await page.keyboard.press('Enter');
  await expect.poll(() => rows.count()).toBe(1);
});

test('arrows go from session to session, as in any grid', async () => {
  await page.goto(gateway.url);
  await page.getByTestId('session-row').nth(1).waitFor();
  const focused = (): Promise<number> =>
    page
      .getByTestId('session-row')
      .evaluateAll((rows: any) => rows.indexOf(rows[0].ownerDocument.activeElement));
  await page.getByTestId('session-row').first().focus();
  await page.keyboard.press('ArrowDown');
  await expect.poll(focused).toBe(1);
  await page.keyboard.press('ArrowUp');
  await expect.poll(focused).toBe(0);
});
