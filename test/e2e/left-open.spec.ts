/** A dashboard that is left open for days, on a wall or behind other windows: what comes meanwhile reaches it, and it still works. */
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { buildDecisionLog } from '#testing';
import { loopIn } from '../integration/loop-in.js';
import { gateway, startOneGateway } from '../integration/start-one-gateway.js';
import { checkEveryLook, SIZES } from './check-page.js';
import { browser, launchOneBrowser } from './launch-one-browser.js';
import { openAs } from './log-in.js';

startOneGateway();
launchOneBrowser();

/** As a browser does it whose tab is hidden: frames that were asked for before come when the tab is shown again, and no sooner. */
const HIDEABLE = `
  const nextFrame = window.requestAnimationFrame.bind(window);
  let frames = null;
  window.requestAnimationFrame = (draw) => (frames ? frames.push(draw) : nextFrame(draw));
  window.stopFrames = () => { frames = []; };
  window.isFrameAsked = () => frames.length > 0;
  window.hide = () => {
    Object.defineProperty(document, 'visibilityState', { configurable: true, get: () => 'hidden' });
    document.dispatchEvent(new Event('visibilitychange'));
  };
`;

test('a tab that was hidden just before it was to paint goes on counting in its title', async () => {
  await loopIn(gateway, 'before');
  const page = await openAs(browser, gateway, 'ana');
  await page.addInitScript(HIDEABLE);
  await page.reload();
  await expect.poll(() => page.title()).toMatch(/^\(1\)/);
  await page.evaluate('window.stopFrames()');
  await loopIn(gateway, 'as-it-hides');
  await expect.poll(() => page.evaluate('window.isFrameAsked()')).toBe(true);
  await page.evaluate('window.hide()');
  await loopIn(gateway, 'while-hidden');
  await expect.poll(() => page.title()).toMatch(/^\(3\)/);
  await page.context().close();
});

/** Fetched on top of the pages' own: chart and map, and what draws them. */
const PARTS = ['sparkline', 'chart', 'spend-chart', 'fleet-map', 'graph'];

const fetched = (page: Page): Promise<string[]> =>
  page.evaluate("performance.getEntriesByType('resource').map(({ name }) => name)");

test('a page that was open while another version took the gateway’s place shows each page whole', async () => {
  const page = await openAs(browser, gateway, 'ben');
  await expect
    .poll(
      async () => {
        const names = await fetched(page);
        return PARTS.filter(
          (part) => !names.some((name) => name.includes(`/${part}-`) && name.endsWith('.js')),
        );
      },
      { timeout: 15_000 },
    )
    .toEqual([]);
  // The other version's scripts have other names.
  await page.route('**/assets/**', (route) => route.fulfill({ status: 404 }));
  await page.getByRole('link', { name: 'Fleet', exact: true }).click();
  await page.locator('.react-flow').waitFor();
  await page.locator('.uplot').first().waitFor();
  await page.getByRole('link', { name: 'Spend', exact: true }).click();
  await page.locator('.uplot').first().waitFor();
  await page.context().close();
});

const heightOf = async (page: Page): Promise<number> =>
  (await page.getByTestId('alert-row').first().locator('xpath=ancestor::section[1]').boundingBox())?.height ??
  0;

test('what a pointer on the list holds back comes once it merely rests there: the order, and the height of the alerts', async () => {
  await loopIn(gateway, 'first-loop');
  const page = await openAs(browser, gateway, 'cem');
  await page.clock.install();
  await page.reload();
  const order = () => page.getByTestId('session-row').first().getAttribute('data-session-id');
  const row = page.getByTestId('session-row').first();
  await row.waitFor();
  const heightBefore = await heightOf(page);
  await row.hover();
  for (const name of ['second', 'third', 'fourth', 'fifth']) await loopIn(gateway, `${name}-loop`);
  // What the pointer holds back waits here.
  const waiting = page.getByRole('button', { name: /\d new$/ });
  await waiting.waitFor();
  // On its way there the pointer does not let the list go.
  await waiting.hover();
  const firstBefore = await order();
  await loopIn(gateway, 'sixth-loop');
  await page.getByTestId('alert-row').filter({ hasText: 'sixth-loop' }).waitFor();
  expect(await waiting.isVisible()).toBe(true);
  expect(await order()).toBe(firstBefore);
  await page.clock.fastForward('00:31');
  await waiting.waitFor({ state: 'hidden' });
  await expect.poll(order).toBe('sixth-loop');
  await expect.poll(() => heightOf(page)).toBeGreaterThan(heightBefore);
  await page.context().close();
});

