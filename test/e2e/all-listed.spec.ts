/** One command for every session that is listed: forty in a loop are stopped by one answer, and let go on by another. */
import type { Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { buildDecisionLog } from '#testing';
import { gateway, startOneGateway } from '../integration/start-one-gateway.js';
import { checkEveryLook } from './check-page.js';
import { browser, launchOneBrowser } from './launch-one-browser.js';
import { openAs } from './log-in.js';

const COUNT = 40;

startOneGateway();
launchOneBrowser();

let page: Page;

const step = async (session_id: string, agent_id: string) =>
  gateway.ingest(
    buildDecisionLog({ meta: { trace_id: `${session_id}-1`, session_id }, identity: { agent_id } } as never),
  );
const states = async (agentId: string): Promise<string[]> => {
  const { body } = await gateway.operator('GET', `/v1/sessions?agent_id=${agentId}&limit=100`);
  return body.items.map(({ control }: { control: { state: string } }) => control.state);
};
const all = (state: string) => Array.from({ length: COUNT }, () => state);
const button = (name: string) => page.getByRole('button', { name, exact: true });
async function choose(command: string): Promise<void> {
  await button('Pause, resume or terminate all that are listed').click();
  await page.getByRole('menuitem', { name: `${command} all…` }).click();
}

beforeAll(async () => {
  for (let at = 0; at < COUNT; at += 1) await step(`loop-${at}`, 'runaway');
  await step('other-1', 'bystander');
  page = await openAs(browser, gateway, 'ana', '/?agent=runaway');
  await page.getByText(`${COUNT} of ${COUNT + 1}`).waitFor();
});

test('pauses those that match, and no other, each with its line in the audit', async () => {
  await choose('Pause');
  await page.getByRole('dialog', { name: `Pause ${COUNT} sessions?` }).waitFor();
  await page.getByText(`runaway (${COUNT})`).waitFor();
  await page.getByText(`${COUNT} of them never asked for control, and may keep running.`).waitFor();
  await checkEveryLook(page, 'pause-all-listed');
  await page.getByLabel('Reason, for the audit').fill('A flood');
  await button(`Pause ${COUNT} sessions`).click();
  await page.getByText(`${COUNT} sessions asked to pause`).waitFor();
  expect(await states('runaway')).toEqual(all('pause_requested'));
  expect(await states('bystander')).toEqual(['active']);
  const { body } = await gateway.operator('GET', '/v1/audit?limit=100');
  const paused = body.items.filter(({ action }: { action: string }) => action === 'pause');
  expect(paused).toHaveLength(COUNT);
  for (const line of paused)
    expect(line).toMatchObject({ operator_id: 'ana', detail: { reason: 'A flood' } });
});

test('says that there is none to pause, and lets them go on', async () => {
  const runs = page.getByTestId('session-row').filter({ hasNotText: 'Only messages held' });
  await expect.poll(() => runs.count()).toBe(0);
  await choose('Pause');
  await page.getByText('Of those that are listed none is running.').waitFor();
  await button('Cancel').click();
  await choose('Resume');
  await button(`Resume ${COUNT} sessions`).click();
  await page.getByText(`${COUNT} sessions resumed`).waitFor();
  expect(await states('runaway')).toEqual(all('active'));
});

test('names what was refused, keeps the rest, and sends only that again', async () => {
  let isRefusing = true;
  const sent: string[] = [];
  await page.route('**/v1/sessions/*/terminate', async (route) => {
    sent.push(route.request().url());
    const isRefused = isRefusing && /loop-(7|8)\//.test(route.request().url());
    const refusal = { status: 'error', reason: 'store_full', detail: 'The disk takes no writes.' };
    await (isRefused ? route.fulfill({ status: 503, json: refusal }) : route.continue());
  });
  await choose('Terminate');
  await button(`Terminate ${COUNT} sessions`).click();
  await page.getByText('Nothing is done until “terminate” stands here.').waitFor();
  await page.getByLabel('Type “terminate” to confirm').fill('terminate');
  await button(`Terminate ${COUNT} sessions`).click();
  await page.getByText(/^Not terminated: 2 of 40\. loop-[78]: The disk takes no writes\./).waitFor();
  await checkEveryLook(page, 'terminate-all-refused');
  isRefusing = false;
  await button('Terminate 2 sessions').click();
  await page.getByText(`${COUNT} sessions terminated`).waitFor();
  expect(sent).toHaveLength(COUNT + 2);
  expect(await states('runaway')).toEqual(all('terminated'));
  expect(await states('bystander')).toEqual(['active']);
});
