/** Calls show the time of day, which two people on one call read on different clocks: the list says on whose. */
import { beforeAll, expect, test } from 'vitest';
import { always, openaiChat } from '../integration/proxy/vendors.js';
import { gateway, startOneGateway, upstream, upstreamsAt } from '../integration/start-one-gateway.js';
import { checkEveryLook, checkPage, SIZES } from './check-page.js';
import { browser, launchOneBrowser } from './launch-one-browser.js';
import { logIn } from './log-in.js';

const WAIT_MS = 20_000;

startOneGateway(upstreamsAt);
launchOneBrowser();
beforeAll(async () => {
  upstream.script(always(openaiChat, { text: 'Yes.' }));
  const response = await fetch(`${gateway.url}/agents/asker/proxy/openai/v1/chat/completions`, {
    method: 'POST',
    headers: { 'x-observatory-key': gateway.agentKey, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Is it late?' }] }),
  });
  expect(response.status).toBe(200);
  await response.arrayBuffer();
});

test.each([
  ['UTC', 'UTC'],
  // As long a name as zones have, but for one.
  ['Asia/Kathmandu', 'GMT+5:45'],
])('whoever reads calls in %s sees whose clock it is, wherever they stand', async (timezoneId, zone) => {
  const context = await browser.newContext({
    viewport: SIZES.desktop,
    reducedMotion: 'reduce',
    timezoneId,
  });
  context.setDefaultTimeout(WAIT_MS);
  const page = await context.newPage();
  await logIn(page, gateway, 'ana');
  const head = page.getByRole('columnheader', { name: `Ended, ${zone}`, exact: true });
  const overhangPx = () => head.evaluate((it: any) => it.scrollWidth - it.clientWidth);
  for (const path of ['/agents/asker', '/calls']) {
    await page.goto(gateway.url + path);
    await head.waitFor();
    expect(await overhangPx(), path).toBe(0);
  }
  const row = page.getByTestId('call-row');
  expect(await row.getByRole('button').getAttribute('title')).toMatch(
    new RegExp(` ${zone.replace('+', '.')}$`),
  );
  await checkEveryLook(page, `calls-clock-${zone.split(':')[0]}`);

  await row.getByRole('button').click();
  await page.getByTestId('call-details').waitFor();
  // The narrowest window with a table in it.
  await page.setViewportSize({ width: 992, height: 900 });
  await head.waitFor();
  expect(await overhangPx()).toBe(0);
  await checkPage(page, `calls-clock-${zone.split(':')[0]}-narrow`);
  await context.close();
});
