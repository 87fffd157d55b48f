/**
 * Alerts, set up by hand: a channel whose first test is refused and whose second arrives signed, a rule that tells it,
 * a receiver that fails, the dead letter, and its second chance.
 */
import type { Locator, Page, Request } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { verifySignature } from '#testing';
import { type Receiver, startReceiver, status } from '../integration/http-receiver.js';
import { loopIn } from '../integration/loop-in.js';
import { gateway, startOneGateway } from '../integration/start-one-gateway.js';
import { checkEveryLook, focusOf, problemAt, SIZES } from './check-page.js';
import { browser, launchOneBrowser } from './launch-one-browser.js';
import { openAs } from './log-in.js';

let receiver: Receiver;
let page: Page;

startOneGateway();
launchOneBrowser();
beforeAll(async () => {
  receiver = await startReceiver();
  page = await openAs(browser, gateway, 'ana');
});
afterAll(() => receiver?.close());

const button = (name: string) => page.getByRole('button', { name, exact: true });
const field = (label: string) => page.getByRole('dialog').getByLabel(label, { exact: true });
const row = (text: string | RegExp) => page.getByRole('article').filter({ hasText: text });
const openTab = (name: string | RegExp) => page.getByRole('tab', { name, exact: true }).click();
const openAlerts = () => page.goto(`${gateway.url}/alerts`);

/** Picks in a choice that is open to be read beforehand. */
async function choose(label: string, option: string): Promise<void> {
  await page.getByRole('combobox', { name: label, exact: true }).click();
  await page.getByRole('option', { name: option, exact: true }).click();
}

/** Five equal steps of a session of its own. */
const loop = (name: string): Promise<void> => loopIn(gateway, name, name);

test('a rule can be begun before there is a channel: what is typed stays, and the new channel joins it', async () => {
  await openAlerts();
  await button('New rule').click();
  await field('Name').fill('Half typed');
  await checkEveryLook(page, 'rule-before-channels');
  const opened = page.waitForEvent('popup');
  await page.getByRole('dialog').getByRole('link', { name: 'Create one under Channels' }).click();
  const channels = await opened;
  await channels.getByRole('button', { name: 'New channel' }).click();
  await channels.getByLabel('Name', { exact: true }).fill('For later');
  await channels.getByLabel('URL', { exact: true }).fill('https://hooks.example.org/later');
  await channels.getByRole('button', { name: 'Create channel' }).click();
  await channels.getByRole('button', { name: 'I have copied it' }).click();
  await channels.close();

  // What a browser tells a tab that is looked at again; this one hides none.
  await page.evaluate(`document.dispatchEvent(new Event('visibilitychange', { bubbles: true }))`);
  await page.getByRole('checkbox', { name: /For later/ }).waitFor({ timeout: 5_000 });
  expect(await field('Name').inputValue()).toBe('Half typed');
  await button('Cancel').click();
  const { body } = await gateway.operator('GET', '/v1/alert-channels');
  await gateway.operator('DELETE', `/v1/alert-channels/${body.items[0].channel_id}`);
});

test('a dialog is entered at the first thing it asks for, so that what is typed arrives', async () => {
  const entered = (control: Locator) => control.and(page.locator(':focus')).waitFor();
  await openAlerts();
  await button('New rule').click();
  await entered(page.getByRole('combobox', { name: 'When', exact: true }));
  await page.keyboard.press('Escape');
  await openTab('Channels');
  await button('New channel').click();
  await entered(page.getByRole('radio', { name: 'Webhook', exact: true }));
  await page.keyboard.press('Escape');
});

test('a rule about spending asks how much, within what, and is changed the same way', async () => {
  await openAlerts();
  await button('New rule').click();
  await choose('When', 'Agent spends too much');
  await field('Amount spent').fill('none');
  await button('Create rule').click();
  await expect.poll(() => problemAt(field('Amount spent'))).toBe('Enter a number.');
  await field('Amount spent').fill('2.50');
  await choose('Within', 'a day (UTC)');
  await checkEveryLook(page, 'rule-spend');
  await button('Create rule').click();
  await row('Agent spends too much').getByText('$2.50 are spent in a day (UTC) · any agent').waitFor();
  await button('Edit Agent spends too much').click();
  expect(await field('Amount spent').inputValue()).toBe('2.5');
  await field('Amount spent').fill('40');
  await button('Save rule').click();
  await row('Agent spends too much').getByText('$40.00 are spent in a day (UTC)').waitFor();
});

