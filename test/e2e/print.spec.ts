/** On paper nothing scrolls: a list is printed to its end, whichever of its rows were in sight. */
import { expect, test } from 'vitest';
import { buildDecisionLog } from '#testing';
import { gateway, startOneGateway } from '../integration/start-one-gateway.js';
import { browser, launchOneBrowser } from './launch-one-browser.js';
import { openAs } from './log-in.js';

startOneGateway();
launchOneBrowser();

const SESSION_COUNT = 150;
/** A4 takes fewer than this of them. */
const ROWS_OF_A_SHEET_MAX = 40;

const pageCount = (pdf: Buffer): number => pdf.toString('latin1').match(/\/Type\s*\/Page\b/g)?.length ?? 0;

test('a long list is printed whole, dark on white, and is drawn in part again afterwards', async () => {
  const sessions = Array.from({ length: SESSION_COUNT }, (_, at) =>
    buildDecisionLog({
      meta: { trace_id: `t-${at}`, session_id: `printed-${at}`, timestamp: new Date().toISOString() },
    } as never),
  );
  expect((await gateway.ingest(sessions)).status).toBe(202);
  const page = await openAs(browser, gateway, 'ana');
  await page.emulateMedia({ colorScheme: 'dark' });
  const row = page.getByTestId('session-row');
  await row.first().waitFor();
  const inSight = await row.count();
  expect(inSight).toBeLessThan(SESSION_COUNT);

  expect(pageCount(await page.pdf({ format: 'A4' }))).toBeGreaterThanOrEqual(
    SESSION_COUNT / ROWS_OF_A_SHEET_MAX,
  );
  await page.evaluate(`dispatchEvent(new Event('beforeprint'))`);
  await expect.poll(() => row.count()).toBe(SESSION_COUNT);
  await page.evaluate(`dispatchEvent(new Event('afterprint'))`);
  await expect.poll(() => row.count()).toBe(inSight);

  await page.emulateMedia({ media: 'print', colorScheme: 'dark' });
  expect(await page.evaluate('getComputedStyle(document.body).backgroundColor')).toBe('rgb(246, 247, 249)');
  expect(await page.getByRole('navigation').count()).toBe(0);
});
