/** The gateway is killed under an open page and comes back: at each moment the page says what is so. */
import type { Locator } from 'playwright-core';
import { expect, test } from 'vitest';
import { loopIn } from '../integration/loop-in.js';
import { gateway, startAgain, startOneGateway } from '../integration/start-one-gateway.js';
import { checkEveryLook, SIZES } from './check-page.js';
import { browser, launchOneBrowser } from './launch-one-browser.js';
import { openAs } from './log-in.js';

startOneGateway();
launchOneBrowser();

test('a page opened while the gateway is away says so, and has what it asked for once it is back', async () => {
  const page = await openAs(browser, gateway, 'ana', '/settings');
  await page.getByText('Everything is saved.').waitFor();
  await gateway.kill();
  await page.getByText('Not live: as of').waitFor();
  await page.getByRole('link', { name: 'Prices' }).click();
  await page.getByText('The gateway could not be reached.').first().waitFor();

  await startAgain();
  await page.getByTestId('prices-save').waitFor();
  expect(await page.getByText('The gateway could not be reached.').count()).toBe(0);
  await page.getByText('Not live: as of').waitFor({ state: 'detached' });
});

test('a gateway that is away is not said to serve', async () => {
  const page = await openAs(browser, gateway, 'ana');
  await page.goto(`${gateway.url}/system`);
  const heading = page.locator('header').filter({ hasText: 'Updated' });
  await heading.getByText(/^Gateway serves/).waitFor();
  await gateway.kill();
  await page.getByText('These figures are old').waitFor();
  expect(await heading.getByText(/^Gateway serves/).count()).toBe(0);
  await startAgain();
  await heading.getByText(/^Gateway serves/).waitFor();
  await page.context().close();
});

test('a browser that reaches the gateway no more does not say that its parts serve now: their state stands there with its age', async () => {
  const page = await openAs(browser, gateway, 'ana');
  let isOffline = false;
  await page.route('**/v1/system', async (route) => {
    if (isOffline) return route.abort('internetdisconnected');
    const response = await route.fetch();
    const view = await response.json();
    const store_problem = 'Redis does not answer';
    const sidecar = { ...view.sidecar, state: 'serving', store_problem, since_ms: Date.now() };
    await route.fulfill({
      json: { ...view, sidecar, redis: { configured: true, connected: true, away_since_ms: null } },
    });
  });
  await page.goto(`${gateway.url}/system`);
  const state = page.getByTestId('sidecar-state');
  const redis = page.getByTestId('redis-state');
  await expect.poll(() => state.textContent()).toBe('Serving, without its store');
  await expect.poll(() => redis.textContent()).toBe('Connected');
  isOffline = true;
  await expect.poll(() => state.textContent()).toMatch(/^Serving, without its store, \d+ s ago$/);
  expect(await redis.textContent()).toMatch(/^Connected, \d+ s ago$/);
  await checkEveryLook(page, 'system-offline');
  isOffline = false;
  await expect.poll(() => state.textContent()).toBe('Serving, without its store');
  await page.context().close();
});

test('incidents that the gateway never gave are not counted as none', async () => {
  const page = await openAs(browser, gateway, 'ana', '/incidents');
  // The code of the page is there from then on.
  await page.getByText('0 incidents', { exact: true }).waitFor();
  await page.goto(`${gateway.url}/settings`);
  await page.getByText('Everything is saved.').waitFor();
  await gateway.kill();
  await page.getByText('Not live: as of').waitFor();
  await page.getByRole('link', { name: 'Incidents' }).first().click();
  await page.locator('main [aria-busy=true]').first().waitFor();
  expect(await page.getByText('0 incidents', { exact: true }).count()).toBe(0);
  await startAgain();
  await page.getByText('0 incidents', { exact: true }).waitFor();
  await page.context().close();
});

/** What lies under it, or on it. */
const overlaps = (notice: Locator): Promise<string[]> =>
  notice.evaluate((it: any) => {
    const { left, right, top, bottom } = it.getBoundingClientRect();
    const corners = [left + 1, right - 1].flatMap((x) => [top + 1, bottom - 1].map((y) => [x, y]));
    return corners
      .flatMap(([x, y]) => it.ownerDocument.elementsFromPoint(x, y))
      .filter((other) => !other.contains(it) && !it.contains(other))
      .map((other) => other.outerHTML.slice(0, 80));
  });

test('the notice that a page is not live covers nothing of it', async () => {
  const page = await openAs(browser, gateway, 'ana', '/settings');
  await page.getByText('Everything is saved.').waitFor();
  await gateway.kill();
  const notice = page.getByText('Not live: as of');
  await notice.waitFor();
  for (const viewport of Object.values(SIZES)) {
    await page.setViewportSize(viewport);
    await expect.poll(() => overlaps(notice)).toEqual([]);
  }
  await checkEveryLook(page, 'not-live');
  await startAgain();
  await page.context().close();
});