test('a channel is created, refused a private address, allowed it, and signs what it sends', async () => {
  await openAlerts();
  await openTab('Channels');
  await button('New channel').click();
  await button('Create channel').click();
  expect(await problemAt(field('Name'))).toBe('Give the channel a name.');
  expect(await problemAt(field('URL'))).toBe('Where should it be posted?');
  await checkEveryLook(page, 'channel-refused');
  await field('Name').fill('On call');
  await field('URL').fill(`${receiver.url}/hooks/observatory`);
  await button('Create channel').click();
  await expect
    .poll(() => problemAt(field('URL')))
    .toMatch(/127\.0\.0\.1 is private.*switch on “Allow private addresses” below/);
  const { port } = new URL(receiver.url);
  await field('URL').fill(`http://localhost:${port}/hooks/observatory`);
  await button('Create channel').click();
  const secret = await page.getByTestId('channel-secret').innerText();
  await button('I have copied it').click();

  const channel = row('On call');
  await button('Send test to On call').click();
  await channel.getByText('Not delivered: refused: its address is private').waitFor();
  expect(receiver.received).toEqual([]);

  await button('Edit On call').click();
  expect(await field('Name').inputValue()).toBe('On call');
  await page.getByRole('switch', { name: 'Allow private addresses' }).click();
  await checkEveryLook(page, 'channel-edit');
  await button('Save channel').click();
  await channel.getByText('Private addresses allowed').waitFor();
  await button('Send test to On call').click();
  await channel.getByText('The test arrived').waitFor();

  const [arrived] = await receiver.arrived(1);
  expect(arrived?.path).toBe('/hooks/observatory');
  const header = String(arrived?.headers['x-observatory-signature']);
  const body = arrived?.body ?? '';
  expect(verifySignature({ secret, header, body, nowMs: Date.now() })).toBe(true);
  expect(JSON.parse(body)).toMatchObject({ phase: 'test', tenant_id: 'default' });
});

