/** Between a phone and a desktop: beside the navigation no row may lose the words it is there for. */
import type { Locator, Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { buildDecisionLog } from '#testing';
import { loopIn } from '../integration/loop-in.js';
import { gateway, startOneGateway } from '../integration/start-one-gateway.js';
import { checkEveryLook, checkPage } from './check-page.js';
import { CROWD_COUNT, sendCrowd } from './crowd.js';
import { browser, launchOneBrowser } from './launch-one-browser.js';
import { openAs } from './log-in.js';

startOneGateway();
launchOneBrowser();

const SESSION = 'round-in-circles';
/** The narrowest window that has the navigation there. */
const NAVIGATION_AT_LEFT = 992;
/** The narrowest tablet, a desktop at 200 %, and that. */
const WIDTHS = [768, 960, NAVIGATION_AT_LEFT];
const PHONE = 360;
const DESKTOP = 1280;

/** All of it can be read: nothing is cut, and nothing lies over it. */
const isReadable = (words: Locator): Promise<boolean> =>
  words.evaluate((it: any) => {
    it.scrollIntoView({ block: 'center' });
    const { left, top, width, height } = it.getBoundingClientRect();
    const onTop = it.ownerDocument.elementFromPoint(left + width - 2, top + height / 2);
    const line = it.closest('.truncate');
    return width > 0 && line.scrollWidth <= line.clientWidth && line.parentElement.contains(onTop);
  });

test('in a window of any width one reads what is repeated, in the alert, the timeline and the stream', async () => {
  await loopIn(gateway, SESSION);
  const page = await openAs(browser, gateway, 'ana');
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: 900 });
    for (const [path, row] of [
      ['/', '[data-testid=alert-row]'],
      [`/sessions/${SESSION}`, '[data-testid=step-row]'],
      ['/stream', '[data-testid=stream-row]'],
    ] as const) {
      await page.goto(gateway.url + path);
      const intent = page.locator(row).first().getByText('search', { exact: true });
      await expect.poll(async () => [path, width, await isReadable(intent)]).toEqual([path, width, true]);
    }
  }
});

test('in a window of any width one reads to its end who has a session in hand', async () => {
  const waiting = { meta: { session_id: 'waits' }, control: { hitl_required: true } };
  await gateway.ingest(buildDecisionLog(waiting as never));
  const page = await openAs(browser, gateway, 'ana');
  const badge = page.getByTestId('session-row').getByText('Waits for a person');
  for (const width of [...WIDTHS, 1024, DESKTOP, 1366, 1440]) {
    await page.setViewportSize({ width, height: 900 });
    await badge.waitFor();
    const excess = await badge.evaluate((it: any) => {
      const { right } = it.closest('[data-testid=session-row]').getBoundingClientRect();
      return Math.max(
        0,
        Math.ceil(it.getBoundingClientRect().right - right),
        it.scrollWidth - it.clientWidth,
      );
    });
    expect([width, excess]).toEqual([width, 0]);
  }
  await page.context().close();
});

test('in a window of any width a budget is read to its last digit, in the list and on its agent’s page', async () => {
  // Cut, a million would read as "$1".
  await gateway.operator('PATCH', '/v1/agents/spender/policy', {
    budget_hour_usd: 123_456,
    budget_day_usd: 1_000_000,
    budget_month_usd: 1_000_000,
  });
  const page = await openAs(browser, gateway, 'ana');
  for (const width of [PHONE, ...WIDTHS, 1024, DESKTOP]) {
    await page.setViewportSize({ width, height: 900 });
    for (const path of ['/agents', '/agents/spender']) {
      await page.goto(gateway.url + path);
      const figures = page
        .locator('[role=meter][aria-label^=Spent]')
        .locator('xpath=preceding-sibling::*[1]');
      await figures.filter({ hasText: '$1,000,000' }).first().waitFor();
      const excess = await figures.evaluateAll((all: any[]) =>
        all.map((it) => it.scrollWidth - it.clientWidth),
      );
      expect(Math.max(...excess), `${path} at ${width}`).toBe(0);
    }
  }
  await page.context().close();
});

