/** What one look has to tell: what failed among what went well, an address in whole words and, on a phone, that a line goes on. */
import type { Locator } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { buildDecisionLog } from '#testing';
import { gateway, startOneGateway } from '../integration/start-one-gateway.js';
import { checkEveryLook, SIZES } from './check-page.js';
import { browser, launchOneBrowser } from './launch-one-browser.js';
import { openAs } from './log-in.js';

const STEPS = [
  { agent_id: 'agent-1', intent: 'Look it up', status: 'success', tool_call: 'search' },
  // So short that what it intends would fit beside it.
  { agent_id: 'a', intent: 'Think it over', status: 'success', tool_call: '' },
  { agent_id: 'agent-1', intent: 'Send the answer', status: 'failure', tool_call: 'send_mail' },
] as const;

startOneGateway();
launchOneBrowser();
beforeAll(async () => {
  const steps = STEPS.map(({ agent_id, intent, status, tool_call }) =>
    buildDecisionLog({
      meta: { trace_id: intent, session_id: 'a-question', timestamp: new Date().toISOString() },
      identity: { agent_id },
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
  const row = page.getByTestId('stream-row').filter({ hasText: 'Think it over' });
  const when = await row.locator('time').boundingBox();
  const what = await row.getByText('Think it over').boundingBox();
  expect(what?.y).toBeGreaterThanOrEqual((when?.y ?? 0) + (when?.height ?? 0));
  await page.context().close();
});

/** On which it shows that it goes on. */
const sides = (line: Locator) =>
  line.evaluate((it: any) =>
    [...it.ownerDocument.querySelectorAll('[data-testid=hides-more]')]
      .filter((mark) => it.contains(mark) || mark.parentElement.contains(it))
      .map(({ dataset }) => dataset.side),
  );

test('on a phone the figures and the states above the map show on which side they go on', async () => {
  const page = await openAs(browser, gateway, 'ana', '/fleet');
  const figures = page.getByRole('region', { name: 'Gateway health' });
  const states = page.getByRole('group', { name: 'Show only agents that are' });
  await figures.getByText(/^Subscribers\d+$/).waitFor();
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

test.each([
  ['the sections of the settings', '/settings', 'navigation', 'Settings', 'a'],
  ['the filters of the sessions', '/', 'search', 'Sessions', '[role=combobox]'],
  ['tabs', '/calls', 'tablist', 'Client', '[role=tab]'],
  ['the lines of code', '/calls', 'region', 'OpenAI, Python snippet', 'pre'],
] as const)('on a phone %s show on which side they go on', async (what, path, role, name, part) => {
  const page = await openAs(browser, gateway, 'ana', path);
  const line = page.getByRole(role, { name, exact: true });
  const parts = line.locator(part);
  await parts.first().waitFor();
  await expect.poll(() => sides(line)).toEqual([]);
  await page.setViewportSize(SIZES.phone);
  await expect.poll(() => sides(line)).toEqual(['end']);
  await parts.last().evaluate((it: any) => it.scrollIntoView({ inline: 'end' }));
  await expect.poll(() => sides(line)).toContain('start');
  await page.reload();
  await parts.first().waitFor();
  await checkEveryLook(page, `goes-on-${what.split(' ').at(-1)}`);
  await page.context().close();
});

/** The narrowest window with the navigation at its left. */
const NARROW_DESKTOP_PX = 992;
const SMALL_PHONE_PX = 320;
const LONG_NAME = 'models-of-the-northern-and-southern-warehouses';
const LONG_BASE_URL = `https://models.example.org/openai/deployments/${LONG_NAME}/v1`;

/** As they are drawn. */
const linesOf = (words: Locator): Promise<string[]> =>
  words.evaluate((it: any) => {
    const { ownerDocument: document } = it;
    const lines = new Map<number, string>();
    const texts = document.createTreeWalker(it, 4);
    for (let text = texts.nextNode(); text; text = texts.nextNode())
      for (let at = 0; at < text.length; at += 1) {
        const range = document.createRange();
        range.setStart(text, at);
        range.setEnd(text, at + 1);
        const { top } = range.getBoundingClientRect();
        lines.set(top, (lines.get(top) ?? '') + text.data[at]);
      }
    return [...lines.values()];
  });

test.each([
  [
    'of an upstream',
    '/settings?section=upstreams',
    () => [`${gateway.url}/proxy/openai/v1`, `${gateway.url}/proxy/${LONG_NAME}/v1`, LONG_BASE_URL],
  ],
  ['to point an SDK at', '/calls', () => [`${gateway.url}/proxy/openai/v1`]],
] as const)(
  'an address %s is shown whole, broken between its words, and is one text to whoever copies it',
  async (what, path, addresses) => {
    await gateway.operator('PUT', `/v1/upstreams/${LONG_NAME}`, { base_url: LONG_BASE_URL, kind: 'openai' });
    const page = await openAs(browser, gateway, 'ana', path);
    for (const width of [SMALL_PHONE_PX, SIZES.phone.width, NARROW_DESKTOP_PX, SIZES.desktop.width]) {
      await page.setViewportSize({ width, height: 900 });
      for (const address of addresses()) {
        const shown = page.getByText(address, { exact: true }).first();
        await shown.waitFor();
        expect(await shown.evaluate((it: any) => it.scrollWidth - it.clientWidth), `at ${width}`).toBe(0);
        await shown.selectText();
        expect(await page.evaluate('String(getSelection())')).toBe(address);
        const lines = await linesOf(shown);
        expect(lines.slice(0, -1).filter((line) => /\w$/.test(line))).toEqual([]);
        if (width >= SIZES.phone.width && address.endsWith('/openai/v1')) expect(lines).toEqual([address]);
      }
    }
    await checkEveryLook(page, `address-${what.replaceAll(' ', '-')}`);
    await page.context().close();
  },
);

test('a session that nobody has touched leaves its room to its steps: the audit says so in a line', async () => {
  const page = await openAs(browser, gateway, 'ana', '/sessions/a-question');
  await page.setViewportSize(SIZES.phone);
  const audit = await page.getByRole('region', { name: 'Audit' }).boundingBox();
  expect(audit?.height).toBeLessThan(90);
  await checkEveryLook(page, 'audit-untouched');
  await page.context().close();
});

test('on a phone the audit says of each entry what it concerns and what came of it', async () => {
  await gateway.operator('POST', '/v1/sessions/a-question/pause', { reason: 'Let me look' });
  await gateway.operator('POST', '/v1/sessions/a-question/pause', { reason: 'Let me look, too' });
  await gateway.operator('POST', '/v1/agents/the-agent-of-all-northern-warehouses-0001/deactivate', {
    reason: 'Costs too much, as was agreed with everybody on the night shift',
  });
  const page = await openAs(browser, gateway, 'ana', '/settings?section=audit');
  for (const size of [SIZES.phone, SIZES.desktop]) {
    await page.setViewportSize(size);
    for (const [at, concerning, outcome] of [
      [0, 'the-agent-of-all-northern-warehouses-0001', 'ok'],
      [0, 'Costs too much, as was agreed with everybody on the night shift', 'ok'],
      [1, 'a-question', 'already_paused'],
      [2, 'a-question', 'ok'],
    ] as const) {
      const row = page.getByTestId('audit-row').nth(at);
      await row.getByText(concerning).filter({ visible: true }).first().waitFor();
      await row.getByText(outcome, { exact: true }).filter({ visible: true }).waitFor();
    }
  }
  await page.setViewportSize(SIZES.phone);
  await expect.poll(() => sides(page.getByRole('table'))).toEqual([]);
  await checkEveryLook(page, 'audit-entries');
  await page.context().close();
});

test('where no log came of late, Fleet says so in place of a latency', async () => {
  const page = await openAs(browser, gateway, 'ana', '/fleet');
  const health = page.getByRole('region', { name: 'Gateway health' });
  await health.getByText('no logs in 10 s', { exact: true }).waitFor();
  expect(await health.getByText('p50').count()).toBe(0);
  await checkEveryLook(page, 'fleet-no-latency');
  await page.context().close();
});

test('an entry of the audit leads to its rule or channel among many: in sight, marked, and where Tab goes on', async () => {
  const ids: string[] = [];
  for (let at = 0; at < 20; at += 1) {
    const { body } = await gateway.operator('POST', '/v1/alert-channels', {
      kind: 'webhook',
      name: `Hook ${at}`,
      url: 'https://example.org/hook',
    });
    ids.push(body.channel.channel_id);
  }
  for (let at = 0; at < 20; at += 1)
    await gateway.operator('POST', '/v1/alert-rules', {
      name: `Rule ${at}`,
      type: 'kill_switch',
      channel_ids: [ids[0]],
    });
  const page = await openAs(browser, gateway, 'ana', '/settings?section=audit');
  for (const [name, tab] of [
    ['Rule 19', 'Rules'],
    ['Hook 19', 'Channels'],
  ] as const) {
    await page.goto(`${gateway.url}/settings?section=audit`);
    await page.getByRole('link', { name, exact: true }).click();
    const item = page.getByRole('tabpanel', { name: tab }).locator('li:focus[aria-current=true]');
    await item.getByText(name, { exact: true }).waitFor();
    const { y, height } = (await item.boundingBox()) as { y: number; height: number };
    expect([y >= 0, y + height <= SIZES.desktop.height]).toEqual([true, true]);
    await checkEveryLook(page, `led-to-${tab}`);
    await page.keyboard.press('Tab');
    expect(await item.locator(':focus').count()).toBe(0);
    expect(await page.locator('li[aria-current=true] :focus').count()).toBe(1);
    await page.getByRole('tab', { name: 'History' }).click();
    await page.getByRole('tab', { name: tab }).click();
    expect(await page.locator('li[aria-current=true]').count()).toBe(0);
  }
  await page.context().close();
});
