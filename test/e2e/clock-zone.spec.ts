/** Where a time of day is shown, which two people on one call read on different clocks, it is said on whose. */
import type { Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { buildDecisionLog } from '#testing';
import { always, openaiChat } from '../integration/proxy/vendors.js';
import { gateway, startOneGateway, upstream, upstreamsAt } from '../integration/start-one-gateway.js';
import { checkEveryLook, checkPage, SIZES } from './check-page.js';
import { browser, launchOneBrowser } from './launch-one-browser.js';
import { logIn } from './log-in.js';

const WAIT_MS = 20_000;
const HOUR_MS = 3_600_000;
/** The narrowest window with a table in it. */
const NARROW_TABLE_PX = 992;

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
  expect((await gateway.ingest(buildDecisionLog())).status).toBe(202);
});

const ZONES = [
  ['UTC', 'UTC'],
  // As long a name as zones have, but for one.
  ['Asia/Kathmandu', 'GMT+5:45'],
] as const;

async function openIn(timezoneId: string): Promise<Page> {
  const context = await browser.newContext({ viewport: SIZES.desktop, reducedMotion: 'reduce', timezoneId });
  context.setDefaultTimeout(WAIT_MS);
  const page = await context.newPage();
  await logIn(page, gateway, 'ana');
  return page;
}

test.each(ZONES)(
  'whoever reads calls in %s sees whose clock it is, wherever they stand',
  async (id, zone) => {
    const page = await openIn(id);
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
    await page.setViewportSize({ width: NARROW_TABLE_PX, height: 900 });
    await head.waitFor();
    expect(await overhangPx()).toBe(0);
    await checkPage(page, `calls-clock-${zone.split(':')[0]}-narrow`);
    await page.context().close();
  },
);

test.each(ZONES)(
  'whoever reads the stream in %s sees whose clock it is, in a window of any width',
  async (id, zone) => {
    const page = await openIn(id);
    await page.goto(`${gateway.url}/stream`);
    const time = page.getByTestId('stream-row').first().locator('time');
    await time.waitFor();
    expect(await time.getAttribute('title')).toMatch(new RegExp(` ${zone.replace('+', '.')}$`));
    const head = page.getByText(`Received, ${zone}`, { exact: true });
    for (const width of [SIZES.phone.width, NARROW_TABLE_PX, SIZES.desktop.width]) {
      await page.setViewportSize({ width, height: 900 });
      await head.waitFor();
      expect(await head.evaluate((it: any) => it.scrollWidth - it.clientWidth), `at ${width}`).toBe(0);
      const [above, below] = [await head.boundingBox(), await time.boundingBox()];
      expect(above?.x, `at ${width}`).toBe(below?.x);
      // One line, where there is room for it.
      if (width !== NARROW_TABLE_PX) expect(above?.height, `at ${width}`).toBe(below?.height);
    }
    await checkEveryLook(page, `stream-clock-${zone.split(':')[0]}`);
    await page.context().close();
  },
);

test.each(ZONES)(
  'whoever reads in %s until when a rule is muted sees whose clock it is',
  async (id, zone) => {
    await gateway.operator('POST', '/v1/alert-rules', {
      name: `Loops, ${zone}`,
      type: 'entropy_loop',
      muted_until_ms: Date.now() + 24 * HOUR_MS,
      channel_ids: [],
    });
    const page = await openIn(id);
    await page.goto(`${gateway.url}/alerts`);
    const note = page
      .getByTestId('alert-rule')
      .getByText(/^Muted until/)
      .first();
    await note.waitFor();
    expect(await note.innerText()).toMatch(new RegExp(` ${zone.replace('+', '.')}$`));
    await checkEveryLook(page, `muted-clock-${zone.split(':')[0]}`);
    await page.context().close();
  },
);

test.each(ZONES)('whoever reads in %s as of when a page is sees whose clock it is', async (id, zone) => {
  const page = await openIn(id);
  const notice = page.getByText(/^Not live: as of/);
  await page
    .getByTestId('reconnect-chip')
    .filter({ visible: true })
    .getByText('Live', { exact: true })
    .waitFor();
  gateway.process.kill('SIGSTOP');
  try {
    await notice.waitFor();
    expect(await notice.innerText()).toMatch(new RegExp(` ${zone.replace('+', '.')}$`));
    await checkEveryLook(page, `stale-clock-${zone.split(':')[0]}`);
  } finally {
    gateway.process.kill('SIGCONT');
  }
  await notice.waitFor({ state: 'detached' });
  await page.context().close();
});

test.each(ZONES)('in %s, today at Spend is the day of whoever looks, and says so', async (id, zone) => {
  const page = await openIn(id);
  await page.goto(`${gateway.url}/spend`);
  const asked = page.waitForRequest((request) => {
    const { pathname, searchParams } = new URL(request.url());
    return pathname === '/v1/spend' && searchParams.get('group') === 'hour';
  });
  await page.getByText('Today', { exact: true }).click();
  const fromMs = Number(new URL((await asked).url()).searchParams.get('from_ms'));
  const midnightMs: number = await page.evaluate('new Date().setHours(0, 0, 0, 0)');
  expect(fromMs).toBe(midnightMs - (midnightMs % HOUR_MS));
  await page.getByText(`Per hour, ${zone}`, { exact: true }).waitFor();
  await page.getByTestId('spend-row').filter({ hasText: 'asker' }).waitFor();
  await checkEveryLook(page, `spend-today-${zone.split(':')[0]}`);
  await page.context().close();
});