test('in a window of any width rules, channels and their dialogs hold names without a space', async () => {
  const channel = await gateway.operator('POST', '/v1/alert-channels', {
    kind: 'email',
    name: 'w'.repeat(100),
    to: [`${'night'.repeat(12)}@${'operations'.repeat(6)}.example.org`],
    from: 'a@example.org',
    smtp_host: 'mail.example.org',
    smtp_port: 25,
  });
  const agentId = 'a'.repeat(200);
  await gateway.operator('POST', '/v1/alert-rules', {
    name: 'm'.repeat(100),
    type: 'entropy_loop',
    agent_id: agentId,
    channel_ids: [channel.body.channel.channel_id],
  });
  await loopIn(gateway, 'of-a-long-name', agentId);
  const page = await openAs(browser, gateway, 'ana');
  for (const width of [PHONE, 768, 1024, DESKTOP]) {
    await page.setViewportSize({ width, height: 900 });
    for (const noun of ['rule', 'channel']) {
      await page.goto(`${gateway.url}/alerts?tab=${noun}s`);
      const row = page.getByTestId(`alert-${noun}`).last();
      if (noun === 'rule') await row.getByText('Firing for').waitFor();
      await expectNothingSticksOut(row.locator('> div').first(), `${noun} at ${width}`);
      await row.getByRole('button', { name: 'Edit' }).click();
      await expectNothingSticksOut(page.getByRole('dialog'), `dialog of a ${noun} at ${width}`);
      await page.keyboard.press('Escape');
    }
  }
  await page.context().close();
});

/** Neither out of it nor out of the part of it that scrolls. */
const expectNothingSticksOut = async (box: Locator, name: string): Promise<void> => {
  const excess = await box.evaluate((it: any) => {
    const right = (one: any): number => one.getBoundingClientRect().right;
    return Math.max(
      it.scrollWidth - it.clientWidth,
      ...[...it.querySelectorAll('*')].map((one) => right(one) - right(it)),
    );
  });
  expect(excess, name).toBeLessThanOrEqual(0);
};

test('in a window of any width an alert is as high as the panel makes room for, whatever is said of its session', async () => {
  await loopIn(gateway, 'let-run');
  await loopIn(gateway, 'held-back');
  await gateway.operator('POST', '/v1/sessions/held-back/pause', { reason: 'Let me look' });
  await loopIn(gateway, 'asks-a-person');
  await gateway.ingest(
    buildDecisionLog({
      meta: { trace_id: 'asks', session_id: 'asks-a-person', timestamp: new Date().toISOString() },
      control: { hitl_required: true },
    } as never),
  );
  const page = await openAs(browser, gateway, 'ana');
  const rows = page.getByTestId('alert-row');
  for (const width of [NAVIGATION_AT_LEFT, 1024, DESKTOP]) {
    await page.setViewportSize({ width, height: 900 });
    await rows.filter({ hasText: 'held-back' }).getByText('Only messages held').waitFor();
    await rows.filter({ hasText: 'asks-a-person' }).getByText('Waits for a person').waitFor();
    const heights = await rows.evaluateAll((all: any[]) => all.map((it) => it.firstChild.offsetHeight));
    expect(new Set(heights).size, `${heights} at ${width}`).toBe(1);
  }
  await page.context().close();
});

test('in a window enlarged to 200 % the whole map is seen with its buttons, and takes the width there is', async () => {
  await sendCrowd(gateway);
  const page = await openAs(browser, gateway, 'ana');
  await page.setViewportSize({ width: 720, height: 450 });
  await page.goto(`${gateway.url}/fleet`);
  const card = page.locator('.react-flow__node-agent');
  await expect.poll(() => card.count()).toBeGreaterThanOrEqual(CROWD_COUNT);
  const isOnTop = (mark: Locator) =>
    mark.evaluate((it: any) => {
      const { left, top, width, height } = it.getBoundingClientRect();
      return it.contains(it.ownerDocument.elementFromPoint(left + width / 2, top + height / 2));
    });
  await expect.poll(() => isOnTop(page.locator('.react-flow__controls-fitview'))).toBe(true);
  const [first, last] = await card.evaluateAll((cards: any[]) => {
    const lefts = cards.map((it) => it.getBoundingClientRect().left);
    return [Math.min(...lefts), Math.max(...lefts)];
  });
  expect(Number(last) - Number(first)).toBeGreaterThan(360);
});

