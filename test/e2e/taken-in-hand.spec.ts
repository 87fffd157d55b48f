/** Alerts are taken in hand on the page of rules: by keyboard, on a phone, where another one was quicker, and where very many fire. */
import type { Locator, Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { buildDecisionLog } from '#testing';
import { OPERATOR_TOKEN, operatorAt } from '../integration/start-gateway.js';
import { gateway, startOneGateway } from '../integration/start-one-gateway.js';
import { checkEveryLook, focusOf, SIZES } from './check-page.js';
import { browser, launchOneBrowser } from './launch-one-browser.js';
import { openAs } from './log-in.js';

const RULE = 'Agent in a loop';
const PATH = '/v1/alert-rules/default_entropy_loop/acknowledge';
/** As long as an id can be, and nowhere to be broken. */
const LONG_ID = 'w'.repeat(256);
const LONG_NAME = 'ben-of-the-platform-team-on-call-at-night-and-on-weekends';
/** Of what can be pressed with a finger, as everything beside it. */
const FINGER_PX = 40;

startOneGateway();
launchOneBrowser();
let page: Page;
beforeAll(async () => {
  page = await openAs(browser, gateway, 'ana');
});

async function loop(agent_id: string): Promise<void> {
  const session_id = agent_id.slice(0, 100);
  const steps = Array.from({ length: 5 }, (_, at) =>
    buildDecisionLog({
      meta: { trace_id: `${session_id}-${at}`, session_id, timestamp: new Date().toISOString() },
      identity: { agent_id },
      cognition: { intent: 'look again' },
      action: { status: 'failure', tool_call: 'search' },
    } as never),
  );
  expect((await gateway.ingest(steps)).status).toBe(202);
}
const button = (name: string) => page.getByRole('button', { name, exact: true });
const take = (agent: string) => button(`Acknowledge ${RULE} for ${agent}`);
const handBack = (agent: string) => button(`Hand back ${RULE} for ${agent}`);

/** It does nothing at first: who pressed may have meant the one in whose place it stands. */
const canBePressed = (one: Locator) => expect.poll(() => one.getAttribute('aria-disabled')).toBeNull();

test('by keyboard one goes on where one was; who comes second reads who has it', async () => {
  for (const agent of [LONG_ID, 'crawler']) await loop(agent);
  await page.goto(`${gateway.url}/alerts`);
  await take('crawler').press('Enter');
  await handBack('crawler').waitFor();
  expect(await focusOf(page)).toBe(`button Hand back ${RULE} for crawler`);
  await canBePressed(handBack('crawler'));
  await page.keyboard.press('Enter');
  await take('crawler').waitFor();
  await take(LONG_ID).press('Enter');
  await handBack(LONG_ID).waitFor();

  const ben = operatorAt(gateway.url, OPERATOR_TOKEN, LONG_NAME);
  // The page has not heard of it when it asks.
  const { body: before } = await gateway.operator('GET', '/v1/alert-rules');
  let hasAsked = false;
  await page.route('**/v1/alert-rules', (route) =>
    hasAsked ? route.continue() : route.fulfill({ json: before }),
  );
  await page.route(`**${PATH}`, (route) => {
    hasAsked = true;
    return route.continue();
  });
  expect((await ben('POST', PATH, { agent_id: 'crawler' })).status).toBe(200);
  await canBePressed(take('crawler'));
  await take('crawler').press('Enter');
  await page.getByRole('alert').getByText(`${LONG_NAME} has this alert in hand already.`).waitFor();
  await canBePressed(handBack('crawler'));
  await checkEveryLook(page, 'taken-by-another');
});

test('on a phone it is as large as what stands beside it', async () => {
  await page.setViewportSize(SIZES.phone);
  for (const one of [handBack('crawler'), handBack(LONG_ID), button(`Edit ${RULE}`)])
    expect((await one.boundingBox())?.height).toBeGreaterThanOrEqual(FINGER_PX);
});

test('where very many fire, each that is listed can be taken', async () => {
  const agents = Array.from({ length: 30 }, (_, at) => `agent-${100 + at}`);
  for (const agent of agents) await loop(agent);
  await page.setViewportSize(SIZES.desktop);
  await page.reload();
  const rule = page.getByTestId('alert-rule').filter({ hasText: RULE });
  await rule.getByText('and 12 more').waitFor();
  await checkEveryLook(page, 'very-many-fire');
  await button(`Show more of ${RULE}`).press('Enter');
  await take('agent-129').press('Enter');
  await handBack('agent-129').waitFor();
  expect(await rule.getByText(/and \d+ more/).count()).toBe(0);
  await checkEveryLook(page, 'very-many-fire-shown');
  await button(`Show fewer of ${RULE}`).press('Enter');
  await button(`Show more of ${RULE}`).waitFor();
  expect(await focusOf(page)).toBe(`button Show more of ${RULE}`);
});
