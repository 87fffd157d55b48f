/** More sessions than the live list holds: a search, and the palette, still find one that has left it. */
import { expect, test } from 'vitest';
import { buildDecisionLog } from '#testing';
import { gateway, startOneGateway } from '../integration/start-one-gateway.js';
import { checkEveryLook } from './check-page.js';
import { browser, launchOneBrowser } from './launch-one-browser.js';
import { openAs } from './log-in.js';

/** As many as the live list holds. */
const LISTED_COUNT = 10_000;
const BATCH_COUNT = 500;
const EARLIER = 'ticket-of-last-week';

startOneGateway();
launchOneBrowser();

const step = (session_id: string, agent_id = 'refund-clerk') =>
  buildDecisionLog({
    meta: { trace_id: session_id, session_id, timestamp: new Date().toISOString() },
    identity: { agent_id },
  } as never);

test('a session that has left the live list is found by a search, and opens', async () => {
  await gateway.ingest(step(EARLIER, 'clerk-of-last-week'));
  for (let from = 0; from < LISTED_COUNT; from += BATCH_COUNT) {
    const batch = Array.from({ length: BATCH_COUNT }, (_, at) => step(`since-${from + at}`));
    expect((await gateway.ingest(batch)).status).toBe(202);
  }
  const page = await openAs(browser, gateway, 'ana', '/?q=last-week');
  await page.getByText('No session matches').waitFor();
  const found = page.getByRole('region', { name: 'Earlier sessions' }).getByRole('link');
  await found.filter({ hasText: EARLIER }).waitFor();
  expect(await found.count()).toBe(1);
  await checkEveryLook(page, 'earlier-session');
  await page.keyboard.press('Control+k');
  await page.keyboard.type('last-week');
  const offered = page
    .getByRole('dialog')
    .getByRole('group', { name: 'Earlier sessions' })
    .getByRole('option');
  await offered.filter({ hasText: EARLIER }).waitFor();
  await checkEveryLook(page, 'palette-earlier-session');
  await page.keyboard.press('Enter');
  await page.waitForURL(`**/sessions/${EARLIER}`);
  await page.getByTestId('step-row').waitFor();
  await page.keyboard.press('Escape');
  await found.click();
  await page.waitForURL(`**/sessions/${EARLIER}`);
  await page.getByTestId('step-row').waitFor();
  await page.goto(`${gateway.url}/?agent=clerk-of-last-week`);
  await page.getByText('No session matches').waitFor();
  await found.filter({ hasText: EARLIER }).waitFor();
  await gateway.ingest(step('ticket-of-this-week'));
  await page.goto(`${gateway.url}/`);
  await page.getByText(/^10,00\d of 10,002 sessions$/).waitFor();
  await page.goto(`${gateway.url}/?q=ticket-of`);
  await page.getByText(/^1 of 10,00\d listed$/).waitFor();
  await found.filter({ hasText: EARLIER }).waitFor();
});