/** How far the last letter of what stands there lies outside of it. */
const overhangPx = (words: Locator): Promise<number> =>
  words.evaluate((it: any) => {
    const { ownerDocument: document } = it;
    const letters = document.createTreeWalker(it, 4);
    let last = letters.nextNode();
    for (let next = last; next; next = letters.nextNode()) last = next;
    const range = document.createRange();
    range.setStart(last, last.length - 1);
    range.setEnd(last, last.length);
    const { right } = range.getBoundingClientRect();
    let leastRight = Number.POSITIVE_INFINITY;
    for (let frame = it; frame; frame = frame.parentElement) {
      const { right: end, width } = frame.getBoundingClientRect();
      // Some have no box of their own.
      if (width > 0) leastRight = Math.min(leastRight, end);
    }
    return right - leastRight;
  });

test('an id in a narrow column keeps its last letters, by which sessions and agents differ', async () => {
  const [session, agent] = ['a-session-of-the-night-shift-0001', 'the-agent-of-all-northern-warehouses-0001'];
  await loopIn(gateway, session, agent);
  const page = await openAs(browser, gateway, 'ana');
  await page.setViewportSize({ width: 1024, height: 768 });
  for (const [path, row] of [
    ['/', `[data-testid=session-row][data-session-id=${session}]`],
    ['/', `[data-testid=alert-row][data-session-id=${session}]`],
    ['/fleet?view=table', `[data-testid=fleet-row][data-agent-id=${agent}]`],
    ['/stream', '[data-testid=stream-row]'],
  ] as const) {
    await page.goto(gateway.url + path);
    const ids = page.locator(row).first().locator(`[title=${session}], [title=${agent}]`);
    await ids.first().waitFor();
    for (const id of await ids.all()) expect(await overhangPx(id), row).toBeLessThanOrEqual(0);
  }
  await page.goto(gateway.url);
  // Read out whole, and copied in one line.
  for (const row of ['session-row', 'alert-row']) {
    const link = page.getByTestId(row).getByRole('link', { name: session, exact: true });
    await link.waitFor();
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await link.selectText();
    await page.keyboard.press('Control+c');
    const copied = () => page.evaluate(() => (globalThis as any).navigator.clipboard.readText());
    await expect.poll(copied, { message: row }).toBe(session);
  }
  await checkPage(page, 'long-ids');
});

/** As it is read, from the left: letters where they are drawn, each with a place of its own. */
const drawnText = (cell: Locator): Promise<string> =>
  cell.evaluate((it: any) => {
    const { ownerDocument: document } = it;
    const letters = document.createTreeWalker(it, 4, ({ parentElement }: any) =>
      parentElement.ariaHidden ? 1 : 2,
    );
    const drawn: { letter: string; left: number }[] = [];
    for (let text = letters.nextNode(); text; text = letters.nextNode())
      for (let at = 0; at < text.length; at += 1) {
        const range = document.createRange();
        range.setStart(text, at);
        range.setEnd(text, at + 1);
        drawn.push({ letter: text.data[at], left: range.getBoundingClientRect().left });
      }
    return drawn
      .sort((a, b) => a.left - b.left)
      .filter(({ left }, at) => at === drawn.length - 1 || Number(drawn[at + 1]?.left) - left > 1)
      .map(({ letter }) => letter)
      .join('');
  });

test.each([
  ['Nightly run 12', 'Nightly run 12'],
  // Letters that do not join, so that each has a place of its own; read from the right.
  [
    '\u05d0\u05d1\u05d2-\u05d3\u05d4\u05d5-\u05d6\u05d7\u05d8',
    '\u05d8\u05d7\u05d6-\u05d5\u05d4\u05d3-\u05d2\u05d1\u05d0',
  ],
])('the id %s stands in the list and among the alerts as it is', async (session, drawn) => {
  await loopIn(gateway, session);
  const page = await openAs(browser, gateway, 'ana');
  for (const row of ['session-row', 'alert-row']) {
    const link = page.locator(`[data-testid=${row}][data-session-id="${session}"] a[title]`).first();
    expect(await drawnText(link), row).toBe(drawn);
  }
  await page.context().close();
});

test('no letter of an id stands apart from the others, however few there are before its end', async () => {
  await loopIn(gateway, 'looping');
  const page = await openAs(browser, gateway, 'ana');
  const link = page.locator('[data-testid=session-row][data-session-id="looping"] a[title]').first();
  const [head, tail] = await link.evaluate((it: any) =>
    [...it.querySelectorAll('[aria-hidden]')].map((part) => part.getBoundingClientRect().width),
  );
  expect(head).toBeCloseTo(tail / 'ooping'.length, 0);
  await page.context().close();
});

