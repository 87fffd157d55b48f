/** The map of ninety agents without a mouse, and for people whom flashing makes ill. */
import type { Locator, Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { buildDecisionLog } from '#testing';
import { CARD, CELL } from '../../apps/dashboard/src/features/fleet-topology/fleet-layout.js';
import { loopIn } from '../integration/loop-in.js';
import { startGateway } from '../integration/start-gateway.js';
import { gateway, startOneGateway } from '../integration/start-one-gateway.js';
import { checkEveryLook, SIZES } from './check-page.js';
import { CROWD_COUNT, LOOPING_AGENT, LOOPING_SESSION, sendCrowd } from './crowd.js';
import { browser, launchOneBrowser } from './launch-one-browser.js';
import { logIn, openAs } from './log-in.js';

const WAIT_MS = 20_000;
/** On the way from the search to an agent, with the states and a few links between. */
const TABS_MAX = 12;
/** More than are drawn as elements of their own. */
const MANY_COUNT = 1_600;
/** One to ask for it, one to draw it, and some to spare. */
const FRAMES_OF_A_FIT = 10;
/** Of the page, while which somebody watches whether anything flashes. */
const BEATS = 4;
const BEAT_MS = 550;

startOneGateway();
launchOneBrowser();
beforeAll(async () => {
  await sendCrowd(gateway);
});

const overviewOf = (page: Page) => page.getByRole('img', { name: 'Overview of the map' });

async function openFleet(reducedMotion: 'reduce' | 'no-preference'): Promise<Page> {
  const context = await browser.newContext({ viewport: SIZES.desktop, reducedMotion });
  context.setDefaultTimeout(WAIT_MS);
  const page = await context.newPage();
  await logIn(page, gateway, 'ana');
  await page.goto(`${gateway.url}/fleet`);
  await expect.poll(() => page.getByTestId('fleet-node').count()).toBe(CROWD_COUNT);
  // Brought into view, in which there is no overview: a movement before that would keep it from there.
  await overviewOf(page).waitFor({ state: 'detached' });
  return page;
}

/** The agent that has the focus; "" where something else has. */
const focusedAgent = (page: Page) => page.evaluate<string>('document.activeElement.dataset.agentId ?? ""');

async function tabToAgent(page: Page): Promise<void> {
  for (let count = 0; count < TABS_MAX; count += 1) {
    await page.keyboard.press('Tab');
    if ((await focusedAgent(page)) !== '') return;
  }
  throw new Error(`no agent within ${TABS_MAX} presses of Tab`);
}

/** Presses an arrow, which moves the focus, at the latest with the second frame. Says whether it moved. */
async function go(page: Page, arrow: string): Promise<boolean> {
  const before = await focusedAgent(page);
  await page.keyboard.press(arrow);
  await page.evaluate(`new Promise((settle) =>
    requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(settle))))`);
  return (await focusedAgent(page)) !== before;
}

const isFocusInView = (page: Page) =>
  page.evaluate<boolean>(`{
    const agent = document.activeElement.getBoundingClientRect();
    const map = document.querySelector('.fleet-map').getBoundingClientRect();
    agent.left >= map.left && agent.right <= map.right && agent.top >= map.top && agent.bottom <= map.bottom;
  }`);

/** Presses an arrow until it leads no further. */
async function goToRim(page: Page, arrow: string): Promise<Set<string>> {
  const reached = new Set<string>();
  do {
    reached.add(await focusedAgent(page));
    await expect.poll(() => isFocusInView(page)).toBe(true);
  } while (reached.size < CROWD_COUNT && (await go(page, arrow)));
  return reached;
}

test('one agent is in the tab order, arrows go from rim to rim, and Tab leaves the map', async () => {
  const page = await openFleet('reduce');
  await page.getByLabel('Find an agent').focus();
  await tabToAgent(page);
  expect(await page.locator('[data-testid=fleet-node][tabindex="0"]').count()).toBe(1);
  await goToRim(page, 'ArrowUp');
  await goToRim(page, 'ArrowLeft');
  expect((await goToRim(page, 'ArrowRight')).size).toBeGreaterThan(6);
  expect((await goToRim(page, 'ArrowDown')).size).toBeGreaterThan(6);
  await page.keyboard.press('Tab');
  expect(await page.evaluate('document.activeElement.closest(".react-flow__controls") !== null')).toBe(true);
  await page.context().close();
});

test('an arrow moves the focus at once, so that the next one goes on from there on a slow page, too', async () => {
  const page = await openFleet('reduce');
  await page.getByLabel('Find an agent').focus();
  await tabToAgent(page);
  await page.evaluate('window.requestAnimationFrame = () => 0');
  const passed = new Set([await focusedAgent(page)]);
  for (let press = 0; press < 2; press += 1) {
    await page.keyboard.press('ArrowRight');
    passed.add(await focusedAgent(page));
  }
  expect(passed.size).toBe(3);
  await page.context().close();
});

test('close up, the map follows the focus', async () => {
  const page = await openFleet('reduce');
  for (let count = 0; count < 5; count += 1) await page.getByRole('button', { name: 'Zoom In' }).click();
  await page.getByRole('button', { name: /^Go to agents/ }).focus();
  await page.keyboard.press('Enter');
  await expect.poll(() => focusedAgent(page)).not.toBe('');
  for (const arrow of ['ArrowRight', 'ArrowDown'])
    expect((await goToRim(page, arrow)).size).toBeGreaterThan(6);
  await page.context().close();
});

test('at the width of a laptop the states stand in one line, all of them', async () => {
  const page = await openFleet('reduce');
  await gateway.operator('POST', '/v1/sessions/order-3/pause', { reason: 'Let me look' });
  for (const session of [LOOPING_SESSION, 'order-3']) {
    await fetch(`${gateway.url}/v1/sessions/${session}/control`, {
      headers: { authorization: `Bearer ${gateway.agentKey}` },
    });
  }
  await gateway.operator('POST', `/v1/sessions/${LOOPING_SESSION}/pause`, { reason: 'It loops' });
  await expect.poll(() => page.getByTestId('fleet-state').count()).toBe(8);
  const tops = await page
    .getByTestId('fleet-state')
    .evaluateAll((all: any[]) => all.map((chip) => chip.getBoundingClientRect().top));
  expect(new Set(tops).size).toBe(1);
  await checkEveryLook(page, 'fleet-states');
  for (const session of [LOOPING_SESSION, 'order-3'])
    await gateway.operator('POST', `/v1/sessions/${session}/resume`);
  await page.context().close();
});

test('an agent that loops is found, looked at and inspected without a mouse', async () => {
  const page = await openFleet('reduce');
  await page.keyboard.press('/');
  await page.keyboard.type(LOOPING_AGENT);
  await page.getByText(/^1 of \d+ agents, in 1 session$/).waitFor();
  await tabToAgent(page);
  expect(await focusedAgent(page)).toBe(LOOPING_AGENT);
  const selected = page.locator('[data-testid=fleet-node][aria-pressed=true]');
  await page.keyboard.press('Space');
  await expect.poll(() => selected.count()).toBe(1);
  expect(await focusedAgent(page)).toBe(LOOPING_AGENT);
  await page.keyboard.press('Escape');
  await expect.poll(() => selected.count()).toBe(0);
  expect(await focusedAgent(page)).toBe(LOOPING_AGENT);
  await page.keyboard.press('Enter');
  await page.waitForURL(`**/sessions/${LOOPING_SESSION}*`);
  await page.context().close();
});

/** Pairs of names on the map that cover each other. */
const COVERED_PAIRS = `{
  const boxes = [...document.querySelectorAll('.react-flow__node span.bg-danger-solid')].map((name) => name.getBoundingClientRect());
  const pairs = boxes.flatMap((a, at) => boxes.slice(at + 1).filter((b) =>
    a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 1 && b.top < a.bottom - 1));
  ({ named: boxes.length, covered: pairs.length });
}`;

test('where neighbours loop, as many are named as can be read', async () => {
  const other = await startGateway();
  await sendCrowd(other);
  for (let index = 0; index < 12; index += 1) await loopIn(other, `stuck-${index}`);
  const page = await openAs(browser, other, 'ana', '/fleet');
  await page.setViewportSize(SIZES.phone);
  await expect.poll(() => page.getByTestId('fleet-node').count()).toBe(CROWD_COUNT + 12);
  // Before the map is brought into view none is named.
  await expect
    .poll(() => page.evaluate<{ named: number; covered: number }>(COVERED_PAIRS))
    .toSatisfy(({ named, covered }) => named > 1 && covered === 0);
  await checkEveryLook(page, 'fleet-neighbours');
  await page.context().close();
  await other.stop();
});

test('the map that somebody looks at stays as it is when its fleet becomes a crowd', async () => {
  const other = await startGateway();
  const send = async (from: number, to: number) => {
    const steps = Array.from({ length: to - from }, (_, at) =>
      buildDecisionLog({
        meta: {
          trace_id: `t-${from + at}`,
          session_id: `s-${from + at}`,
          timestamp: new Date().toISOString(),
        },
      } as never),
    );
    expect((await other.ingest(steps)).status).toBe(202);
  };
  await send(0, 295);
  const page = await openAs(browser, other, 'ana', '/fleet');
  await page.getByText('1 agent in 295 sessions').waitFor();
  await page.getByRole('button', { name: 'Zoom In' }).click();
  const viewport = page.locator('.react-flow__viewport');
  const shown = await viewport.evaluate((it: any) => it.style.transform);
  await send(295, 310);
  await page.getByText('1 agent in 310 sessions').waitFor();
  expect(await viewport.evaluate((it: any) => it.style.transform)).toBe(shown);
  await page.context().close();
  await other.stop();
});

/**
 * From when the map has its buttons its frames wait, as on a busy machine, so that it is not brought into view yet:
 * `releaseFrames()` lets them go and resolves once they, and what they ask for, are over.
 */
const HOLD_FRAMES = `{
  const frame = window.requestAnimationFrame.bind(window);
  const waiting = [];
  let isHolding = false;
  const hold = (callback) => waiting.push(callback);
  // One that was asked for before may come after.
  window.requestAnimationFrame = (callback) =>
    isHolding ? hold(callback) : frame((atMs) => (isHolding ? hold(callback) : callback(atMs)));
  new MutationObserver((_changes, observer) => {
    if (!document.querySelector('.react-flow__controls')) return;
    isHolding = true;
    observer.disconnect();
  }).observe(document, { childList: true, subtree: true });
  window.releaseFrames = async () => {
    isHolding = false;
    const count = waiting.length;
    for (const callback of waiting.splice(0)) frame(callback);
    for (let left = ${FRAMES_OF_A_FIT}; left > 0; left -= 1) await new Promise((settle) => frame(settle));
    return count;
  };
}`;

/** From near its corner, where no agent lies. */
async function dragIn(surface: Locator): Promise<void> {
  const box = await surface.boundingBox();
  const [x, y] = [Number(box?.x) + Number(box?.width) - 20, Number(box?.y) + 20];
  const { mouse } = surface.page();
  await mouse.move(x, y);
  await mouse.down();
  await mouse.move(x - 60, y + 40, { steps: 3 });
  await mouse.up();
}

test.each<[string, (page: Page) => Promise<void>]>([
  ['the button', (page) => page.getByRole('button', { name: 'Zoom In' }).click()],
  ['the keyboard', (page) => page.getByRole('button', { name: 'Zoom In' }).press('Enter')],
  ['dragging', (page) => dragIn(page.locator('.react-flow__pane'))],
  ['dragging in the overview', (page) => dragIn(overviewOf(page))],
  [
    'the wheel in the overview',
    async (page) => {
      await overviewOf(page).hover();
      await page.mouse.wheel(0, -200);
    },
  ],
])(
  'the view that somebody chose by %s before the map was brought into view stays theirs',
  async (_way, choose) => {
    const context = await browser.newContext({ viewport: SIZES.desktop, reducedMotion: 'reduce' });
    context.setDefaultTimeout(WAIT_MS);
    const page = await context.newPage();
    await logIn(page, gateway, 'ana');
    await page.addInitScript(HOLD_FRAMES);
    // Where frames are held too late the map is in view already, and has no overview.
    const openedUnfitted = async () => {
      await page.goto(`${gateway.url}/fleet`);
      await expect.poll(() => page.getByTestId('fleet-node').count()).toBe(CROWD_COUNT);
      return overviewOf(page).isVisible();
    };
    await expect.poll(openedUnfitted, { timeout: WAIT_MS }).toBe(true);
    const view = () => page.locator('.react-flow__viewport').evaluate((it: any) => it.style.transform);
    const untouched = await view();
    await choose(page);
    const chosen = await view();
    expect(chosen).not.toBe(untouched);
    // Something did wait for a frame.
    expect(await page.evaluate<number>('releaseFrames()')).toBeGreaterThan(0);
    expect(await view()).toBe(chosen);

    await page.getByRole('button', { name: 'Fit View' }).click();
    await expect.poll(view).not.toBe(chosen);
    await context.close();
  },
);

/** How opaque what marks the looping agent was, looked at in every frame of some beats. */
const opacities = (page: Page): Promise<string[]> =>
  page.evaluate<string[]>(`new Promise((settle) => {
    const seen = new Set();
    const mark = document.querySelector('[data-testid=fleet-node][data-state=alert_entropy] .flashes');
    const endMs = performance.now() + ${BEATS * BEAT_MS};
    const look = () => {
      seen.add(getComputedStyle(mark).opacity);
      if (performance.now() < endMs) requestAnimationFrame(look);
      else settle([...seen]);
    };
    look();
  })`);

/** How opaque a mark is during a low beat, and right after it: as before, where a transition leads away from it. */
const AROUND_A_BEAT = `(() => {
  const { dataset } = document.documentElement;
  const mark = document.querySelector('[data-testid=fleet-node] .flashes');
  dataset.flash = 'low';
  const during = getComputedStyle(mark).opacity;
  delete dataset.flash;
  return [during, getComputedStyle(mark).opacity];
})()`;

/** The page knows what is asked for, and the last beat is over: a mark that is not low may be between two of them. */
const STANDS_STILL = `matchMedia('(prefers-reduced-motion: reduce)').matches
  && document.documentElement.dataset.flash === undefined`;

test('what loops flashes, but not for who asked for less motion, and then nothing else moves either', async () => {
  const lively = await openFleet('no-preference');
  expect(await opacities(lively)).toHaveLength(2);
  await lively.emulateMedia({ reducedMotion: 'reduce' });
  await expect.poll(() => lively.evaluate<boolean>(STANDS_STILL)).toBe(true);
  expect(await opacities(lively)).toEqual(['1']);
  await lively.context().close();

  const calm = await openFleet('reduce');
  expect(await opacities(calm)).toEqual(['1']);
  expect(await calm.evaluate<string[]>(AROUND_A_BEAT)).toEqual(['0.35', '1']);
  const running = 'document.getAnimations().filter(({ playState }) => playState === "running").length';
  expect(await calm.evaluate(running)).toBe(0);
  await calm.context().close();
});

test('of thousands of agents one sees at once who loops, and reaches each by pointer and by keyboard', async () => {
  const crowded = await startGateway();
  const step = (session: string, agent_id: string) =>
    buildDecisionLog({
      meta: { trace_id: `${session}-${agent_id}`, session_id: session, timestamp: new Date().toISOString() },
      identity: { agent_id },
    });
  for (let first = 0; first < MANY_COUNT; first += 400)
    await crowded.ingest(
      Array.from({ length: 400 }, (_, at) => step(`task-${first + at}`, `agent-${first + at}`)),
    );
  await loopIn(crowded, 'task-700', 'agent-700');
  const page = await openAs(browser, crowded, 'ana', '/fleet');
  const drawn = page.getByTestId('fleet-node');
  const looping = page.locator('[data-testid=fleet-node][data-agent-id=agent-700]');
  await looping.waitFor();
  await page.getByText('1,600 agents in 1,600 sessions', { exact: true }).waitFor();
  // The others are painted.
  expect(await drawn.count()).toBeLessThan(5);
  await page.getByTestId('fleet-crowd').waitFor();

  const card = await looping.boundingBox();
  const zoom = Number(card?.width) / CARD.width;
  await page.mouse.click(
    Number(card?.x) + (CARD.width / 2 + CELL.width) * zoom,
    Number(card?.y) + (CARD.height / 2) * zoom,
  );
  const details = page.getByLabel(/^Agent agent-/);
  await details.waitFor();
  expect(await details.getAttribute('aria-label')).not.toBe('Agent agent-700');
  await tabToAgent(page);
  expect(await go(page, 'ArrowRight')).toBe(true);
  expect(await isFocusInView(page)).toBe(true);

  // From near, too, only what is in and around the view is there.
  for (let press = 0; press < 8; press += 1) await page.getByRole('button', { name: 'Zoom In' }).click();
  await page.getByTestId('fleet-crowd').waitFor({ state: 'detached' });
  expect(await drawn.count()).toBeLessThan(MANY_COUNT / 2);
  await page.getByRole('button', { name: 'Fit View' }).click();
  await page.getByTestId('fleet-crowd').waitFor();
  await page.context().close();
  await crowded.stop();
});
