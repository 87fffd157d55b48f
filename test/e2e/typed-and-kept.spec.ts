/**
 * What an operator has typed stays until it is saved: while a form saves what was typed before it, while the gateway
 * cannot be read, and while somebody else acts on the same thing. And what was refused is told where they look.
 */
import type { Locator, Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { deferred } from '#kernel';
import { buildDecisionLog } from '#testing';
import { loopIn } from '../integration/loop-in.js';
import { gateway, startOneGateway } from '../integration/start-one-gateway.js';
import { SIZES } from './check-page.js';
import { browser, launchOneBrowser } from './launch-one-browser.js';
import { openAs } from './log-in.js';

const UNREACHABLE = 'The gateway could not be reached.';

let page: Page;

startOneGateway();
launchOneBrowser();
beforeAll(async () => {
  page = await openAs(browser, gateway, 'ana');
});

const button = (name: string) => page.getByRole('button', { name, exact: true });
const field = (label: string, within: Page | Locator = page) => within.getByLabel(label, { exact: true });
const group = (name: string) => page.getByRole('group', { name, exact: true });
const dialog = () => page.getByRole('dialog');
const open = (path: string) => page.goto(gateway.url + path);

const post = async (session_id: string, trace_id: string) =>
  expect((await gateway.ingest(buildDecisionLog({ meta: { session_id, trace_id } }))).status).toBe(202);

/** Once a login had ended when something was asked for. */
async function signInAnewAs(name: string, where: Page) {
  await where.getByText('what you asked for last was not done').waitFor();
  await where.getByTestId('operator-name').fill(name);
  await where.getByLabel('Operator token').fill(gateway.operatorToken);
  await where.getByTestId('login-submit').click();
}

/**
 * The login ends on the way of what is asked for next, and no sooner: a page asks by itself, too, and one that is at the login
 * by then can be asked for nothing.
 */
async function endLoginAtNext(where: Page) {
  let isOver = false;
  await where.route('**/v1/**', async (route) => {
    if (isOver || route.request().method() === 'GET') return route.fallback();
    isOver = true;
    await where.context().clearCookies();
    await route.continue();
  });
}

/** Requests of that method there wait, and then go where they are let. */
async function holdRequests(path: string, method: string) {
  let ask = () => {};
  const asked = new Promise<void>((resolve) => {
    ask = resolve;
  });
  let letGo = (_lets: 'through' | 'fail') => {};
  const decided = new Promise<'through' | 'fail'>((resolve) => {
    letGo = resolve;
  });
  await page.route(path, async (route) => {
    if (route.request().method() !== method) return route.fallback();
    ask();
    return (await decided) === 'through' ? route.continue() : route.abort();
  });
  return { asked, letGo, stop: () => page.unroute(path) };
}

test('what is typed in a policy while it saves is not lost, and not called saved', async () => {
  await gateway.operator('PATCH', '/v1/agents/typist/policy', { budget_day_usd: 1 });
  await open('/agents/typist');
  const saving = await holdRequests('**/v1/agents/typist/policy', 'PATCH');
  await field('Per day', group('Budgets')).fill('12');
  await button('Save policy').click();
  await saving.asked;
  await field('Per month', group('Budgets')).fill('150');
  expect(await button('Discard').isDisabled()).toBe(true);
  // Told anew, with the policy it had.
  await gateway.operator('PATCH', '/v1/agents/typist/kill-switch', { window_size: 42 });
  await page.getByText('Custom', { exact: true }).click();
  await expect.poll(() => field('Window').inputValue()).toBe('42');
  saving.letGo('through');
  await page.getByText('Policy saved').waitFor();
  expect(await field('Per day', group('Budgets')).inputValue()).toBe('12');
  expect(await field('Per month', group('Budgets')).inputValue()).toBe('150');
  await page.getByText('1 unsaved').waitFor();
  await saving.stop();
});

test('what is typed of a kill switch while it saves is not lost', async () => {
  await gateway.operator('PATCH', '/v1/agents/typist/policy', { budget_day_usd: 1 });
  await open('/agents/typist');
  const saving = await holdRequests('**/v1/agents/typist/kill-switch', 'PATCH');
  await page.getByText('Custom', { exact: true }).click();
  await field('Window').fill('30');
  await button('Save kill switch').click();
  await saving.asked;
  await field('Fires above').fill('12');
  saving.letGo('through');
  await page.getByText('Kill switch saved').waitFor();
  expect(await field('Window').inputValue()).toBe('30');
  expect(await field('Fires above').inputValue()).toBe('12');
  await saving.stop();

  // Somebody puts back what was there before.
  await gateway.operator('PATCH', '/v1/agents/typist/kill-switch', { window_size: 42 });
  await expect.poll(() => field('Window').inputValue()).toBe('42');
});

test('prices typed while others are saved, or while theirs cannot be read, stay', async () => {
  await open('/settings?section=prices');
  await field('Find a model').fill('gpt-4o-mini');
  const [input, output] = [field('Input price of gpt-4o-mini'), field('Output price of gpt-4o-mini')];
  const saving = await holdRequests('**/v1/prices', 'PUT');
  await input.fill('1.5');
  await button('Save prices').click();
  await saving.asked;
  await output.fill('6.5');
  saving.letGo('through');
  await page.getByText('Version 1, ana').waitFor();
  expect([await input.inputValue(), await output.inputValue()]).toEqual(['1.5', '6.5']);
  await saving.stop();

  const { body: theirs } = await gateway.operator('GET', '/v1/prices');
  const [first, ...others] = theirs.models;
  const models = [{ ...first, output_usd: first.output_usd + 1 }, ...others];
  await gateway.operator('PUT', '/v1/prices', { version: theirs.version, models });
  await button('Save prices').click();
  await page.getByText('Somebody else has saved prices').waitFor();
  await page.route('**/v1/prices', (route) => route.fulfill({ status: 403, json: {} }));
  await button('Put my edits on top of theirs').click();
  await page.getByText('Theirs could not be read').waitFor();
  expect(await output.inputValue()).toBe('6.5');
  await page.unroute('**/v1/prices');
  await button('Put my edits on top of theirs').click();
  await page.getByText('Version 2, tester').waitFor();
  await button('Save prices').click();
  await page.getByText('Version 3, ana').waitFor();
  expect(await output.inputValue()).toBe('6.5');
});

test('prices that were saved are not shown as undone by a reading that was under way', async () => {
  await open('/settings?section=prices');
  await field('Find a model').fill('gpt-4o-mini');
  const output = field('Output price of gpt-4o-mini');
  await output.waitFor();
  const [read, saved, answered] = [deferred(), deferred(), deferred()];
  await page.route('**/v1/prices', async (route) => {
    if (route.request().method() !== 'GET') return route.fallback();
    const response = await route.fetch();
    read.resolve();
    await saved.promise;
    await route.fulfill({ response });
    answered.resolve();
  });
  // What a browser tells a tab that is looked at again; this one hides none.
  await page.evaluate(`document.dispatchEvent(new Event('visibilitychange', { bubbles: true }))`);
  await read.promise;
  await output.fill('7.5');
  await button('Save prices').click();
  await page.getByText('Prices saved').waitFor();
  saved.resolve();
  await answered.promise;
  // Whichever was read besides.
  await page.unrouteAll({ behavior: 'wait' });
  // Behind whatever the answer does.
  await page.evaluate(`fetch('/v1/prices').then(() => new Promise((shown) => setTimeout(shown)))`);
  expect(await output.inputValue()).toBe('7.5');
});

test('a form in a dialog stays open while it saves, and says why it was refused', async () => {
  await open('/alerts?tab=rules');
  const saving = await holdRequests('**/v1/alert-rules', 'POST');
  await button('New rule').click();
  await field('Name', dialog()).fill('Typed at night');
  await button('Create rule').click();
  await saving.asked;
  await page.keyboard.press('Escape');
  await button('Close').click();
  expect(await button('Cancel').isDisabled()).toBe(true);
  saving.letGo('fail');
  await dialog().getByRole('alert').filter({ hasText: UNREACHABLE }).waitFor();
  expect(await field('Name', dialog()).inputValue()).toBe('Typed at night');
  await saving.stop();
  await button('Create rule').click();
  await dialog().waitFor({ state: 'detached' });
  await page.getByText('Typed at night', { exact: true }).waitFor();
});

test('guidance typed while another goes out stays, and on a phone a failure is told where it is typed', async () => {
  await post('guided', 'guided-1');
  await open('/sessions/guided');
  const sending = await holdRequests('**/v1/sessions/guided/inject', 'POST');
  const text = page.getByTestId('hitl-inject-text');
  await text.fill('Look in the archive.');
  await page.getByTestId('hitl-inject').click();
  await sending.asked;
  await text.pressSequentially(' And then stop.');
  sending.letGo('through');
  await page.locator('[data-testid=hitl-inject]:not([aria-busy=true])').waitFor();
  expect(await text.inputValue()).toBe('Look in the archive. And then stop.');
  await sending.stop();

  await page.setViewportSize(SIZES.phone);
  await page.route('**/v1/sessions/guided/inject', (route) => route.abort());
  await button('Guide').click();
  await dialog().getByTestId('hitl-inject-text').fill('Stop at the next step.');
  await dialog().getByTestId('hitl-inject').click();
  await dialog().getByRole('alert').filter({ hasText: UNREACHABLE }).waitFor();
  expect(await dialog().getByTestId('hitl-inject-text').inputValue()).toBe('Stop at the next step.');
  await page.unroute('**/v1/sessions/guided/inject');
  await page.keyboard.press('Escape');
  await dialog().waitFor({ state: 'detached' });
  await button('Guide').click();
  expect(await dialog().getByTestId('hitl-inject-text').inputValue()).toBe('Stop at the next step.');
  await page.setViewportSize(SIZES.desktop);
});

test('guidance that is typed while somebody else ends the session stays readable, and cannot be sent', async () => {
  await post('ended-by-another', 'ended-1');
  await open('/sessions/ended-by-another');
  const text = page.getByTestId('hitl-inject-text');
  await text.fill('Look in the archive.');
  await page.setViewportSize(SIZES.phone);
  await button('Guide').click();
  await dialog().waitFor();
  await gateway.operator('POST', '/v1/sessions/ended-by-another/terminate', { reason: 'it deletes orders' });
  await page.getByTestId('control-state').getByText('Terminated').first().waitFor();
  for (const size of [SIZES.phone, SIZES.desktop]) {
    await page.setViewportSize(size);
    await page.getByText('nobody reads this any more').first().waitFor();
    expect(await text.inputValue()).toBe('Look in the archive.');
    expect(await page.getByTestId('hitl-inject').getAttribute('aria-disabled')).toBe('true');
  }
  await page.reload();
  await page.getByText('Ended for good').waitFor();
  expect(await text.count()).toBe(0);
});

test('a rewrite stays open while it is sent, and when somebody lets the message go', async () => {
  await post('held', 'held-1');
  await gateway.operator('POST', '/v1/sessions/held/pause', { reason: 'to look' });
  await post('held', 'held-2');
  await open('/sessions/held');
  await button('Rewrite message 1').click();
  const text = page.getByTestId('hitl-rewrite-text');
  await text.fill('{ "path": "/tmp" }');
  const sending = await holdRequests('**/v1/sessions/held/rewrite', 'POST');
  await page.getByTestId('hitl-rewrite-confirm').click();
  await sending.asked;
  await page.keyboard.press('Escape');
  sending.letGo('fail');
  await dialog().getByRole('alert').filter({ hasText: UNREACHABLE }).waitFor();
  await sending.stop();

  await gateway.operator('POST', '/v1/sessions/held/resume', {});
  await page.getByTestId('held-message').waitFor({ state: 'detached' });
  await dialog().getByRole('alert').filter({ hasText: 'It is not held any more' }).waitFor();
  expect(await text.inputValue()).toBe('{ "path": "/tmp" }');
  expect(await page.getByTestId('hitl-rewrite-confirm').getAttribute('aria-disabled')).toBe('true');
  await button('Cancel').click();
  await dialog().waitFor({ state: 'detached' });
});

test('a rewrite that somebody else makes meanwhile is shown before one of an older text replaces it', async () => {
  await post('shared', 'shared-1');
  await gateway.operator('POST', '/v1/sessions/shared/pause', { reason: 'to look' });
  await post('shared', 'shared-2');
  await open('/sessions/shared');
  await button('Rewrite message 1').click();
  await page.getByTestId('hitl-rewrite-text').fill('{ "path": "/mine" }');
  const theirs = { trace_id: 'shared-2', new_content: { path: '/theirs' } };
  expect((await gateway.operator('POST', '/v1/sessions/shared/rewrite', theirs)).status).toBe(200);
  const warning = dialog().getByRole('alert').filter({ hasText: 'tester has rewritten it meanwhile' });
  await warning.waitFor();
  expect(await warning.textContent()).toContain('/theirs');
  expect(await page.getByTestId('hitl-rewrite-text').inputValue()).toBe('{ "path": "/mine" }');
  await page.getByTestId('hitl-rewrite-confirm').click();
  await dialog().waitFor({ state: 'detached' });
  await page.getByTestId('held-message').getByText('rewritten by ana').waitFor();
});

test('what was typed when the login ended is there after the next, and what was asked for is said to be undone', async () => {
  const mine = await openAs(browser, gateway, 'ben');
  const signInAs = (name: string) => signInAnewAs(name, mine);
  const guidance = mine.getByTestId('hitl-inject-text');
  await post('logged-out', 'logged-out-1');
  await gateway.operator('POST', '/v1/sessions/logged-out/pause', { reason: 'to look' });
  await post('logged-out', 'logged-out-2');
  await mine.goto(`${gateway.url}/sessions/logged-out`);
  await guidance.fill('Leave the tables alone.');
  await endLoginAtNext(mine);
  await mine.getByTestId('hitl-inject').click();
  await signInAs('ben');
  await expect.poll(() => guidance.inputValue()).toBe('Leave the tables alone.');

  await mine.getByTestId('hitl-rewrite').click();
  await mine.getByTestId('hitl-rewrite-text').fill('{ "path": "/mine" }');
  await endLoginAtNext(mine);
  await mine.getByTestId('hitl-rewrite-confirm').click();
  await signInAs('cleo');
  await expect.poll(() => guidance.inputValue()).toBe('');
  await endLoginAtNext(mine);
  await mine.getByTestId('hitl-resume').click();
  await signInAs('ben');
  await mine.getByTestId('hitl-rewrite').click();
  expect(await mine.getByTestId('hitl-rewrite-text').inputValue()).toBe('{ "path": "/mine" }');
  await mine.getByTestId('hitl-rewrite-confirm').click();
  await mine.getByText('rewritten by ben').waitFor();
  await mine.getByTestId('hitl-inject').click();
  await expect.poll(() => guidance.inputValue()).toBe('');
});

test('what is refused for want of a login is told, though the page, which asks by itself, too, was at the login before', async () => {
  await post('overtaken', 'overtaken-1');
  // Whether its calls hang is asked every other second.
  await gateway.operator('POST', '/v1/sessions/overtaken/pause', { reason: 'to look' });
  await open('/sessions/overtaken');
  const guidance = page.getByTestId('hitl-inject-text');
  await guidance.fill('Leave the tables alone.');
  const sending = await holdRequests('**/v1/sessions/overtaken/inject', 'POST');
  await page.getByTestId('hitl-inject').click();
  await sending.asked;
  await page.context().clearCookies();
  await page.waitForURL('**/login**');
  sending.letGo('through');
  await signInAnewAs('ana', page);
  await expect.poll(() => guidance.inputValue()).toBe('Leave the tables alone.');
  await sending.stop();
});

test('a form is as it was left after the next login, for who typed in it', async () => {
  await gateway.operator('PATCH', '/v1/agents/expired/policy', { budget_day_usd: 1 });
  const mine = await openAs(browser, gateway, 'dora', '/agents/expired');
  const perDay = field('Per day', mine.getByRole('group', { name: 'Budgets', exact: true }));
  const window = field('Window', mine);
  const press = (name: string) => mine.getByRole('button', { name, exact: true }).click();
  await perDay.fill('7');
  await mine.getByText('Custom', { exact: true }).click();
  await window.fill('33');
  await endLoginAtNext(mine);
  await press('Save policy');
  await signInAnewAs('dora', mine);
  await expect.poll(() => perDay.inputValue()).toBe('7');
  expect(await window.inputValue()).toBe('33');

  await endLoginAtNext(mine);
  await press('Save kill switch');
  await signInAnewAs('cleo', mine);
  await expect.poll(() => perDay.inputValue()).toBe('1');
  expect(await window.inputValue()).not.toBe('33');
  await perDay.fill('2');
  await endLoginAtNext(mine);
  await press('Save policy');
  await signInAnewAs('dora', mine);
  await expect.poll(() => perDay.inputValue()).toBe('7');

  await mine.getByRole('link', { name: 'Settings', exact: true }).click();
  await field('Window size', mine).fill('11');
  await mine.getByRole('link', { name: 'Agents', exact: true }).click();
  await mine.getByRole('link', { name: 'expired', exact: true }).click();
  await press('Save policy');
  await mine.getByText('Policy saved').waitFor();
  await mine.getByRole('link', { name: 'Settings', exact: true }).click();
  expect(await field('Window size', mine).inputValue()).toBe('11');
  await press('Discard');
  expect(await field('Window size', mine).inputValue()).not.toBe('11');
});

test('a form in a dialog is open and as it was left after the next login, but for its secrets, until it is closed', async () => {
  const mine = await openAs(browser, gateway, 'emil', '/alerts?tab=channels');
  const form = mine.getByRole('dialog');
  const press = (name: string) => mine.getByRole('button', { name, exact: true }).click();
  await press('New channel');
  await field('Name', form).fill('on call');
  await field('URL', form).fill('https://hooks.example.org/secret-path');
  await field('Signing secret', form).fill('whsec-typed-at-night');
  await endLoginAtNext(mine);
  await press('Create channel');
  await signInAnewAs('emil', mine);
  expect(await field('Name', form).inputValue()).toBe('on call');
  expect(await field('URL', form).inputValue()).toBe('');
  expect(await field('Signing secret', form).inputValue()).toBe('');

  await press('Cancel');
  await press('New channel');
  expect(await field('Name', form).inputValue()).toBe('');
  await field('Name', form).fill('by day');
  await field('URL', form).fill('https://hooks.example.org/path');
  await press('Create channel');
  await form
    .getByText('shown once')
    .or(mine.getByText('by day', { exact: true }))
    .first()
    .waitFor();
});

test('who goes elsewhere while a pause is on its way is left there, and told of it', async () => {
  await loopIn(gateway, 'left-behind');
  await open('/');
  const pausing = await holdRequests('**/v1/sessions/left-behind/pause', 'POST');
  await button('Pause and Inspect left-behind').click();
  await pausing.asked;
  await page.getByRole('link', { name: 'Agents', exact: true }).click();
  await page.waitForURL('**/agents');
  pausing.letGo('through');
  await page.getByText('left-behind is asked to pause').waitFor();
  expect(new URL(page.url()).pathname).toBe('/agents');
  await pausing.stop();
});

test('whoever comes back to the settings sees what was saved meanwhile, and what they had typed', async () => {
  await open('/settings');
  const size = field('Window size');
  const warning = field('Warning below');
  await size.waitFor();
  await warning.fill('0.6');
  const before = await size.inputValue();
  await gateway.operator('PATCH', '/v1/config', { entropy_window_size: Number(before) + 3 });
  await page.evaluate("window.dispatchEvent(new Event('visibilitychange'))");
  await expect.poll(() => size.inputValue()).toBe(String(Number(before) + 3));
  expect(await warning.inputValue()).toBe('0.6');
});

test('a login that is refused leads to the field to mend, with what was typed', async () => {
  const context = await browser.newContext();
  const login = await context.newPage();
  await login.goto(`${gateway.url}/login`);
  const [token, name] = [login.getByTestId('operator-token'), login.getByTestId('operator-name')];
  const isFocused = (input: Locator) => input.evaluate((it: any) => it.ownerDocument.activeElement === it);
  await token.fill('cut-off-when-copied');
  await login.getByTestId('login-submit').click();
  await expect.poll(() => isFocused(name)).toBe(true);
  await name.fill('ana');
  await login.getByTestId('login-submit').click();
  await login.getByText('This token is not valid.').waitFor();
  await expect.poll(() => isFocused(token)).toBe(true);
  expect(await token.inputValue()).toBe('cut-off-when-copied');
  await context.close();
});
