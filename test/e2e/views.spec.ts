/**
 * Every view as people see it: dark and light, desktop and phone, each checked by axe and kept as a picture in
 * test-output/screenshots. The pictures are for looking at; the checks are that nothing is violated and nothing
 * scrolls sideways.
 */
import type { BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { buildDecisionLog } from '#testing';
import { type RunningGateway, startGateway } from '../integration/start-gateway.js';
import { gateway, startOneGateway, upstream, upstreamsAt } from '../integration/start-one-gateway.js';
import { checkPage, checkThemes, SIZES, type Size, THEMES, type Theme } from './check-page.js';
import { LOOPING_AGENT, sendCrowd } from './crowd.js';
import { guardEnvironment, REWORDING_SESSION, sendGuardedTraffic } from './guarded-traffic.js';
import { browser, launchOneBrowser } from './launch-one-browser.js';
import { logIn, openAs } from './log-in.js';
import { sendProxiedTraffic } from './proxied-traffic.js';

const SETTLE_MS = 15_000;

/** Path, and what must be on the page before it counts as there. */
const VIEWS = {
  sessions: ['/', '[data-testid=session-row]'],
  inspect: ['/sessions/looping-paused', '[data-testid=held-message]'],
  'inspect-observe-only': ['/sessions/quiet-1', '[data-testid=control-state]'],
  fleet: ['/fleet', '[data-testid=fleet-node]'],
  'fleet-table': ['/fleet?view=table', 'table'],
  stream: ['/stream', '[data-testid=stream-row]'],
  settings: ['/settings', 'h1, h2'],
  'inspect-calls': [
    '/sessions/looping-paused?tab=calls',
    '[data-testid=call-row], :text("No calls through the proxy")',
  ],
  agents: ['/agents', '[data-testid=agent-row], [data-testid=proxy-onboarding]'],
  'all-agents': ['/all-agents', '[data-testid=policy-save]'],
  calls: ['/calls', '[data-testid=call-row], [data-testid=proxy-onboarding]'],
  incidents: ['/incidents', '[data-testid=incident-row], :text("No agent was stopped")'],
  spend: ['/spend', '.uplot, :text("Nothing was spent")'],
  alerts: ['/alerts', '[data-testid=rule-create]'],
  'alert-channels': ['/alerts?tab=channels', '[data-testid=channel-create]'],
  'alert-history': ['/alerts?tab=history', '[data-testid=alert-delivery], :text("Nothing was sent yet")'],
  'dead-letters': ['/alerts?tab=dead', '[data-testid=alert-delivery], :text("No dead letters")'],
  prices: ['/settings?section=prices', '[data-testid=prices-save]'],
  upstreams: ['/settings?section=upstreams', '[data-testid=upstream-row]'],
  'semantic-alert': ['/', '[data-testid=semantic-alert-row], [data-testid=alert-row] :text("reworded")'],
  'inspect-semantic-loop': [`/sessions/${REWORDING_SESSION}`, '[data-testid=loop-row]'],
  'calls-hinted': ['/calls?decision=hinted', '[data-testid=call-row]'],
  'calls-cached': ['/calls?decision=cached', '[data-testid=call-row]'],
  cache: ['/cache', '[data-testid=cache-entry]'],
  'cache-matches': ['/cache', '[data-testid=semantic-match]'],
  system: ['/system', '[data-testid=sidecar-state][data-state=serving]'],
} as const;

/** The same of a gateway that nothing has gone through, and that looks for no semantic loops. */
const EMPTY_VIEWS = {
  'empty-cache': ['/cache', ':text("Nothing has been asked twice yet")'],
  'empty-stream': ['/stream', '[data-testid=onboarding-curl]'],
  'empty-system': ['/system', '[data-testid=sidecar-state][data-state=off]'],
} as const;

/** List, what to press in its first row, and what must be there then; a list that is empty has nothing to open. */
const OPENED = {
  agent: ['agents', '[data-testid=agent-row] a', '[data-testid=live-score], [data-testid=policy-save]'],
  incident: ['incidents', '[data-testid=incident-row] a', '[data-testid=evidence]'],
  call: [
    'calls',
    '[data-testid=call-row] button, button[data-testid=call-row]',
    '[data-testid=call-details]',
  ],
  'semantic-loop': ['inspect-semantic-loop', '[data-testid=loop-row] button', '[data-testid=loop-evidence]'],
  'hinted-call': [
    'calls-hinted',
    '[data-testid=call-row] button, button[data-testid=call-row]',
    '[data-testid=loop-evidence]',
  ],
  'cached-call': [
    'calls-cached',
    '[data-testid=call-row] button, button[data-testid=call-row]',
    '[data-testid=call-cache]',
  ],
  invalidate: ['cache', '[data-testid=cache-invalidate]', '[data-testid=invalidate-preview]'],
} as const satisfies Record<string, readonly [keyof typeof VIEWS, string, string]>;

/** It has a cache with nothing in it, and nothing that needs a sidecar. */
const startEmptyGateway = () =>
  startGateway({ env: { LLM_CACHE_BACKEND: 'memory', LLM_CACHE_SEMANTIC: 'off' } });

let empty: RunningGateway;

startOneGateway((origin) => ({ ...upstreamsAt(origin), ...guardEnvironment }));
launchOneBrowser();
beforeAll(async () => {
  empty = await startEmptyGateway();
  await fill(gateway);
  await sendProxiedTraffic(gateway, upstream);
  await sendGuardedTraffic(gateway, upstream);
});
afterAll(() => empty?.stop());

let serial = 0;
const step = (session_id: string, overrides: Record<string, any> = {}) => {
  serial += 1;
  return buildDecisionLog({
    ...overrides,
    meta: { trace_id: `view-${serial}`, session_id, timestamp: new Date().toISOString(), ...overrides.meta },
  });
};

async function fill(target: RunningGateway): Promise<void> {
  const intents = [
    'Read the brief',
    'Search the web',
    'Compare prices',
    'Draft the summary',
    'Send it for review',
  ];
  for (let session = 0; session < 24; session += 1) {
    let parent: string | null = null;
    for (const [index, intent] of intents.entries()) {
      const log = step(`quiet-${session}`, {
        meta: { parent_step_id: parent },
        identity: {
          agent_id: index % 2 ? `researcher-${session % 5}` : `planner-${session % 5}`,
          agent_type: 'crew',
        },
        cognition: {
          intent,
          reasoning_chain: ['The brief asks for three offers.', 'Two are in the inbox already.'],
        },
        action: {
          tool_call: ['read_file', 'web_search', 'compare', 'write_file', 'send_mail'][index],
          duration_ms: 420,
        },
        state_delta: { tokens_consumed: 900, cumulative_session_cost: 0.012 * (index + 1) },
      });
      parent = log.meta.trace_id;
      await target.ingest(log);
    }
  }
  const stuck = (session: string) =>
    step(session, {
      identity: { agent_id: 'report-reader' },
      cognition: {
        intent: 'Read the quarterly report',
        reasoning_chain: ['It was not there.', 'Try again.'],
      },
      action: {
        tool_call: 'read_file',
        status: 'failure',
        tool_input: { path: '/reports/q3.pdf' },
        tool_output_summary: 'ENOENT: no such file or directory',
      },
    });
  for (const session of ['looping', 'looping-too', 'looping-paused']) {
    for (let count = 0; count < 6; count += 1) await target.ingest(stuck(session));
  }
  await fetch(`${target.url}/v1/sessions/looping-paused/control?after=0`, {
    headers: { authorization: `Bearer ${target.agentKey}` },
  });
  await target.operator('POST', '/v1/sessions/looping-paused/pause', { reason: 'Entropy loop: score 0.20' });
  for (let count = 0; count < 3; count += 1) await target.ingest(stuck('looping-paused'));
  await target.operator('POST', '/v1/sessions/looping-paused/inject', {
    prompt: 'The report is in /archive now.',
  });
  for (let count = 0; count < 4; count += 1)
    await target.ingest({ identity: { agent_id: 'clumsy-bot' }, meta: {} });
}

async function open(theme: Theme, size: Size): Promise<BrowserContext> {
  return browser.newContext({
    viewport: SIZES[size],
    colorScheme: theme,
    deviceScaleFactor: 1,
    reducedMotion: 'reduce',
    isMobile: size === 'phone',
    hasTouch: size === 'phone',
  });
}

describe.each(['desktop', 'phone'] as const)('on a %s', (size) => {
  let page: Page;
  const errors: string[] = [];

  beforeAll(async () => {
    page = await (await open('light', size)).newPage();
    page.on('pageerror', (error) => errors.push(error.message));
    await logIn(page, gateway, 'ana');
  });
  afterAll(async () => {
    await page?.context().close();
    expect(errors).toEqual([]);
  });

  test('the login is whole and accessible', async () => {
    const context = await open('light', size);
    const stranger = await context.newPage();
    await stranger.goto(`${gateway.url}/login`);
    await stranger.getByTestId('login-submit').waitFor();
    await checkThemes(stranger, 'login', size);
    await context.close();
  });

  const show = async (view: keyof typeof VIEWS) => {
    const [path, mark] = VIEWS[view];
    await page.goto(gateway.url + path);
    await page.locator(mark).first().waitFor({ timeout: SETTLE_MS });
  };
  test.each(Object.keys(VIEWS) as (keyof typeof VIEWS)[])('%s is whole and accessible', async (name) => {
    await show(name);
    await checkThemes(page, name, size);
  });

  test.each(Object.entries(OPENED))(
    '%s, opened, is whole and accessible',
    async (name, [view, row, mark]) => {
      await show(view);
      await page.locator(row).first().click();
      await page.locator(mark).first().waitFor({ timeout: SETTLE_MS });
      await checkThemes(page, name, size);
    },
  );

  test('the empty state shows a working line, and gives way by itself', async () => {
    const context = await open('light', size);
    const page = await context.newPage();
    const fresh = size === 'desktop' ? empty : await startEmptyGateway();
    await logIn(page, fresh, 'ana');
    await page.getByTestId('onboarding-curl').waitFor({ timeout: SETTLE_MS });
    expect(await page.getByTestId('onboarding-curl').innerText()).toContain(fresh.agentKey);
    // An arrow says that lines go on; the room for the button beside the first is no line.
    const [arrows, hiddenPx] = await page.evaluate<[number, number]>(`(() => {
        const code = document.querySelector('[data-testid=onboarding-curl]');
        const range = document.createRange();
        range.selectNodeContents(code);
        const box = code.parentElement.getBoundingClientRect();
        const rights = [...range.getClientRects()].map(({ right }) => right);
        return [document.querySelectorAll('[data-testid=hides-more]').length, Math.max(...rights) - box.right];
      })()`);
    expect(arrows > 0, `an arrow over ${hiddenPx} px`).toBe(hiddenPx > 0);
    if (size === 'desktop') expect(arrows).toBe(0);
    await checkThemes(page, 'empty', size);
    await page.getByText('Change one base URL').click();
    await page.getByText('Observatory holds it').click();
    expect(await page.getByTestId('proxy-snippet-environment').innerText()).toContain(
      `export OPENAI_API_KEY="${fresh.agentKey}"`,
    );
    await checkThemes(page, 'empty-proxy', size);
    for (const [name, [path, mark]] of Object.entries(EMPTY_VIEWS)) {
      await page.goto(fresh.url + path);
      await page.locator(mark).first().waitFor({ timeout: SETTLE_MS });
      await checkThemes(page, name, size);
    }
    await page.goto(fresh.url);
    await page.getByTestId('send-sample').click();
    await page.getByTestId('alert-row').first().waitFor({ timeout: SETTLE_MS });
    await context.close();
    if (fresh !== empty) await fresh.stop();
  });
});

test('among ninety agents the one that loops is named, in letters that can be read', async () => {
  const crowded = await startEmptyGateway();
  await sendCrowd(crowded);
  for (const theme of THEMES) {
    for (const size of ['desktop', 'phone'] as const) {
      const context = await open(theme, size);
      const page = await context.newPage();
      await logIn(page, crowded, 'ana');
      await page.goto(`${crowded.url}/fleet`);
      const looping = page.locator('.react-flow__node', {
        has: page.locator('[data-testid=fleet-node][data-state=alert_entropy]'),
      });
      const name = looping.getByText(LOOPING_AGENT, { exact: true });
      await name.waitFor({ timeout: SETTLE_MS });
      const lineHeight = async () => {
        const box = await name.boundingBox();
        const lines = await name.evaluate((it: any) => it.getClientRects().length);
        return (box?.height ?? 0) / lines;
      };
      await expect.poll(lineHeight, { timeout: SETTLE_MS }).toBeGreaterThan(10);
      await checkPage(page, `fleet-crowded-${theme}-${size}`);
      await context.close();
    }
  }
  await crowded.stop();
});

test("a session's address without its id is the list, filters and all", async () => {
  const page = await openAs(browser, gateway, 'ana', '/sessions?severity=loop');
  await page.getByTestId('session-row').first().waitFor();
  expect(new URL(page.url())).toMatchObject({ pathname: '/', search: '?severity=loop' });
  await page.context().close();
});

test('what an agent writes from right to left stays in its place', async () => {
  await gateway.ingest(
    step('turned', {
      cognition: { intent: 'اقرأ التقرير' },
      action: { tool_call: 'اقرأ_ملف', tool_output_summary: '\u202edne eht' },
    }),
  );
  const context = await open('light', 'desktop');
  const page = await context.newPage();
  await logIn(page, gateway, 'ana');
  await page.goto(`${gateway.url}/sessions/turned`);
  const words = page.getByTestId('step-row').locator('bdi');
  await words.first().waitFor({ timeout: SETTLE_MS });
  const lefts = await words.evaluateAll((all: any[]) => all.map((it) => it.getBoundingClientRect().left));
  expect(lefts).toHaveLength(3);
  expect(lefts).toEqual([...lefts].sort((a, b) => a - b));
  await context.close();
});

test('charts are drawn in a browser whose language has no name', async () => {
  const context = await open('light', 'desktop');
  await context.addInitScript(
    `Object.defineProperty(Navigator.prototype, 'language', { get: () => 'en-US@posix' })`,
  );
  const page = await context.newPage();
  await logIn(page, gateway, 'ana');
  for (const path of ['/fleet', '/spend']) {
    await page.goto(gateway.url + path);
    await page.locator('.uplot').first().waitFor({ timeout: SETTLE_MS });
  }
  await context.close();
});

test('a page that was not opened before opens while nobody answers', async () => {
  const context = await open('light', 'desktop');
  const page = await context.newPage();
  await logIn(page, gateway, 'ana');
  await page.getByTestId('session-row').first().waitFor({ timeout: SETTLE_MS });
  // It, and what it imports, which comes at the same time.
  const isThere = `{
    const { name } = performance.getEntriesByType('resource').find(({ name }) => name.includes('spend-page')) ?? {};
    name && import(name).then(() => true);
  }`;
  await expect.poll(() => page.evaluate(isThere), { timeout: SETTLE_MS }).toBe(true);
  await context.setOffline(true);
  await page.getByText('Not live').waitFor({ timeout: SETTLE_MS });
  await page.getByRole('link', { name: 'Spend' }).click();
  await page.getByRole('heading', { name: 'Spend', level: 1 }).waitFor({ timeout: SETTLE_MS });
  await context.close();
});

test('in a narrow window no column of a table is squeezed out', async () => {
  const context = await open('light', 'desktop');
  const page = await context.newPage();
  await page.setViewportSize({ width: 1024, height: 768 });
  await logIn(page, gateway, 'ana');
  const tables = ['/', '/agents', '/agents/incident-analyst', '/calls', '/fleet?view=table'];
  for (const path of tables) {
    await page.goto(gateway.url + path);
    await page.locator('th, [role=columnheader]').first().waitFor({ timeout: SETTLE_MS });
    const squeezed = await page.evaluate(`
      [...document.querySelectorAll('th, [role=columnheader]')]
        .filter((heading) => heading.scrollWidth > heading.clientWidth)
        .map((heading) => heading.textContent)`);
    expect(squeezed, path).toEqual([]);
    const grid = page.locator('[role=grid]');
    const overflow = (await grid.count())
      ? await grid.evaluate((it: any) => it.scrollWidth - it.clientWidth)
      : 0;
    expect(overflow, `${path} scrolls sideways`).toBe(0);
  }
  // Nor what an alert is about, beside who has it in hand.
  await page.goto(gateway.url);
  const alert = page.locator('[data-testid=alert-row][data-session-id=looping-paused]');
  const repeated = alert.getByText('Read the quarterly report');
  await alert.getByText('tester').waitFor({ timeout: SETTLE_MS });
  await expect.poll(() => repeated.evaluate((it: any) => it.clientWidth)).toBeGreaterThan(100);
  // Nor what an incident is, beside the agent's settings; its state stays in its panel.
  await page.goto(`${gateway.url}/agents/order-bot`);
  const incident = page.getByTestId('incident-row');
  await incident.waitFor({ timeout: SETTLE_MS });
  const stopped = incident.getByText('Stopped by the kill switch');
  expect(await stopped.evaluate((it: any) => it.scrollWidth - it.clientWidth)).toBe(0);
  expect(await incident.evaluate((it: any) => it.scrollWidth - it.clientWidth)).toBe(0);
  // Nor who called, beside what one call was.
  await page.goto(`${gateway.url}/calls`);
  await page.getByTestId('call-row').first().getByRole('button').click();
  await page.getByTestId('call-details').waitFor({ timeout: SETTLE_MS });
  const agent = page.getByTestId('call-row').getByTitle('help-desk').first();
  expect(await agent.evaluate((it: any) => it.scrollWidth - it.clientWidth)).toBe(0);
  await context.close();
});

test('a table that is wider than the screen shows on which side it goes on', async () => {
  const context = await open('light', 'phone');
  const page = await context.newPage();
  await logIn(page, gateway, 'ana');
  const sides = () =>
    page
      .locator(':has(> * > table) > [data-testid=hides-more]')
      .evaluateAll((all: any[]) => all.map(({ dataset }) => dataset.side));
  const scroll = (x: number) =>
    page.locator('table').evaluate((it: any, left) => it.parentElement.scrollTo({ left }), x);
  await page.goto(`${gateway.url}/settings?section=prices`);
  await page.getByTestId('price-row').first().waitFor({ timeout: SETTLE_MS });
  await expect.poll(sides).toEqual(['end']);
  await scroll(20);
  await expect.poll(sides).toEqual(['start', 'end']);
  await scroll(10_000);
  await expect.poll(sides).toEqual(['start']);
  await page.setViewportSize(SIZES.desktop);
  await expect.poll(sides).toEqual([]);

  // Its longest line is a hash, which is broken rather than the table widened.
  await page.setViewportSize(SIZES.phone);
  await page.goto(`${gateway.url}/settings?section=audit`);
  await page.getByTestId('audit-row').getByRole('button').first().click();
  await page.getByText('"prev_hash"').waitFor({ timeout: SETTLE_MS });
  expect(await sides()).toEqual([]);
  await context.close();
});

test('on a phone, too, one sees who one is and signs out', async () => {
  for (const theme of THEMES) {
    const context = await open(theme, 'phone');
    const page = await context.newPage();
    await logIn(page, gateway, 'ana');
    await page.getByRole('button', { name: 'More' }).click();
    const more = page.getByRole('dialog', { name: 'More' });
    await more.getByText('ana admin · default').waitFor({ timeout: SETTLE_MS });
    await checkPage(page, `more-${theme}-phone`);
    await more.getByRole('button', { name: 'Sign out' }).click();
    await page.waitForURL('**/login', { timeout: SETTLE_MS });
    await context.close();
  }
});

test('the current section of the settings is in view on a phone, also once the screen has turned', async () => {
  const context = await open('light', 'phone');
  const page = await context.newPage();
  await logIn(page, gateway, 'ana');
  const current = page.getByRole('navigation', { name: 'Settings' }).locator('[aria-current]');
  const hiddenPx = () =>
    current.evaluate((it: any) => {
      const [link, row] = [it.getBoundingClientRect(), it.parentElement.getBoundingClientRect()];
      return Math.max(0, row.left - link.left, link.right - row.right);
    });
  for (const section of ['detection', 'operators', 'about']) {
    await page.setViewportSize(SIZES.desktop);
    await page.goto(`${gateway.url}/settings?section=${section}`);
    await current.waitFor({ timeout: SETTLE_MS });
    await page.setViewportSize(SIZES.phone);
    await expect.poll(hiddenPx, { timeout: SETTLE_MS }).toBe(0);
  }
  await context.close();
});

test('money stands at the right of its column, heading and all', async () => {
  const context = await open('light', 'desktop');
  const page = await context.newPage();
  await logIn(page, gateway, 'ana');
  for (const path of ['/', '/agents', '/calls', '/spend', '/agents/incident-analyst']) {
    await page.goto(gateway.url + path);
    await page
      .locator('td, [role=gridcell]')
      .filter({ hasText: '$' })
      .first()
      .waitFor({ timeout: SETTLE_MS });
    const headings = await page.evaluate<string[]>(`
      [...document.querySelectorAll('tr, [role=row]')].flatMap((row) => {
        const table = row.closest('table, [role=grid]');
        const heads = [...table.querySelectorAll('th[scope=col], [role=columnheader]')];
        const cells = [...row.querySelectorAll('td, [role=gridcell]')];
        const isLeft = (cell) => !['right', 'end'].includes(getComputedStyle(cell).textAlign);
        return cells.flatMap((cell, at) =>
          cell.textContent.startsWith('$') && (isLeft(cell) || isLeft(heads[at])) ? heads[at].textContent : []);
      })`);
    expect([...new Set(headings)], path).toEqual([]);
  }
  await context.close();
});

test('another filter ends what is still read for the last one', async () => {
  const context = await open('light', 'desktop');
  const page = await context.newPage();
  await logIn(page, gateway, 'ana');
  // An answer that takes for ever.
  await page.route('**/v1/calls?*failed=*', () => {});
  const aborted = page.waitForEvent('requestfailed', {
    predicate: (request) => request.url().includes('failed='),
    timeout: SETTLE_MS,
  });
  const asked = page.waitForRequest('**/v1/calls?*failed=*', { timeout: SETTLE_MS });
  await page.goto(`${gateway.url}/calls?failed=true`);
  await asked;
  await page.keyboard.press('Control+k');
  await page.keyboard.type('calls that got a hint');
  await page.keyboard.press('Enter');
  await aborted;
  await page.locator('[data-testid=call-row]').first().waitFor({ timeout: SETTLE_MS });
  await context.close();
});

test('the details of a call take the focus, and give it back to their row', async () => {
  const context = await open('light', 'desktop');
  const page = await context.newPage();
  await logIn(page, gateway, 'ana');
  await page.goto(`${gateway.url}/calls`);
  const row = page.getByTestId('call-row').nth(2).getByRole('button');
  await row.waitFor({ timeout: SETTLE_MS });
  const focused = () =>
    page.evaluate('document.activeElement.closest("[data-call-id]")?.dataset.callId ?? null');
  await row.focus();
  const callId = await focused();
  for (const leave of ['Escape', 'Close']) {
    await page.keyboard.press('Enter');
    await page.getByTestId('call-details').waitFor({ timeout: SETTLE_MS });
    expect(await focused()).toBeNull();
    if (leave === 'Close') await page.getByRole('button', { name: leave }).click();
    else await page.keyboard.press(leave);
    await page.getByTestId('call-details').waitFor({ state: 'detached', timeout: SETTLE_MS });
    expect(await focused()).toBe(callId);
  }
  expect(callId).not.toBeNull();
  await context.close();
});

const LISTS = {
  '/': 'session-row',
  '/fleet?view=table': 'fleet-row',
  '/stream': 'stream-row',
  '/agents': 'agent-row',
  '/calls': 'call-row',
  '/incidents': 'incident-row',
  '/sessions/looping': 'step-row',
} as const;

test('j and k go from row to row of every list, and Enter opens what they reached', async () => {
  const page = await openAs(browser, gateway, 'ana');
  for (const [path, row] of Object.entries(LISTS)) {
    await page.goto(gateway.url + path);
    const rows = page.getByTestId(row);
    await rows.nth(1).waitFor({ timeout: SETTLE_MS });
    const focused = () =>
      rows.evaluateAll((all: any[]) => all.findIndex((it) => it.contains(it.ownerDocument.activeElement)));
    for (const [key, by] of Object.entries({ j: 1, 'j again': 1, k: -1, 'k again': -1 })) {
      // By the row itself: a list that lives may put another one above it meanwhile.
      const row = await rows.nth(Math.max(0, (await focused()) + by)).elementHandle();
      await page.keyboard.press(key.charAt(0));
      const hasFocus = () => row?.evaluate((it: any) => it.contains(it.ownerDocument.activeElement));
      await expect.poll(hasFocus, { message: `${key} in ${path}` }).toBe(true);
    }
  }
  await page.goto(`${gateway.url}/incidents?state=open`);
  await page.getByTestId('incident-row').first().waitFor({ timeout: SETTLE_MS });
  await page.keyboard.press('j');
  await page.keyboard.press('Enter');
  await page.getByRole('region', { name: 'Evidence' }).waitFor({ timeout: SETTLE_MS });
  // Back to the list as it was.
  await page.keyboard.press('Escape');
  await page.waitForURL(({ pathname, search }) => pathname + search === '/incidents?state=open');
  await page.getByTestId('incident-row').first().getByRole('link').click();
  await page.getByRole('link', { name: 'Back to incidents' }).click();
  await page.waitForURL(({ pathname, search }) => pathname + search === '/incidents?state=open');
  // It is one step back, and none on.
  await page.goForward();
  await page.getByRole('region', { name: 'Evidence' }).waitFor({ timeout: SETTLE_MS });
  await page.context().close();
});

test('the keyboard reaches everything an operator needs', async () => {
  const context = await open('dark', 'desktop');
  const page = await context.newPage();
  await logIn(page, gateway, 'ana');
  await page.getByTestId('session-row').first().waitFor({ timeout: SETTLE_MS });
  await page.keyboard.press('?');
  await page.getByRole('dialog').waitFor({ timeout: SETTLE_MS });
  await checkPage(page, 'shortcuts-dark-desktop');
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'hidden', timeout: SETTLE_MS });
  await page.keyboard.press('Control+k');
  await page.getByRole('dialog').waitFor({ timeout: SETTLE_MS });
  await checkPage(page, 'palette-dark-desktop');
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'hidden', timeout: SETTLE_MS });
  await page.keyboard.press('/');
  await page.keyboard.type('quiet-7');
  await expect.poll(() => page.getByTestId('session-row').count(), { timeout: SETTLE_MS }).toBe(1);
  expect(page.url()).toContain('quiet-7');
  await page.keyboard.press('Enter');
  await page.keyboard.press('j');
  await page.keyboard.press('Enter');
  await page.waitForURL('**/sessions/quiet-7**', { timeout: SETTLE_MS });
  await context.close();
});