test('a rule is created, muted, edited and tells its channel', async () => {
  await openAlerts();
  await button('New rule').click();
  await choose('When', 'Calls are failing');
  await field('Share failed').fill('150');
  await field('Over').fill('soon');
  await button('Create rule').click();
  expect(await problemAt(field('Share failed'))).toBe('From 0 to 100.');
  expect(await problemAt(field('Over'))).toBe('Enter a number.');
  await checkEveryLook(page, 'rule-refused');
  await choose('When', 'Session is looping');
  await field('Name').fill('Round in circles');
  await field('Cooldown').fill('0');
  expect(await page.getByRole('checkbox', { name: /On call/ }).isChecked()).toBe(true);
  await button('Create rule').click();
  const rule = row('Round in circles');
  await rule.getByText('To On call').waitFor();

  await button('Mute Round in circles').click();
  await page.getByRole('menuitem', { name: 'For 1 hour' }).click();
  await rule.getByText('Muted until').waitFor();
  await checkEveryLook(page, 'rule-muted');
  await button('Muted Round in circles: change it').click();
  await page.getByRole('menuitem', { name: 'Unmute now' }).click();
  await button('Mute Round in circles').waitFor();

  await button('Edit Round in circles').click();
  await field('Name').fill('Going in circles');
  await button('Save rule').click();
  await row('Going in circles').waitFor();
  await page.reload();
  await row('Going in circles').getByText('no cooldown').waitFor();

  const before = receiver.received.length;
  await loop('researcher');
  const notices = await receiver.arrived(before + 1);
  expect(JSON.parse(notices.at(-1)?.body ?? '')).toMatchObject({ phase: 'firing', agent_id: 'researcher' });
  await row('Going in circles')
    .getByText(/^Firing for researcher, (now|\d+ (s|min))$/)
    .waitFor();

  // Of several each by its name, in sight: a phone has no tooltip.
  await loop('reviewer');
  await receiver.arrived(before + 2);
  await row('Going in circles')
    .getByText(/^Firing for 2 agents, (now|\d+ (s|min))$/)
    .waitFor();
  for (const agent of ['researcher', 'reviewer'])
    await row('Going in circles').getByRole('link', { name: agent, exact: true }).waitFor();
  await button('Acknowledge Going in circles for researcher').click();
  await row('Going in circles')
    .getByText(/^You have it in hand, (now|\d+ (s|min))$/)
    .waitFor();
  expect((await gateway.operator('GET', '/v1/alert-rules')).body.items).toContainEqual(
    expect.objectContaining({
      name: 'Going in circles',
      firing: [
        expect.objectContaining({
          agent_id: 'researcher',
          acknowledged: expect.objectContaining({ by: 'ana' }),
        }),
        expect.objectContaining({ agent_id: 'reviewer', acknowledged: null }),
      ],
    }),
  );
  await checkEveryLook(page, 'rule-fires-for-two');
  // A notice leads to the session: whoever follows it sees who has it already.
  await page.goto(`${gateway.url}/sessions/researcher`);
  const alerts = page.getByRole('list', { name: 'Alerts about researcher' });
  await alerts.getByText(/^You have it in hand, (now|\d+ (s|min))$/).waitFor();
  await checkEveryLook(page, 'session-with-alert-in-hand');
  await button('Hand back Going in circles for researcher').click();
  await button('Acknowledge Going in circles for researcher').waitFor();
  await alerts.getByRole('link', { name: 'Going in circles', exact: true }).click();
  await row('Going in circles').waitFor();

  // It reports steps, and calls no model through the proxy: it has no page of its own, but sessions.
  await row('Going in circles').getByRole('link', { name: 'reviewer', exact: true }).click();
  await page.getByRole('link', { name: 'See its sessions' }).click();
  await page.getByTestId('session-row').filter({ hasText: 'reviewer' }).waitFor();
  expect(await page.getByTestId('session-row').count()).toBe(1);
});

test('a channel that fails leaves a dead letter, which Retry delivers', async () => {
  receiver.answer = status(404);
  await openAlerts();
  await loop('planner');
  await openTab('Dead letters 1 not delivered');
  const letter = row('planner');
  await letter.getByText('it answers 404').waitFor();
  await checkEveryLook(page, 'dead-letter');

  const { body: channels } = await gateway.operator('GET', '/v1/alert-channels');
  const channelPath = `/v1/alert-channels/${channels.items[0].channel_id}`;
  const longName = 'On call of the platform team, at night and on weekends only, and its deputies';
  await gateway.operator('PATCH', channelPath, { name: longName });
  await page.setViewportSize(SIZES.phone);
  await page.reload();
  await letter.getByText(longName).waitFor();
  const retry = await letter.getByRole('button', { name: /Retry/ }).boundingBox();
  expect(retry && retry.x + retry.width).toBeLessThanOrEqual(SIZES.phone.width);
  await gateway.operator('PATCH', channelPath, { name: 'On call' });
  await page.setViewportSize(SIZES.desktop);
  await page.reload();

  receiver.answer = status(204);
  await letter.getByRole('button', { name: /Retry/ }).click();
  await page.getByText('No dead letters').waitFor();
  await openTab('History');
  await row('planner').getByText('Delivered').waitFor();

  await choose('State', 'Dead');
  await page.getByText('No notice matches').waitFor();
  await button('Clear filters').click();
  await row('planner').waitFor();
});

test('the rules are read again once a second, however many notices come in it', async () => {
  receiver.answer = status(204);
  await openAlerts();
  await row('Going in circles').waitFor();
  let readCount = 0;
  const note = (request: Request) => {
    if (new URL(request.url()).pathname === '/v1/alert-rules') readCount += 1;
  };
  const startMs = Date.now();
  page.on('request', note);
  for (let at = 0; at < 60; at += 1) await loop(`burst-${at}`);
  await row('Going in circles')
    .getByText(/6\d agents/)
    .waitFor();
  page.off('request', note);
  const seconds = Math.ceil((Date.now() - startMs) / 1_000);
  // The first, the last, and those that come by time alone.
  expect(readCount).toBeLessThanOrEqual(seconds + 2 + Math.ceil(seconds / 15));
});

