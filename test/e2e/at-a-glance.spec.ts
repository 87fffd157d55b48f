/** What one look has to tell: what failed among what went well and, on a phone, that a line goes on. */
import type { Locator } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { buildDecisionLog } from '#testing';
import { gateway, startOneGateway } from '../integration/start-one-gateway.js';
import { checkEveryLook, SIZES } from './check-page.js';
import { browser, launchOneBrowser } from './launch-one-browser.js';
import { openAs } from './log-in.js';

const STEPS = [
  { intent: 'Look it up', status: 'success', tool_call: 'search' },
  { intent: 'Think it over', status: 'success', tool_call: '' },
  { intent: 'Send the answer', status: 'failure', tool_call: 'send_mail' },
] as const;

startOneGateway();
launchOneBrowser();
beforeAll(async () => {
  const steps = STEPS.map(({ intent, status, tool_call }) =>
    buildDecisionLog({
      meta: { trace_id: intent, session_id: 'a-question', timestamp: new Date().toISOString() },
      cognition: { intent },
      action: { status, tool_call },
    } as never),
  );
  expect((await gateway.ingest(steps)).status).toBe(202);
});

test('in the stream a failure has a colour, and what went well has that of the words beside it', async () => {
  const page = await openAs(browser, gateway, 'ana', '/stream');
  const colourOf = (intent: string, words: string) =>
    page
      .getByTestId('stream-row')
      .filter({ hasText: intent })
      .getByText(words, { exact: true })
      .evaluate((it: any) => it.ownerDocument.defaultView.getComputedStyle(it).color);
  expect(await colourOf('Look it up', 'success')).toBe(await colourOf('Look it up', 'search'));
  expect(await colourOf('Send the answer', 'failure')).not.toBe(
    await colourOf('Send the answer', 'send_mail'),
  );
  await checkEveryLook(page, 'stream-failure');
  await page.context().close();
});

test('in the stream the absence of a tool is said where there is a column for it, and on a phone nowhere', async () => {
  const page = await openAs(browser, gateway, 'ana', '/stream');
  const absence = page.getByTestId('stream-row').getByText('no tool', { exact: true });
  await absence.waitFor();
  await page.setViewportSize(SIZES.phone);
  await absence.waitFor({ state: 'hidden' });
  await page.getByTestId('stream-row').getByText('search', { exact: true }).waitFor();
  await page.context().close();
});

test('on a phone the figures and the states above the map show on which side they go on', async () => {
  const page = await openAs(browser, gateway, 'ana', '/fleet');
  const figures = page.getByRole('region', { name: 'Gateway health' });
  const states = page.getByRole('group', { name: 'Show only agents that are' });
  await figures.getByText(/^Subscribers\d+$/).waitFor();
  const sides = (line: Locator) =>
    line.evaluate((it: any) =>
      [...it.ownerDocument.querySelectorAll('[data-testid=hides-more]')]
        .filter((mark) => it.contains(mark) || mark.parentElement.contains(it))
        .map(({ dataset }) => dataset.side),
    );
  await expect.poll(() => sides(figures)).toEqual([]);
  await page.setViewportSize(SIZES.phone);
  for (const [line, last] of [
    [figures, figures.getByText('Store queue')],
    [states, states.getByRole('button').last()],
  ] as const) {
    await expect.poll(() => sides(line)).toEqual(['end']);
    await last.evaluate((it: any) => it.scrollIntoView({ inline: 'end' }));
    await expect.poll(() => sides(line)).toContain('start');
  }
  await page.reload();
  await figures.getByText(/^Subscribers\d+$/).waitFor();
  await checkEveryLook(page, 'fleet-goes-on');
  await page.context().close();
});
