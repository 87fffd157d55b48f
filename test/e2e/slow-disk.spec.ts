/** Another program holds the database, as a disk that hangs would: what operators stop is stopped, and they are told how it stands. */
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { SQLite } from '#adapters/sqlite';
import { always, openaiChat } from '../integration/proxy/vendors.js';
import { gateway, startOneGateway, upstream, upstreamsAt } from '../integration/start-one-gateway.js';
import { checkEveryLook } from './check-page.js';
import { browser, launchOneBrowser } from './launch-one-browser.js';
import { openAs } from './log-in.js';

startOneGateway(upstreamsAt);
launchOneBrowser();

const ask = (agent: string) => openaiChat.ask(gateway.url, `A question of ${agent}`, { agent });

/** @returns how to let it go */
function holdDatabase(): () => void {
  const other = new SQLite(join(gateway.dataDir, 'observatory.db'));
  onTestFinished(() => void other.close());
  other.exec('BEGIN IMMEDIATE');
  return () => other.exec('ROLLBACK');
}

test('a gateway without sessions does not ask for a first one while it can take none', async () => {
  const page = await openAs(browser, gateway, 'ana');
  await page.getByText('Listening for your first DecisionLog').waitFor();
  const letGo = holdDatabase();
  await expect.poll(async () => (await fetch(`${gateway.url}/readyz`)).status).toBe(503);
  await page.reload();
  const unable = page.getByText('The database takes nothing: no session can arrive');
  await unable.waitFor();
  expect(await page.getByText('Listening for').count()).toBe(0);
  await checkEveryLook(page, 'slow-disk-no-sessions');
  letGo();
  await unable.waitFor({ state: 'detached', timeout: 60_000 });
  await page.getByText('Listening for your first DecisionLog').waitFor();
});

test.each([
  ['all agents', '/agents', 'stop-all', 'Stop all agents', 'let-all-run'],
  ['one agent', '/agents/first', 'agent-deactivate', 'Deactivate agent', 'agent-reactivate'],
])(
  'who stops %s reads that the stop is in force, though not stored, until it is',
  async (_, path, button, confirm, undo) => {
    upstream.script(always(openaiChat, { text: 'Yes.' }));
    await ask('first');
    const letGo = holdDatabase();
    const page = await openAs(browser, gateway, 'ana', path);
    await page.getByTestId(button).waitFor();
    await page.getByTestId(button).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Reason').fill('The vendor key has leaked');
    await dialog.getByRole('button', { name: confirm }).click();
    // Behind it.
    await page.getByTestId(undo).waitFor({ state: 'attached' });
    await expect(ask('first')).rejects.toMatchObject({ status: 403 });
    await dialog.getByText('The stop is in force, but not stored').waitFor();
    // In words, and as a cross.
    expect(await dialog.getByRole('button', { name: 'Close', exact: true }).count()).toBe(2);
    expect(await dialog.getByRole('button', { name: 'Cancel' }).count()).toBe(0);
    await checkEveryLook(page, `slow-disk-${button}`);
    // Who closes the dialog, or has not given the stop, reads it as well.
    const ben = await openAs(browser, gateway, 'ben', path);
    const unstored = ben.getByText('Not stored yet: a restart would forget it');
    await unstored.waitFor();
    await checkEveryLook(ben, `slow-disk-${button}-for-others`);
    letGo();
    await unstored.waitFor({ state: 'detached' });
    await ben.getByTestId(undo).waitFor();
    await dialog.waitFor({ state: 'detached' });
    await page.getByTestId(undo).click();
    await page.getByRole('dialog').getByRole('button').last().click();
    await page.getByTestId(button).click();
    expect(await dialog.getByLabel('Reason').inputValue(), 'the reason of the next stop').toBe('');
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await ask('first');
  },
);

test('that nothing can be stored is said on every page beside System, and there with what it means, while it is so', async () => {
  const page = await openAs(browser, gateway, 'ana', '/system');
  const heading = page.locator('header').filter({ hasText: 'Updated' });
  await heading.getByText('Gateway serves', { exact: true }).waitFor();
  const letGo = holdDatabase();
  await heading.getByText('Gateway is not ready').waitFor();
  expect(await heading.getByText('Gateway serves').count()).toBe(0);
  await page.getByRole('alert').filter({ hasText: 'The database takes nothing' }).waitFor();
  await page.getByRole('link', { name: 'System 1 failing' }).waitFor();
  await checkEveryLook(page, 'slow-disk-system');
  letGo();
  await heading.getByText('Gateway serves', { exact: true }).waitFor();
  expect(await page.getByText('The database takes nothing').count()).toBe(0);
  await page.getByRole('link', { name: 'System', exact: true }).waitFor();
});

test('a dialog that asks whether to stop all goes where somebody else was faster', async () => {
  await ask('first');
  const page = await openAs(browser, gateway, 'ana', '/agents');
  await page.getByTestId('stop-all').click();
  await gateway.operator('POST', '/v1/all-agents/deactivate', { reason: 'faster' });
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await gateway.operator('POST', '/v1/all-agents/reactivate');
  await page.getByTestId('stop-all').waitFor();
  expect(await page.getByRole('dialog').count()).toBe(0);
});
