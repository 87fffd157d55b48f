/**
 * The promise, whole: five equal logs, an alert in a real browser, one click, and the agent is really stopped;
 * guidance reaches it, what was held comes in order, the audit verifies, and a second operator saw it all.
 */
import { mkdirSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { buildDecisionLog } from '#testing';
import { gateway, startOneGateway } from '../integration/start-one-gateway.js';
import { checkEveryLook, SIZES } from './check-page.js';
import { browser, launchOneBrowser } from './launch-one-browser.js';
import { logIn } from './log-in.js';

const SESSION = 'ticket-4711';
const GUIDANCE = 'The report moved to /archive/q3.pdf';
const WAIT_MS = 15_000;

startOneGateway();
launchOneBrowser();

let serial = 0;
const post = async (intent: string) => {
  serial += 1;
  const response = await gateway.ingest(
    buildDecisionLog({
      meta: {
        trace_id: `step-${serial}`,
        session_id: SESSION,
        parent_step_id: serial > 1 ? `step-${serial - 1}` : null,
      },
      identity: { agent_id: 'report-reader' },
      cognition: { intent },
      action: { tool_call: 'read_file', status: 'failure', tool_input: { path: '/reports/q3.pdf' } },
    } as never),
  );
  expect(response.status).toBe(202);
  return response.json();
};

const poll = async (query: string) => {
  const response = await fetch(`${gateway.url}/v1/sessions/${SESSION}/control?${query}`, {
    headers: { authorization: `Bearer ${gateway.agentKey}` },
  });
  return response.json() as Promise<any>;
};

const openAs = async (operatorId: string): Promise<Page> => {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
  const page = await context.newPage();
  await logIn(page, gateway, operatorId);
  return page;
};

test('[FR-9.10+] [FR-9.10-] a looping agent is seen, stopped by a click, guided and let go on', async () => {
  const [ana, ben] = await Promise.all([openAs('ana'), openAs('ben')]);
  // The agent listens for control from the start: its poll must return when the operator clicks.
  const polling = poll('wait_s=55');
  for (let step = 0; step < 5; step += 1) await post('Read the quarterly report');

  const alertRow = (page: Page) => page.locator(`[data-testid=alert-row][data-session-id="${SESSION}"]`);
  await alertRow(ana).waitFor({ timeout: WAIT_MS });
  await alertRow(ben).waitFor({ timeout: WAIT_MS });
  // [FR-9.10-] however many alerts come, one row.
  await post('Read the quarterly report');
  expect(await alertRow(ana).count()).toBe(1);
  await expectToFlash(ana);

  await alertRow(ana).getByTestId('pause-and-inspect').click();
  await ana.waitForURL(`**/sessions/${SESSION}**`, { timeout: WAIT_MS });
  const fired = await ana.getByText('steps were the same').innerText({ timeout: WAIT_MS });
  expect(fired).toMatch(
    /^2 alerts \(latest: .+\)\. 5 of 5 steps were the same:\s+Read the quarterly report$/,
  );
  const polled = await polling;
  expect(polled).toMatchObject({ session_id: SESSION, state: 'paused' });
  expect((await post('Held one')).control.state).toBe('paused');
  await post('Held two');
  await post('Held three');

  await ana
    .getByTestId('control-state')
    .filter({ hasText: /paused/i })
    .first()
    .waitFor({ timeout: WAIT_MS });
  await expect.poll(() => ana.getByTestId('held-message').count(), { timeout: WAIT_MS }).toBe(3);
  // The other operator sees who stopped it, without reloading.
  await alertRow(ben).filter({ hasText: 'ana' }).waitFor({ timeout: WAIT_MS });

  // Without the mouse: every step of the timeline is a stop on the way there.
  await ana.keyboard.press('i');
  await ana.keyboard.type(GUIDANCE);
  await ana.keyboard.press('Control+Enter');
  await expect
    .poll(
      async () => (await poll(`after=${polled.cursor}`)).directives.map((directive: any) => directive.prompt),
      {
        timeout: WAIT_MS,
      },
    )
    .toContain(GUIDANCE);

  await ana.keyboard.press('Shift+Tab');
  await ana.keyboard.press('Shift+Tab');
  await ana.locator('[data-testid=hitl-resume]:focus').waitFor({ timeout: WAIT_MS });
  await ana.keyboard.press('Enter');
  await ana
    .getByTestId('control-state')
    .filter({ hasText: /cooperative|running/i })
    .first()
    .waitFor({ timeout: WAIT_MS });
  await expect.poll(() => ana.getByTestId('held-message').count(), { timeout: WAIT_MS }).toBe(0);
  await ana.locator('[data-testid=hitl-pause]:focus').waitFor({ timeout: WAIT_MS });
  expect((await poll('')).state).toBe('active');
  const answer = await post('Read the archived report');
  expect(answer.control.state).toBe('active');

  const { body: logs } = await gateway.operator('GET', `/v1/sessions/${SESSION}/decision-logs`);
  expect(logs.items.map((item: any) => item.cognition.intent).slice(-4)).toEqual([
    'Held one',
    'Held two',
    'Held three',
    'Read the archived report',
  ]);
  expect(logs.items.some((item: any) => item.gateway.held)).toBe(false);

  await ana.getByTestId('audit-entry').first().waitFor({ timeout: WAIT_MS });
  const { body: audit } = await gateway.operator('GET', `/v1/audit?session_id=${SESSION}`);
  const actions = audit.items.map((entry: any) => [entry.action, entry.operator_id]).reverse();
  for (const action of ['pause', 'inject', 'resume']) expect(actions).toContainEqual([action, 'ana']);
  expect((await gateway.operator('GET', '/v1/audit/verify')).body).toMatchObject({
    ok: true,
    broken_at_seq: null,
  });

  // The second operator's page followed to the end.
  await ben.goto(`${gateway.url}/sessions/${SESSION}`);
  await ben.getByText(GUIDANCE).first().waitFor({ timeout: WAIT_MS });
  mkdirSync('test-output/screenshots', { recursive: true });
  await ben.screenshot({ path: 'test-output/screenshots/journey-inspect-second-operator.png' });
});

test('a click on Resume that comes after somebody else resumed does not pause the agent again', async () => {
  await post('Read the archived report once more');
  expect((await gateway.operator('POST', `/v1/sessions/${SESSION}/pause`, { reason: 'Look' })).status).toBe(
    200,
  );
  const page = await openAs('ben');
  const sent: string[] = [];
  page.on('request', (request) => {
    if (request.method() === 'POST') sent.push(new URL(request.url()).pathname);
  });
  await page.goto(`${gateway.url}/sessions/${SESSION}`);
  await page.getByTestId('hitl-resume').waitFor({ timeout: WAIT_MS });
  // As soon as it stands there: the finger was on its way.
  await page.evaluate(`new MutationObserver((_, observer) => {
    const pause = document.querySelector('[data-testid=hitl-pause]');
    if (pause === null) return;
    observer.disconnect();
    pause.click();
    document.title = 'clicked';
  }).observe(document.body, { subtree: true, childList: true, attributes: true })`);
  expect((await gateway.operator('POST', `/v1/sessions/${SESSION}/resume`)).status).toBe(200);
  await expect.poll(() => page.title(), { timeout: WAIT_MS }).toBe('clicked');
  const pause = page.locator('[data-testid=hitl-pause]:not([aria-disabled])');
  await pause.waitFor({ timeout: WAIT_MS });
  expect(sent).toEqual([]);
  // A moment later it does what it says.
  await pause.click();
  await page.getByTestId('hitl-resume').waitFor({ timeout: WAIT_MS });
  expect((await poll('')).state).toBe('paused');
});

test('on a phone a link to one of the tabs leads to it, below the controls', async () => {
  await post('Read the quarterly report again');
  const page = await openAs('cleo');
  await page.setViewportSize(SIZES.phone);
  const topOf = async (tab: string) => (await page.getByRole('tab', { name: tab }).boundingBox())?.y ?? 0;
  for (const [query, tab] of [
    ['', 'Timeline'],
    ['?tab=calls', 'Calls'],
  ] as const) {
    await page.goto(`${gateway.url}/sessions/${SESSION}${query}`);
    await page.getByRole('tab', { name: tab, selected: true }).waitFor({ timeout: WAIT_MS });
    const isBelow = (await topOf(tab)) > SIZES.phone.height / 2;
    expect([tab, isBelow]).toEqual([tab, query === '']);
  }
  await checkEveryLook(page, 'inspect-tab-named');
});

/** What loops goes on and off; nothing moves without end, which would draw sixty frames a second while it loops. */
async function expectToFlash(page: Page): Promise<void> {
  const opacity = () => page.evaluate('getComputedStyle(document.querySelector(".flashes")).opacity');
  await expect.poll(opacity, { timeout: WAIT_MS, interval: 100 }).toBe('0.35');
  await expect.poll(opacity, { timeout: WAIT_MS, interval: 100 }).toBe('1');
  const endless =
    'document.getAnimations().filter((each) => each.effect.getTiming().iterations === Infinity).length';
  expect(await page.evaluate(endless)).toBe(0);
}