test('a page of which a part was on its way when the gateway went stays, and has it when the gateway is back', async () => {
  const page = await openAs(browser, gateway, 'ana');
  let letGo = () => {};
  const gone = new Promise<void>((settle) => {
    letGo = settle;
  });
  const part = '**/assets/sparkline-*.js';
  await page.route(part, (route) => gone.then(() => route.abort()));
  const asked = page.waitForRequest(part);
  await page.goto(`${gateway.url}/fleet`);
  await asked;
  await gateway.kill();
  letGo();
  await page.getByText('Not live: as of').waitFor();
  await page.unroute(part);
  const given = page.waitForResponse(part);
  await startAgain();
  expect((await given).status()).toBe(200);
  await page.getByText('Not live: as of').waitFor({ state: 'detached' });
  await page.context().close();
});

test('a gateway that stands still is not called live, though its socket is open', async () => {
  const page = await openAs(browser, gateway, 'ana');
  const chip = page.getByTestId('reconnect-chip').filter({ visible: true });
  await chip.getByText('Live', { exact: true }).waitFor();
  gateway.process.kill('SIGSTOP');
  try {
    await chip.getByText('No answer for').waitFor();
    await page.getByText('Not live: as of').waitFor();
  } finally {
    gateway.process.kill('SIGCONT');
  }
  await chip.getByText('Live', { exact: true }).waitFor();
  await page.getByText('Not live: as of').waitFor({ state: 'detached' });
});

test('an answer that something else gives to what the navigation asks for costs a number, and no page', async () => {
  const page = await openAs(browser, gateway, 'ana');
  // As of an older gateway, or of something in front of it.
  const odd = ['**/v1/system', '**/v1/alert-channels'];
  for (const path of odd) await page.route(path, (route) => route.fulfill({ json: { items: [{}] } }));
  const answers = odd.map((path) => page.waitForResponse(path));
  await page.goto(`${gateway.url}/agents`);
  await Promise.all(answers);
  await page.getByText('Listening for the first call').waitFor();
  await page.getByRole('link', { name: 'Incidents' }).first().click();
  await page.getByText('0 incidents', { exact: true }).waitFor();
  await page.context().close();
});

test('an empty page listens only while somebody could be heard', async () => {
  const page = await openAs(browser, gateway, 'ana');
  const listening = page.getByText('Listening for your first DecisionLog');
  await listening.waitFor();
  await gateway.kill();
  await page.getByText('Not connected: nothing can arrive now').waitFor();
  expect(await listening.count()).toBe(0);

  await startAgain();
  await listening.waitFor();
});

test('who signs out while the gateway is away is told that the login is still there, and signs out once it is back', async () => {
  const page = await openAs(browser, gateway, 'ana');
  const signOut = page.getByRole('button', { name: 'Sign out' });
  await gateway.kill();
  await signOut.click();
  await page.getByText('You are still signed in').waitFor();

  await startAgain();
  await signOut.click();
  await page.waitForURL(({ pathname }) => pathname === '/login');
  await page.goto(gateway.url);
  await page.waitForURL(({ pathname }) => pathname === '/login');
});

test('what a browser without a network is asked to do is refused at once, and not done later', async () => {
  await gateway.operator('PATCH', '/v1/agents/roamer/policy', { budget_day_usd: 1 });
  const page = await openAs(browser, gateway, 'ana', '/agents/roamer');
  await page.getByRole('group', { name: 'Budgets', exact: true }).getByLabel('Per day').fill('12');
  await page.context().setOffline(true);
  await page.getByRole('button', { name: 'Save policy' }).click();
  await page.getByText('Not saved: The gateway could not be reached.').waitFor();

  await page.context().setOffline(false);
  await page.getByRole('link', { name: 'Agents', exact: true }).click();
  await page.getByTestId('agent-row').waitFor();
  const { body: policy } = await gateway.operator('GET', '/v1/agents/roamer/policy');
  expect(policy.budget_day_usd).toBe(1);
});

test('a gateway on the own machine is asked although the browser has no network', async () => {
  const page = await openAs(browser, gateway, 'ana', '/settings');
  await page.getByText('Everything is saved.').waitFor();
  await page.evaluate("window.dispatchEvent(new Event('offline'))");
  await page.getByRole('link', { name: 'Prices' }).click();
  await page.getByTestId('prices-save').waitFor();
});

test('a pause that was done is not called "Not paused" because its answer was lost', async () => {
  await loopIn(gateway, 'unanswered');
  const page = await openAs(browser, gateway, 'ana', '/sessions/unanswered');
  await page.route('**/pause', async (route) => {
    await gateway.operator('POST', '/v1/sessions/unanswered/pause', route.request().postDataJSON());
    await page.getByTestId('hitl-resume').waitFor();
    await route.abort();
  });
  const failed = page.waitForEvent('requestfailed');
  await page.getByTestId('hitl-hold').click();
  await failed;
  // The page has heard of it, and is drawn.
  await page.evaluate('new Promise(requestAnimationFrame)');
  await page.evaluate('new Promise(requestAnimationFrame)');
  expect(await page.getByText('Not paused').count()).toBe(0);
  await page.context().close();
});
