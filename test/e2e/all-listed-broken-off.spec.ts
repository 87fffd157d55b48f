/** A command for every listed session that does not reach them all: what came of it is said, of which sessions, and once. */
import type { Page, Route } from 'playwright-core';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { buildDecisionLog } from '#testing';
import { gateway, startOneGateway } from '../integration/start-one-gateway.js';
import { browser, launchOneBrowser } from './launch-one-browser.js';
import { openAs } from './log-in.js';

const COUNT = 40;

startOneGateway();
launchOneBrowser();

let page: Page;
let agentId: string;
let run = 0;
/** Of the pauses sent. */
let sent: string[];

const step = async (session_id: string) =>
  gateway.ingest(
    buildDecisionLog({
      meta: { trace_id: `${session_id}-1`, session_id },
      identity: { agent_id: agentId },
    } as never),
  );
const button = (name: string) => page.getByRole('button', { name, exact: true });
const sessionOf = (route: Route): string => /sessions\/([^/]+)\//.exec(route.request().url())?.[1] ?? '';

async function askToPause(): Promise<void> {
  await button('Pause, resume or terminate all that are listed').click();
  await page.getByRole('menuitem', { name: 'Pause all…' }).click();
  await page.getByRole('dialog', { name: `Pause ${COUNT} sessions?` }).waitFor();
}
/** @param answer of the pause with that number, from 0 on */
const answerPauses = (answer: (route: Route, at: number) => Promise<void>): Promise<unknown> =>
  page.route('**/v1/sessions/*/pause', (route) => {
    sent.push(sessionOf(route));
    return answer(route, sent.length - 1);
  });

beforeEach(async () => {
  run += 1;
  agentId = `runaway-${run}`;
  sent = [];
  for (let at = 0; at < COUNT; at += 1) await step(`loop-${run}-${at}`);
  page = await openAs(browser, gateway, 'ana', `/?agent=${agentId}`);
  await page
    .getByText(`${COUNT} of ${COUNT * run}`)
    .or(page.getByText(`${COUNT} sessions`))
    .waitFor();
});
afterEach(() => page?.context().close());

test('whom nothing can be sent any more is none that it failed for', async () => {
  await askToPause();
  await gateway.operator('POST', `/v1/sessions/loop-${run}-3/terminate`, { reason: 'Over' });
  await answerPauses((route) => {
    const isGone = sessionOf(route) === `loop-${run}-4`;
    const gone = { status: 'error', reason: 'session_not_found', detail: 'No such session in this tenant.' };
    return isGone ? route.fulfill({ status: 404, json: gone }) : route.continue();
  });
  await button(`Pause ${COUNT} sessions`).click();
  await page.getByText(`${COUNT - 2} sessions asked to pause`, { exact: true }).waitFor();
  await page.getByText('2 sessions were terminated or deleted meanwhile.').waitFor();
  expect(await page.getByRole('dialog').filter({ hasText: 'Reason' }).count()).toBe(0);
});
