/** One browser has one login, however many tabs: what another tab did with it is so in this one, too. */
import type { Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { buildDecisionLog } from '#testing';
import { gateway, startOneGateway } from '../integration/start-one-gateway.js';
import { checkEveryLook, checkPage, SIZES } from './check-page.js';
import { browser, launchOneBrowser } from './launch-one-browser.js';
import { logIn, openAs } from './log-in.js';

let tokenOfBlue: string;

startOneGateway();
launchOneBrowser();
beforeAll(async () => {
  const make = async (path: string, body: object): Promise<string> =>
    (await gateway.operator('POST', path, body)).body.secret;
  const key = await make('/v1/agent-keys', { name: 'blue', tenant_id: 'blue' });
  tokenOfBlue = await make('/v1/operators', { name: 'blue', role: 'viewer', tenant_ids: ['blue'] });
  await gateway.ingest(stepIn('of-default'));
  await gateway.ingest(stepIn('of-blue'), { authorization: `Bearer ${key}` });
});

const stepIn = (session_id: string) =>
  buildDecisionLog({ meta: { trace_id: session_id, session_id, timestamp: new Date().toISOString() } });

const row = (page: Page, sessionId: string) => page.getByTestId('session-row').filter({ hasText: sessionId });

test('who signs in as somebody else in one tab is somebody else in all of them', async () => {
  const first = await openAs(browser, gateway, 'ana', '/?q=of-default');
  await row(first, 'of-default').waitFor();
  const second = await first.context().newPage();
  await logIn(second, { ...gateway, operatorToken: tokenOfBlue }, 'bob');
  await row(second, 'of-blue').waitFor();

  await row(first, 'of-blue').waitFor();
  await first.getByText('viewer · blue').waitFor();
  expect(await row(first, 'of-default').count()).toBe(0);
  expect(first.url()).toBe(`${gateway.url}/`);
});

test('who is signed in is asked for no login, and goes on to where they wanted', async () => {
  const page = await openAs(browser, gateway, 'ana');
  await page.goto(`${gateway.url}/login`);
  await row(page, 'of-default').waitFor();
  await page.goto(`${gateway.url}/login?next=${encodeURIComponent('/?q=of-default')}`);
  await row(page, 'of-default').waitFor();
  expect(page.url()).toBe(`${gateway.url}/?q=of-default`);
  // A link with a token asks to be signed in with that.
  await page.goto(`${gateway.url}/login#token=${tokenOfBlue}`);
  await page.getByText('Taken from your link.').waitFor();
  await page.getByTestId('login-submit').click();
  await page.getByText('viewer · blue').waitFor();
});

test('who signs out in one tab is signed out in all of them', async () => {
  const first = await openAs(browser, gateway, 'ana');
  await row(first, 'of-default').waitFor();
  const second = await first.context().newPage();
  await second.goto(gateway.url);
  await second.getByRole('button', { name: 'Sign out' }).click();
  await first.waitForURL(({ pathname }) => pathname === '/login');
});

test('who signs in again in one tab goes on in all of them, each where it was', async () => {
  const first = await openAs(browser, gateway, 'ana', '/?q=of-default');
  const second = await first.context().newPage();
  await second.goto(`${gateway.url}/fleet`);
  await second.getByRole('button', { name: 'Sign out' }).click();
  await first.waitForURL(({ pathname }) => pathname === '/login');
  await logIn(second, gateway, 'ana');
  await row(first, 'of-default').waitFor();
  expect(first.url()).toBe(`${gateway.url}/?q=of-default`);
});

test('an administrator of several tenants goes from one to the other, in every tab', async () => {
  const first = await openAs(browser, gateway, 'ana', '/?q=of-default');
  await row(first, 'of-default').waitFor();
  const second = await first.context().newPage();
  await second.goto(`${gateway.url}/fleet`);
  const choice = second.getByRole('combobox', { name: 'Tenant', exact: true });
  await choice.click();
  await second.getByRole('option', { name: 'blue', exact: true }).click();
  for (const page of [first, second]) {
    await row(page, 'of-blue').waitFor();
    await page.getByRole('combobox', { name: 'Tenant' }).getByText('blue').waitFor();
    expect(await row(page, 'of-default').count()).toBe(0);
  }
  await checkEveryLook(second, 'tenant-choice');
  // Without the mouse.
  await second.keyboard.press('Control+k');
  await second.keyboard.type('go to tenant');
  await second.getByRole('option', { name: 'Go to tenant default' }).waitFor();
  expect(await second.getByRole('option', { name: 'Go to tenant blue' }).count()).toBe(0);
  await second.keyboard.press('Enter');
  await row(second, 'of-default').waitFor();
  await row(first, 'of-default').waitFor();
});

test('on a phone it is behind More, and who has one tenant only is not asked to choose', async () => {
  const page = await openAs(browser, gateway, 'ana');
  await page.setViewportSize(SIZES.phone);
  await page.getByRole('button', { name: 'More' }).click();
  await page.getByRole('dialog').getByRole('combobox', { name: 'Tenant' }).waitFor();
  await checkPage(page, 'tenant-choice-more');

  const other = await (await browser.newContext()).newPage();
  await logIn(other, { ...gateway, operatorToken: tokenOfBlue }, 'bob');
  await other.getByText('viewer · blue').waitFor();
  expect(await other.getByRole('combobox', { name: 'Tenant' }).count()).toBe(0);
});
