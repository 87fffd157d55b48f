/** A command for every listed session that does not reach them all: what came of it is said, of which sessions, and once. */
import type { Page, Route } from 'playwright-core';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { buildDecisionLog } from '#testing';
import { gateway, startOneGateway } from '../integration/start-one-gateway.js';
import { browser, launchOneBrowser } from './launch-one-browser.js';
import { openAs } from './log-in.js';

const COUNT = 40;
/** So many are sent before it breaks off. */
const REACHED = 10;
/** Those on their way then. */
const UNDER_WAY = 6;

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
const stoppedCount = async (): Promise<number> => {
  const { body } = await gateway.operator('GET', `/v1/sessions?agent_id=${agentId}&limit=100`);
  return body.items.filter(
    ({ control }: { control: { state: string } }) => control.state === 'pause_requested',
  ).length;
};
const button = (name: string) => page.getByRole('button', { name, exact: true });
const sessionOf = (route: Route): string => /sessions\/([^/]+)\//.exec(route.request().url())?.[1] ?? '';

function once<T>(act: () => Promise<T>): () => Promise<T> {
  let result: Promise<T> | undefined;
  return () => {
    result ??= act();
    return result;
  };
}

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

test('a gateway that answers no more is asked no more, and those left are sent again alone', async () => {
  let isAway = true;
  await answerPauses((route, at) => (isAway && at >= REACHED ? route.abort() : route.continue()));
  await askToPause();
  await button(`Pause ${COUNT} sessions`).click();
  await page.getByText(`Not asked to pause: ${COUNT - REACHED} of ${COUNT}.`).waitFor();
  expect(sent.length).toBeLessThanOrEqual(REACHED + UNDER_WAY);
  isAway = false;
  sent.length = 0;
  await button(`Pause ${COUNT - REACHED} sessions`).click();
  await page.getByText(`${COUNT} sessions asked to pause`).waitFor();
  expect(sent).toHaveLength(COUNT - REACHED);
  expect(await stoppedCount()).toBe(COUNT);
});

test('a login that is over: the others are not sent, and beside the login stands how many were', async () => {
  const reached: Promise<void>[] = [];
  const signOut = once(async () => {
    await Promise.all(reached);
    await page.context().request.post(`${gateway.url}/v1/auth/logout`, { headers: { origin: gateway.url } });
  });
  await answerPauses(async (route, at) => {
    if (at < REACHED) {
      reached.push(route.fetch().then((response) => route.fulfill({ response })));
      return;
    }
    await signOut();
    await route.continue();
  });
  await askToPause();
  await button(`Pause ${COUNT} sessions`).click();
  await page.waitForURL('**/login*');
  await page.getByRole('heading', { name: `Not asked to pause: ${COUNT - REACHED} of ${COUNT}` }).waitFor();
  await page.getByText('Your login had ended.', { exact: true }).waitFor();
  expect(sent.length).toBeLessThanOrEqual(REACHED + UNDER_WAY);
  expect(await stoppedCount()).toBe(REACHED);
});

test('whoever leaves the page meanwhile is told what was refused', async () => {
  let letGo = () => {};
  const left = new Promise<void>((settle) => (letGo = settle));
  await answerPauses(async (route) => {
    await left;
    const refusal = { status: 'error', reason: 'store_full', detail: 'The disk takes no writes.' };
    await (/-(7|8)$/.test(sessionOf(route))
      ? route.fulfill({ status: 503, json: refusal })
      : route.continue());
  });
  await page.getByRole('link', { name: 'Agents', exact: true }).first().click();
  await page.waitForURL('**/agents*');
  await page.goBack();
  await askToPause();
  await button(`Pause ${COUNT} sessions`).click();
  await page.goForward();
  await page.getByRole('dialog', { name: `Pause ${COUNT} sessions?` }).waitFor({ state: 'detached' });
  letGo();
  await page.getByText(`Not asked to pause: 2 of ${COUNT}`).waitFor();
});

test('whoever thinks better of it stops the rest, and may send that later', async () => {
  let letOn = () => {};
  const held = new Promise<void>((resolve) => {
    letOn = resolve;
  });
  await answerPauses(async (route, at) => {
    if (at >= REACHED) await held;
    await route.continue();
  });
  await askToPause();
  await button(`Pause ${COUNT} sessions`).click();
  await expect.poll(() => sent.length).toBe(REACHED + UNDER_WAY);
  await button('Stop').click();
  letOn();
  const leftCount = COUNT - REACHED - UNDER_WAY;
  await page.getByText(`Not asked to pause: ${leftCount} of ${COUNT}. You stopped it.`).waitFor();
  expect(await stoppedCount()).toBe(REACHED + UNDER_WAY);
  await button(`Pause ${leftCount} sessions`).click();
  await page.getByText(`${COUNT} sessions asked to pause`).waitFor();
  expect(sent).toHaveLength(COUNT);
});

test('how many have been sent is there to be read, and not read out with each', async () => {
  let letGo = () => {};
  const later = new Promise<void>((settle) => (letGo = settle));
  await answerPauses(async (route, at) => {
    if (at >= REACHED) await later;
    await route.continue();
  });
  await askToPause();
  await button(`Pause ${COUNT} sessions`).click();
  const dialog = page.getByRole('dialog', { name: `Pause ${COUNT} sessions?` });
  await dialog.getByText(`${REACHED} of ${COUNT}`).waitFor();
  expect(await dialog.getByRole('progressbar', { name: 'Sent' }).getAttribute('value')).toBe(`${REACHED}`);
  expect(await dialog.getByRole('status').count()).toBe(0);
  letGo();
  await page.getByText(`${COUNT} sessions asked to pause`).waitFor();
});