test('of more dead letters than are read at once the count says that there are more', async () => {
  receiver.answer = status(404);
  await Promise.all(Array.from({ length: 51 }, (_, at) => loop(`crew-${at}`)));
  await expect
    .poll(async () => {
      const { body } = await gateway.operator('GET', '/v1/alert-deliveries?state=dead&limit=200');
      return body.items.length;
    })
    .toBeGreaterThan(50);
  await openAlerts();
  await page.getByRole('tab', { name: 'Dead letters 50+ not delivered' }).waitFor();
});

/** More come as time goes on: the rule says again what goes on firing. */
const DEAD_LETTERS = /^Dead letters \d+\+ not delivered$/;

test('dead letters are sent again all together, also those that are not listed', async () => {
  await openAlerts();
  await openTab(DEAD_LETTERS);
  const before = receiver.received.length;
  await button('Retry all').click();
  await page.getByText('Send every dead letter again?').waitFor();
  await button('Retry all').last().click();
  await page.getByText(/^\d+ dead letters put back$/).waitFor();
  await expect.poll(() => receiver.received.length).toBeGreaterThan(before + 50);
  // The receiver refuses them still: none is on its way any more.
  const isPending = async () =>
    (await gateway.operator('GET', '/v1/alert-deliveries?state=pending')).body.items.length > 0;
  await expect.poll(isPending).toBe(false);
  await page.getByRole('tab', { name: DEAD_LETTERS }).waitFor();
  await checkEveryLook(page, 'dead-letters');
});

test('a channel that fails is said where its rules are, and in the navigation of every page', async () => {
  receiver.answer = status(503);
  await Promise.all(Array.from({ length: 5 }, (_, at) => loop(`late-${at}`)));
  await openAlerts();
  await row('Going in circles').getByText('To On call (failing)').waitFor();
  await page.goto(gateway.url);
  await page.getByRole('link', { name: 'Alerts 1 failing' }).waitFor();
  await page.setViewportSize(SIZES.phone);
  await page.getByRole('button', { name: 'More 1 failing' }).click();
  await page.getByRole('dialog').getByRole('link', { name: 'Alerts 1 failing' }).click();
  await row('Going in circles').waitFor();
  await page.setViewportSize(SIZES.desktop);
  await openTab('Channels');
  await page.getByText(/^Failing, /).waitFor();
  await page.getByText(/503/).waitFor();
  await page.getByText('Notices carry no link to this dashboard').waitFor();
  await checkEveryLook(page, 'channel-fails');
  // Whoever makes a rule is told before they rely on it.
  await openTab('Rules');
  await button('New rule').click();
  await page
    .getByRole('dialog')
    .getByText(/^Failing, /)
    .waitFor();
  await checkEveryLook(page, 'rule-to-failing-channel');
  await page.keyboard.press('Escape');
});

test('what is deleted is gone, and a rule says that its channel is', async () => {
  await openAlerts();
  await openTab('Channels');
  await button('Delete On call').click();
  await button('Delete channel').click();
  await page.getByText('No channel yet').waitFor();
  await openTab(DEAD_LETTERS);
  await row('a deleted channel').first().getByRole('button', { name: /Retry/ }).press('Enter');
  await page.getByText('Its channel was deleted').filter({ visible: true }).waitFor();
  await openTab('Rules');
  await row('Going in circles').getByText('No channel').waitFor();
  await checkEveryLook(page, 'rule-without-channel');
  await row('Going in circles').getByRole('link', { name: 'Make a channel' }).click();
  await button('New channel').waitFor();
  await openTab('Rules');
  await button('Delete Going in circles').press('Enter');
  await button('Delete rule').press('Enter');
  await row('Going in circles').waitFor({ state: 'detached' });
  // Whoever did it by keyboard goes on from the list it was taken from.
  await expect.poll(() => focusOf(page)).toBe('tabpanel Rules');
});