test('in a window of any width a price or a limit in its field is read to its last digit', async () => {
  const agent = 'well-funded';
  await gateway.operator('PATCH', `/v1/agents/${agent}/policy`, {
    budget_hour_usd: 1_200.5,
    budget_month_usd: 120_000,
    requests_per_minute: 100_000,
    tokens_per_minute: 2_000_000,
    session_calls_max: 100_000,
  });
  const page = await openAs(browser, gateway, 'ana');
  for (const width of [PHONE, ...WIDTHS, DESKTOP]) {
    await page.setViewportSize({ width, height: 900 });
    for (const [path, there] of [
      ['/settings?section=prices', 'price-row'],
      [`/agents/${agent}`, 'policy-save'],
    ] as const) {
      await page.goto(gateway.url + path);
      await page.getByTestId(there).first().waitFor();
      const cut = await page
        .locator('main input:not([aria-hidden])')
        .evaluateAll((all: any[]) =>
          all.filter((it) => it.scrollWidth > it.clientWidth).map((it) => it.value),
        );
      expect(cut, `${path} at ${width}`).toEqual([]);
    }
  }
  await page.context().close();
});

test('the figures of an agent stand on one line, whether a budget has its bar under them or not', async () => {
  await gateway.operator('PATCH', '/v1/agents/half-funded/policy', { budget_month_usd: 40 });
  const page = await openAs(browser, gateway, 'ana', '/agents');
  const row = page.locator('[data-agent-id=half-funded]');
  await row.waitFor();
  const middles = await row.evaluate((it: any) => {
    const { ownerDocument: document } = it;
    return [...it.cells].map((cell) => {
      const letters = document.createTreeWalker(cell, 4).nextNode();
      const range = document.createRange();
      range.selectNode(letters);
      const { top, bottom } = range.getBoundingClientRect();
      return (top + bottom) / 2;
    });
  });
  expect(middles.length).toBeGreaterThan(5);
  // Letters of two sizes have their middles less than a pixel apart.
  expect(Math.max(...middles) - Math.min(...middles)).toBeLessThan(2);
  await page.context().close();
});

test.each([
  'ana',
  'the-night-shift-of-all-the-warehouses-of-the-north',
  'مشغل الليل في كل مستودعات الشمال البعيد',
])('beside %s, who is signed in, one reads role and tenant', async (name) => {
  const page = await openAs(browser, gateway, name);
  const overhangPx = (within: Page | Locator) =>
    within.getByText('admin · default', { exact: true }).evaluate((it: any) => {
      const [part, line] = [it.getBoundingClientRect(), it.parentElement.getBoundingClientRect()];
      return Math.max(line.left - part.left, part.right - line.right, it.scrollWidth - it.clientWidth);
    });
  expect(await overhangPx(page)).toBeLessThanOrEqual(0);
  await page.setViewportSize({ width: PHONE, height: 740 });
  await page.getByRole('button', { name: 'More' }).click();
  expect(await overhangPx(page.getByRole('dialog'))).toBeLessThanOrEqual(0);
  await page.context().close();
});

test('on a phone the numbers at Sessions leave its icon and its neighbours free', async () => {
  await loopIn(gateway, 'counted-in-red');
  for (let at = 0; at < 12; at += 1)
    await gateway.ingest(
      buildDecisionLog({
        meta: { trace_id: `asks-${at}`, session_id: `asks-${at}`, timestamp: new Date().toISOString() },
        control: { hitl_required: true },
      } as never),
    );
  const page = await openAs(browser, gateway, 'ana');
  const link = page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: /^Sessions/ });
  for (const width of [PHONE, 390]) {
    await page.setViewportSize({ width, height: 844 });
    await expect.poll(() => link.locator('[class*=says-by-colour]').count()).toBe(2);
    const sides = await link.evaluate((it: any) => {
      const { left, right } = it.getBoundingClientRect();
      const boxOf = (one: any) => one.getBoundingClientRect().toJSON();
      const badges = [...it.querySelectorAll('[class*=says-by-colour]')].map(boxOf);
      return { left, right, icon: boxOf(it.querySelector('svg')), badges };
    });
    for (const badge of sides.badges) {
      const onIcon = Math.min(badge.right, sides.icon.right) - Math.max(badge.left, sides.icon.left);
      expect(onIcon, `${width}`).toBeLessThanOrEqual(1);
      expect(badge.left).toBeGreaterThanOrEqual(sides.left);
      expect(badge.right).toBeLessThanOrEqual(sides.right);
    }
  }
  await checkEveryLook(page, 'counts-at-sessions');
  await page.context().close();
});

