/** The evidence of an incident: what was stopped beside what it repeats, in sight however far down the list one reads. */
import type { Locator, Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { respondJson } from '#testing';
import { gateway, startOneGateway, upstream, upstreamsAt } from '../integration/start-one-gateway.js';
import { checkEveryLook, SIZES } from './check-page.js';
import { browser, launchOneBrowser } from './launch-one-browser.js';
import { openAs } from './log-in.js';
import { askForOrder, ORDER_BOT } from './order-bot.js';

/** 3n - 5 passes 50 at the 19th: more of them than a window is high. */
const REQUEST_COUNT = 19;

startOneGateway(upstreamsAt);
launchOneBrowser();
beforeAll(async () => {
  upstream.script((_call, response) =>
    respondJson(response, 200, {
      id: 'chatcmpl-1',
      choices: [
        {
          index: 0,
          finish_reason: 'stop',
          message: { role: 'assistant', content: 'It is still being processed. Please wait a moment.' },
        },
      ],
    }),
  );
  await gateway.operator('PATCH', `/v1/agents/${ORDER_BOT}/kill-switch`, { threshold: 50, window_size: 50 });
  for (let request = 1; request <= REQUEST_COUNT; request += 1) await askForOrder(gateway, 4_700 + request);
});

async function openIncident(): Promise<Page> {
  const page = await openAs(browser, gateway, 'ana', '/incidents');
  await page.getByTestId('incident-row').filter({ hasText: ORDER_BOT }).getByRole('link').click();
  await page.getByTestId('evidence').first().waitFor();
  return page;
}

const stoppedOn = (page: Page): Locator => page.getByRole('region', { name: 'The request that was stopped' });
const earlierOn = (page: Page): Locator => page.getByRole('region', { name: 'Earlier requests' });

async function boxesOn(page: Page) {
  const box = (it: any) => it.getBoundingClientRect().toJSON();
  const stopped = await stoppedOn(page).getByTestId('evidence').evaluate(box);
  const earlier = await earlierOn(page)
    .getByTestId('evidence')
    .evaluateAll((all: any[]) => all.map((it) => it.getBoundingClientRect().toJSON()));
  expect(earlier).toHaveLength(REQUEST_COUNT - 1);
  return { stopped, earlier };
}

test('in a wide window what was stopped stands beside each earlier request, and stays in sight', async () => {
  const page = await openIncident();
  for (const size of [SIZES.desktop, { width: 1024, height: 768 }]) {
    await page.setViewportSize(size);
    const { stopped, earlier } = await boxesOn(page);
    expect(stopped.top).toBeCloseTo(earlier[0].top, 0);
    for (const { left } of earlier) expect(left).toBeGreaterThanOrEqual(stopped.right);
    const last = earlierOn(page).getByTestId('evidence').last();
    await last.evaluate((it: any) => it.scrollIntoView({ block: 'end' }));
    const after = await boxesOn(page);
    expect(after.earlier[0].bottom).toBeLessThan(0);
    expect(after.stopped.top).toBeGreaterThanOrEqual(0);
    expect(after.stopped.bottom).toBeLessThanOrEqual(size.height);
    await last.evaluate((it: any) => it.closest('.overflow-y-auto').scrollTo(0, 0));
  }
  await checkEveryLook(page, 'incident-evidence');
  await page.context().close();
});

test('what is longer than the page is high is read to its end without leaving the place in the list', async () => {
  const page = await openIncident();
  const height = 150;
  await page.setViewportSize({ width: SIZES.desktop.width, height });
  await earlierOn(page)
    .getByTestId('evidence')
    .nth(9)
    .evaluate((it: any) => it.scrollIntoView({ block: 'start' }));
  const before = await boxesOn(page);
  const answer = stoppedOn(page).locator('mark').last();
  const bottom = () => answer.evaluate((it: any) => it.getBoundingClientRect().bottom);
  expect(await bottom()).toBeGreaterThan(height);
  // Keys scroll what holds the focus.
  await stoppedOn(page).getByRole('link').focus();
  await page.keyboard.press('End');
  await expect.poll(bottom).toBeLessThanOrEqual(height);
  expect((await boxesOn(page)).earlier).toEqual(before.earlier);
  await page.context().close();
});

test('in a narrow window and on paper one stands below the other, the stopped one first', async () => {
  const page = await openIncident();
  const isStacked = async () => {
    const { stopped, earlier } = await boxesOn(page);
    for (const [index, { top, right, width }] of earlier.entries()) {
      expect(top).toBeGreaterThanOrEqual(earlier[index - 1]?.bottom ?? stopped.bottom);
      expect(right).toBeCloseTo(stopped.right, 0);
      expect(width).toBeGreaterThan(300);
    }
  };
  for (const width of [SIZES.phone.width, 720]) {
    await page.setViewportSize({ width, height: 844 });
    await isStacked();
  }
  // A sheet may be wide, too: turned, or large.
  await page.setViewportSize(SIZES.desktop);
  await page.emulateMedia({ media: 'print' });
  await isStacked();
  await page.context().close();
});

test('what repeats is marked on both sides, and what does not on neither', async () => {
  const page = await openIncident();
  const marksIn = (part: Locator) => part.locator('mark').allTextContents();
  const stopped = await marksIn(stoppedOn(page).getByTestId('evidence'));
  const prompt = ['Where is order', 'I cannot find it anywhere.'];
  const answer = 'It is still being processed. Please wait a moment.';
  expect(stopped).toEqual([...prompt, answer]);
  const earlier = earlierOn(page).getByTestId('evidence');
  for (const request of await earlier.all()) expect(await marksIn(request)).toEqual([...prompt, answer]);
  // It is what the other answers are compared with, and does not count itself.
  await earlier.first().getByText('which the others are compared with').waitFor();
  await earlier.first().getByText('+1').waitFor();
  await page.context().close();
});

test('the audit leads from the stop to the incident and to the agent, in words', async () => {
  const page = await openAs(browser, gateway, 'ana', '/settings?section=audit');
  const row = page.getByTestId('audit-row').filter({ hasText: 'agent.deactivate' });
  for (const size of [SIZES.phone, SIZES.desktop]) {
    await page.setViewportSize(size);
    await row.getByRole('link', { name: ORDER_BOT }).waitFor();
    expect(await row.getByText(/inc_/).filter({ visible: true }).count()).toBe(0);
  }
  await checkEveryLook(page, 'audit-of-a-stop');
  await row.getByRole('link', { name: 'See the incident' }).click();
  await page.getByTestId('evidence').first().waitFor();
  await page.goBack();
  await row.getByRole('link', { name: ORDER_BOT }).click();
  await page.waitForURL((url) => url.pathname === `/agents/${ORDER_BOT}`);
  await page.context().close();
});
