/** The page of one session, left open while the gateway deletes it for its age, and while one of its id begins. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { buildDecisionLog } from '#testing';
import { loopIn } from '../integration/loop-in.js';
import { makeDataDir } from '../integration/start-gateway.js';
import { gateway, startOneGateway } from '../integration/start-one-gateway.js';
import { browser, launchOneBrowser } from './launch-one-browser.js';
import { openAs } from './log-in.js';

const daysFile = join(makeDataDir(), 'days');
writeFileSync(daysFile, '0');

startOneGateway(() => ({
  RETENTION_DAYS: '1',
  NODE_OPTIONS: `--import ${fileURLToPath(new URL('../integration/days-later.mjs', import.meta.url))}`,
  DAYS_FILE: daysFile,
}));
launchOneBrowser();

let today = 0;
const passDays = async (count: number) => {
  today += count;
  writeFileSync(daysFile, String(today));
  gateway.process.kill('SIGUSR2');
  await expect.poll(() => gateway.output()).toContain(`${today} days later\n`);
};
const isThere = async (sessionId: string) =>
  (await gateway.operator('GET', `/v1/sessions/${sessionId}`)).status === 200;
const isDeleted = (sessionId: string) => expect.poll(() => isThere(sessionId)).toBe(false);

const step = (session_id: string, intent: string) =>
  gateway.ingest(
    buildDecisionLog({
      meta: { trace_id: `${session_id}-${intent}`, session_id, timestamp: new Date().toISOString() },
      cognition: { intent },
    } as never),
  );

/** What it and its page complain of. */
const complaintsOf = (page: Page): string[] => {
  const complaints: string[] = [];
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(String(error)));
  return complaints;
};
const COMMANDS = /^(Pause|Resume|Terminate|Inject|Hold|Guide|Rewrite)/;
const gone = (page: Page) => page.getByText('The gateway no longer has this session');

test('a session that is deleted for its age while its page is open says so, and offers nothing', async () => {
  await loopIn(gateway, 'aged');
  const page = await openAs(browser, gateway, 'ana', '/sessions/aged');
  const complaints = complaintsOf(page);
  const commands = page.getByRole('button', { name: COMMANDS });
  await commands.first().waitFor();
  await passDays(3);
  await isDeleted('aged');
  await gone(page).waitFor();
  expect(await commands.count()).toBe(0);
  await page.getByRole('link', { name: 'Sessions', exact: true }).click();
  await page.getByText('Nothing').or(page.getByRole('heading')).first().waitFor();
  expect(await page.getByText('aged').count()).toBe(0);
  expect(complaints).toEqual([]);
  await page.context().close();
});

test('the page of a session that is not there yet shows it once it begins', async () => {
  const page = await openAs(browser, gateway, 'ben', '/sessions/to-come');
  const complaints = complaintsOf(page);
  await page.getByRole('heading', { name: 'No such session' }).waitFor();
  await step('other', 'of another');
  await step('to-come', 'first');
  await page.getByTestId('step-row').filter({ hasText: 'first' }).waitFor();
  await step('to-come', 'second');
  await page.getByTestId('step-row').filter({ hasText: 'second' }).waitFor();
  expect(complaints).toEqual([]);
  await page.context().close();
});

test('the page of a session that was deleted, and whose id comes again, shows nothing of the one before', async () => {
  await step('again', 'of the one before');
  const page = await openAs(browser, gateway, 'cem', '/sessions/again');
  const complaints = complaintsOf(page);
  await page.getByTestId('step-row').filter({ hasText: 'of the one before' }).waitFor();
  await passDays(3);
  await isDeleted('again');
  await gone(page).waitFor();
  await step('again', 'of the new one');
  await gone(page).waitFor({ state: 'detached' });
  await page.getByTestId('step-row').filter({ hasText: 'of the new one' }).waitFor();
  expect(await page.getByTestId('step-row').count()).toBe(1);
  expect(complaints).toEqual([]);
  await page.context().close();
});
