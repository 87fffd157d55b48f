/** An agent asks for a person: whoever is on call sees it from another page, finds it in the list, and it is over with an answer. */
import { expect, test } from 'vitest';
import { buildDecisionLog } from '#testing';
import { gateway, startOneGateway } from '../integration/start-one-gateway.js';
import { checkEveryLook } from './check-page.js';
import { browser, launchOneBrowser } from './launch-one-browser.js';
import { openAs } from './log-in.js';

const ASKING = 'refund-4711';

startOneGateway();
launchOneBrowser();

const step = (session_id: string, asks = false) =>
  gateway.ingest(
    buildDecisionLog({
      meta: { trace_id: `${session_id}-1`, session_id, timestamp: new Date().toISOString() },
      identity: { agent_id: 'refund-clerk' },
      cognition: { intent: 'Pay back 4,000 USD' },
      control: { hitl_required: asks },
    } as never),
  );

test('a session that asks for a person is counted on every page, leads the list and can be asked for', async () => {
  await step('held-by-ana');
  await gateway.operator('POST', '/v1/sessions/held-by-ana/pause', { reason: 'Let me look' });
  const page = await openAs(browser, gateway, 'ana', '/spend');
  const places = page.getByRole('navigation', { name: 'Main' });
  await places.getByRole('link', { name: 'Sessions', exact: true }).waitFor();
  expect(await page.title()).toBe('Spend · Observatory');

  await step(ASKING, true);
  await step('later-and-calm');
  await expect.poll(() => page.title()).toBe('(1) Spend · Observatory');
  await places.getByRole('link', { name: 'Sessions 1 waiting for a person' }).click();

  const rows = page.getByTestId('session-row');
  await expect.poll(() => rows.count()).toBe(3);
  expect(await rows.first().getAttribute('data-session-id')).toBe(ASKING);
  await rows.first().getByText('Waits for a person').waitFor();
  // Its agent asked for control never: whether it waits is not known, and both are said.
  await rows.first().getByText('Only messages held').waitFor();
  await rows.first().getByText('1 message held').waitFor();
  await checkEveryLook(page, 'waits-for-person');
  await page.getByRole('button', { name: '1 waits for a person' }).click();
  await expect.poll(() => rows.count()).toBe(1);
  expect(page.url()).toContain('control=waiting');

  // Whoever paused it may be gone: that its agent asks is counted like any other.
  await step('held-by-ana', true);
  await expect.poll(() => rows.count()).toBe(2);
  await expect.poll(() => page.title()).toBe('(2) Sessions · Observatory');
  await places.getByRole('link', { name: 'Sessions 2 waiting for a person' }).waitFor();
  await rows.filter({ hasText: 'held-by-ana' }).getByText('held-by-ana').click();
  await page.getByText('refund-clerk asks for a person').waitFor();
  // What is held has neither steps nor cost yet: beside its figures stands why they are lower than one may know.
  await page.getByText('1 message, not counted here yet').waitFor();
  await checkEveryLook(page, 'inspect-waits-in-a-pause');
  await page.goBack();
  // A list that somebody points at keeps its rows.
  await page.mouse.move(0, 0);
  await gateway.operator('POST', '/v1/sessions/held-by-ana/resume', {});
  await expect.poll(() => rows.count()).toBe(1);

  await rows.first().getByText(ASKING).click();
  await page.getByTestId('control-state').filter({ hasText: 'Waits for a person' }).waitFor();
  await checkEveryLook(page, 'inspect-waits-for-person');
  await page.getByTestId('hitl-resume').first().click();
  await expect.poll(() => page.title()).toBe(`${ASKING} · Observatory`);

  await page.getByTestId('hitl-terminate').click();
  await page.getByRole('dialog').getByText('never asked for control and may keep running').waitFor();
  await page.getByRole('dialog').getByRole('textbox').last().fill('terminate');
  await page.getByTestId('hitl-terminate-confirm').click();
  await page.getByText('Terminated by ana', { exact: true }).waitFor();
  expect(await page.getByText('Terminated by an operator').count()).toBe(0);
  await checkEveryLook(page, 'inspect-terminated');
});
