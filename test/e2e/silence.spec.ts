/**
 * Nothing happens for a while under an open page: nobody reloads it, and the next loop is there all the same. A connection
 * that is silent is kept by its heartbeats, each as good as any other; the ten minutes in which a computer slept are those
 * of the browser's clock, which moves on at once.
 */
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { loopIn } from '../integration/loop-in.js';
import { gateway, startOneGateway } from '../integration/start-one-gateway.js';
import { browser, launchOneBrowser } from './launch-one-browser.js';
import { openAs } from './log-in.js';

/** A ping of Engine.IO, which only the gateway sends. */
const HEARTBEAT = '2';
/** The sixth comes 30 s after the last message: later than a connection of which one was missed may live, which is 25 s. */
const HEARTBEATS = 6;

startOneGateway();
launchOneBrowser();

const alertOf = (page: Page, session_id: string) =>
  page.locator(`[data-testid=alert-row][data-session-id="${session_id}"]`);

/** Every state that the connection has been in since the page was there, in order. */
const WATCH_CONNECTION = `
  const chip = document.querySelector('[data-testid=reconnect-chip]');
  window.connectionStates = [chip.dataset.state];
  new MutationObserver(() => window.connectionStates.push(chip.dataset.state)).observe(chip, { attributeFilter: ['data-state'] });
`;
const connectionStates = (page: Page) => page.evaluate<string[]>('window.connectionStates');

test('a page on which nothing moves stays on its one connection, and shows the loop that comes after', async () => {
  await loopIn(gateway, 'before');
  const page = await openAs(browser, gateway, 'ana');
  const heard = new Promise<void>((settle) => {
    let beats = 0;
    page.on('websocket', (socket) =>
      socket.on('framereceived', ({ payload }) => {
        beats += payload === HEARTBEAT ? 1 : 0;
        if (beats === HEARTBEATS) settle();
      }),
    );
  });
  await page.reload();
  await alertOf(page, 'before').waitFor();
  await page.evaluate(WATCH_CONNECTION);
  await heard;
  await loopIn(gateway, 'after-silence');
  await alertOf(page, 'after-silence').waitFor();
  expect(await connectionStates(page)).toEqual(['connected']);
});

test('a page whose computer slept for ten minutes is live again by itself, and shows the loop that came meanwhile', async () => {
  // Not one of the minute that the test above waits: its age is told.
  await loopIn(gateway, 'before-sleep');
  const page = await openAs(browser, gateway, 'ben');
  await page.clock.install();
  await page.reload();
  await alertOf(page, 'before-sleep').waitFor();
  // The gateway has not slept, and would tell the time.
  await page.route(/\/v1\/(alert-channels|system)$/, (route) => route.abort());
  await page.evaluate(WATCH_CONNECTION);
  await page.context().setOffline(true);
  await loopIn(gateway, 'while-asleep');
  await page.clock.fastForward('10:00');
  await page.context().setOffline(false);

  await alertOf(page, 'while-asleep').waitFor();
  await loopIn(gateway, 'after-waking');
  await alertOf(page, 'after-waking').waitFor();
  await alertOf(page, 'before-sleep').getByText('began 10 min').waitFor();
  expect((await connectionStates(page)).at(-1)).toBe('connected');
  expect(await page.getByText('Not live').count()).toBe(0);
});