test('what failed says when it did, once that is no longer now', async () => {
  await loopIn(gateway, 'not-paused');
  const page = await openAs(browser, gateway, 'dea');
  await page.clock.install();
  const refused = { status: 503, json: { title: 'Storage full', detail: 'There is no room on the disk.' } };
  await page.route('**/v1/sessions/not-paused/pause', (route) => route.fulfill(refused));
  const failure = page.getByRole('alert').filter({ hasText: 'Not paused' });

  await page.reload();
  await page.getByRole('button', { name: 'Pause and Inspect not-paused' }).click();
  await failure.waitFor();
  await page.clock.fastForward('03:00');
  await failure.getByText('· 3 min ago').waitFor();

  await page.goto(`${gateway.url}/sessions/not-paused`);
  await page.getByTestId('hitl-hold').click();
  await failure.waitFor();
  expect(await failure.getByText('min ago').count()).toBe(0);
  await page.clock.fastForward('03:00');
  await failure.getByText('· 3 min ago').waitFor();
  await page.context().close();
});

/** As the gateway tells it after weeks. @returns what tells it */
async function deletionOf(page: Page, sessionId: string): Promise<() => void> {
  const topic = `session:${sessionId}`;
  let send: ((message: string) => void) | undefined;
  let seq = 0;
  await page.routeWebSocket(/\/socket\.io\//, (browserSide) => {
    send = (message) => browserSide.send(message);
    browserSide.connectToServer().onMessage((message) => {
      browserSide.send(message);
      const [, ack] = /^43\/live,\d+\[(.*)\]$/s.exec(String(message)) ?? [];
      const [, frame] = /^42\/live,\["frame",(.*)\]$/s.exec(String(message)) ?? [];
      const told = JSON.parse(ack ?? frame ?? '{}');
      if (told?.topic === topic) seq = told.to_seq ?? told.seq;
    });
  });
  return () => {
    const frame = {
      topic,
      from_seq: seq + 1,
      to_seq: seq + 1,
      events: [{ seq: seq + 1, payload: { kind: 'deleted' } }],
    };
    send?.(`42/live,${JSON.stringify(['frame', frame])}`);
  };
}

test.each([
  ['that ran', 'ran-once'],
  ['that somebody holds', 'held-once'],
])(
  'of a session %s nothing is offered once it is deleted, and what was read of it stays',
  async (_, sessionId) => {
    await loopIn(gateway, sessionId);
    if (sessionId === 'held-once')
      await gateway.operator('POST', `/v1/sessions/${sessionId}/pause`, { reason: 'looks odd' });
    const page = await openAs(browser, gateway, 'fay');
    const tellDeletion = await deletionOf(page, sessionId);
    await page.goto(`${gateway.url}/sessions/${sessionId}`);
    const commands = page.getByRole('button', {
      name: /^(Pause|Resume|Terminate|Inject|Hold|Guide|Rewrite)/,
    });
    await commands.first().waitFor();
    tellDeletion();
    await page.getByText('The gateway no longer has this session').waitFor();
    expect(await commands.count()).toBe(0);
    await page.getByTestId('step-row').first().waitFor();
    await page.keyboard.press('p');
    expect(new URL(page.url()).pathname).toBe(`/sessions/${sessionId}`);
    await checkEveryLook(page, `deleted-${sessionId}`);
    await page.setViewportSize(SIZES.phone);
    expect(await commands.count()).toBe(0);
    await page.context().close();
  },
);

test('the steps of a session are held while the pointer is on them or on what waits above, and come once it merely rests there', async () => {
  await loopIn(gateway, 'steps');
  const page = await openAs(browser, gateway, 'eli');
  await page.clock.install();
  await page.goto(`${gateway.url}/sessions/steps`);
  const steps = page.getByRole('region', { name: 'Steps, newest first' });
  await steps.getByText('failure').or(steps.getByText('success')).first().waitFor();
  await steps.hover();
  const post = (trace_id: string) =>
    gateway.ingest(
      buildDecisionLog({
        meta: { trace_id, session_id: 'steps', timestamp: new Date().toISOString() },
        identity: { agent_id: 'agent-1' },
        cognition: { intent: trace_id },
      } as never),
    );
  await post('first that waits');
  const waiting = page.getByRole('button', { name: /\d new$/ });
  await waiting.hover();
  await post('second that waits');
  await page.getByRole('button', { name: '2 new' }).waitFor();
  expect(await steps.getByText('that waits').count()).toBe(0);
  await page.clock.fastForward('00:31');
  await steps.getByText('second that waits').first().waitFor();
  // Whoever walks through them by keyboard reads on.
  await page.keyboard.press('j');
  await steps.locator(':focus-visible').waitFor();
  await steps.hover({ position: { x: 5, y: 5 } });
  await page.clock.fastForward('00:31');
  await post('third that waits');
  await page.getByRole('button', { name: '1 new' }).waitFor();
  expect(await steps.getByText('third that waits').count()).toBe(0);
  await page.context().close();
});