test('on a phone operators and agent keys say below the name what has no column there', async () => {
  const created = await gateway.operator('POST', '/v1/agent-keys', { name: 'research fleet' });
  expect(created.status).toBe(201);
  const page = await openAs(browser, gateway, 'ana', '/settings?section=operators');
  await page.setViewportSize({ width: 390, height: 844 });
  const operator = page.getByRole('row', { name: /environment/ });
  for (const words of ['admin', 'Active', 'Tenants: All', /^Used .* ago$/])
    await operator.getByText(words, { exact: true }).filter({ visible: true }).waitFor();
  await checkEveryLook(page, 'operators-table');
  await page.goto(`${gateway.url}/settings?section=agent-keys`);
  await page.setViewportSize({ width: 390, height: 844 });
  const key = page.getByRole('row', { name: /research fleet/ });
  for (const words of ['Active', 'By tester', 'Never used'])
    await key.getByText(words, { exact: true }).filter({ visible: true }).waitFor();
  await page
    .getByRole('row', { name: /environment/ })
    .getByText(/^Used /)
    .filter({ visible: true })
    .waitFor();
  await checkEveryLook(page, 'agent-keys-table');
  await page.context().close();
});

test('at 1440 px the lists of sessions and of messages show a tool whole that has room', async () => {
  for (const tool of ['warehouse.find_stock_of_branch', 'warehouse.find_stock'])
    await gateway.ingest(
      buildDecisionLog({
        meta: { trace_id: tool, session_id: 'runs-tests', timestamp: new Date().toISOString() },
        action: { status: 'success', tool_call: tool },
      } as never),
    );
  const page = await openAs(browser, gateway, 'ana', '/?q=runs-tests');
  await page.setViewportSize({ width: 1440, height: 900 });
  const isWhole = (row: string, tool: string) =>
    page
      .getByTestId(row)
      .getByText(tool, { exact: true })
      .evaluate((it: any) => it.scrollWidth <= it.clientWidth);
  await expect.poll(() => isWhole('session-row', 'warehouse.find_stock')).toBe(true);
  await page.goto(`${gateway.url}/stream`);
  await expect.poll(() => isWhole('stream-row', 'warehouse.find_stock_of_branch')).toBe(true);
  await page.context().close();
});

test('beside a scroll bar that takes room the page of sessions scrolls down, and not sideways', async () => {
  await loopIn(gateway, SESSION);
  const page = await openAs(browser, gateway, 'ana');
  await page.setViewportSize({ width: PHONE, height: 844 });
  await page.getByTestId('session-row').first().waitFor();
  // This browser draws no scroll bar. Where one is drawn, the page is so much narrower than its window.
  const tooWide = await page.getByRole('search', { name: 'Sessions' }).evaluate((it: any) => {
    it.ownerDocument.getElementById('root').style.paddingRight = '15px';
    const scrolled = it.closest('[class*=overflow-y-auto]');
    return scrolled.scrollWidth - scrolled.clientWidth;
  });
  expect(tooWide).toBe(0);
  await page.context().close();
});

test('on a phone the way back stands beside the name of what is shown, however long that is', async () => {
  const long = `agent-${'0123456789abcdef'.repeat(4)}`;
  await loopIn(gateway, `session-${'0123456789abcdef'.repeat(4)}`, long);
  await gateway.operator('PATCH', `/v1/agents/${long}/policy`, { requests_per_minute: 60 });
  const page = await openAs(browser, gateway, 'ana');
  await page.setViewportSize({ width: PHONE, height: 740 });
  for (const path of [`/agents/${long}`, `/sessions/session-${'0123456789abcdef'.repeat(4)}`]) {
    await page.goto(gateway.url + path);
    const back = page.getByRole('link', { name: /^Back to/ });
    const name = page.getByRole('heading', { level: 1 }).filter({ hasText: '0123456789abcdef' });
    // Asked again: the page may put another in its place meanwhile.
    const looks = async () => {
      const [link, heading] = await Promise.all([back.boundingBox(), name.boundingBox()]);
      return link && heading && { isBeside: heading.y < link.y + link.height, width: link.width };
    };
    // As wide as a finger.
    await expect.poll(looks, { message: path, timeout: 20_000 }).toEqual({ isBeside: true, width: 40 });
  }
  await page.context().close();
});
