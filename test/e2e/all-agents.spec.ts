/** All agents together, as operators see and command them: a common budget, and the stop of all that each of them sees wherever they are. */
import { expect, onTestFinished, test } from 'vitest';
import { startReceiver } from '../integration/http-receiver.js';
import { always, openaiChat } from '../integration/proxy/vendors.js';
import { gateway, startOneGateway, upstream, upstreamsAt } from '../integration/start-one-gateway.js';
import { checkEveryLook } from './check-page.js';
import { browser, launchOneBrowser } from './launch-one-browser.js';
import { openAs } from './log-in.js';

startOneGateway(upstreamsAt);
launchOneBrowser();

const ask = (agent: string) => openaiChat.ask(gateway.url, `A question of ${agent}`, { agent });
const together = async () => (await gateway.operator('GET', '/v1/all-agents')).body;

test('a stop of all is seen where no agent has called yet', async () => {
  await gateway.operator('POST', '/v1/all-agents/deactivate', { reason: 'Not before Monday' });
  const page = await openAs(browser, gateway, 'ana', '/agents');
  await page.getByTestId('proxy-onboarding').waitFor();
  await page.getByTestId('all-agents').getByText('Not before Monday').waitFor();
  await checkEveryLook(page, 'all-stopped-before-any');
  await page.getByTestId('let-all-run').click();
  await page.getByRole('dialog').getByRole('button', { name: 'Let all run' }).click();
  await page.getByTestId('all-agents').waitFor({ state: 'detached' });
});

test('a budget of all is set on their page, and stands above the list with what is spent of it', async () => {
  upstream.script(always(openaiChat, { text: 'Yes.' }));
  for (const agent of ['first', 'second']) await ask(agent);
  const page = await openAs(browser, gateway, 'ana', '/agents');
  const strip = page.getByTestId('all-agents');
  await strip.getByRole('link', { name: 'Set limits for all' }).click();
  await page.waitForURL('**/all-agents');
  expect(await page.title()).toContain('All agents');
  await page.getByLabel('Per day').fill('-3');
  await page.getByTestId('policy-save').click();
  await page.getByRole('alert').first().waitFor();
  expect((await together()).policy.budget_day_usd).toBeNull();
  await page.getByLabel('Per day').fill('5');
  await page.getByTestId('policy-save').click();
  await page.getByText('Policy saved').waitFor();
  expect((await together()).policy).toMatchObject({ budget_day_usd: 5, updated_by: 'ana' });
  // What is about one session, or one agent's prompts, is none of it.
  for (const text of ['Caps of a session', 'Semantic loop'])
    expect(await page.getByText(text).count()).toBe(0);
  await page.getByText('Policy saved').waitFor({ state: 'hidden' });
  const spenders = page.getByRole('region', { name: 'Who spent most, last 24 hours' });
  for (const agent of ['first', 'second']) await spenders.getByRole('link', { name: agent }).waitFor();
  await checkEveryLook(page, 'all-agents-page');
  await page.getByRole('link', { name: 'Back to agents' }).click();
  await strip.getByText('/ $5.00').waitFor();
  await strip.getByRole('link', { name: 'Limits', exact: true }).waitFor();
  await checkEveryLook(page, 'all-agents-strip');
});

test('a viewer finds the limits of all, and that they can only look at them', async () => {
  const asked = { name: 'night shift', role: 'viewer' };
  const { secret } = (await gateway.operator('POST', '/v1/operators', asked)).body;
  upstream.script(always(openaiChat, { text: 'Yes.' }));
  await ask('first');
  await gateway.operator('PATCH', '/v1/all-agents/policy', { budget_day_usd: null });
  const page = await openAs(browser, { ...gateway, operatorToken: secret }, 'vera', '/agents');
  await page.getByTestId('all-agents').getByRole('link', { name: 'Limits', exact: true }).click();
  await page.getByText('You can look, not change.').waitFor();
  const shade = (name: string) =>
    page
      .getByLabel(name)
      .evaluate((field: any) => field.ownerDocument.defaultView.getComputedStyle(field).backgroundColor);
  expect(await shade('Allowed models')).toBe(await shade('Per day'));
  await checkEveryLook(page, 'all-agents-as-viewer');
});

test('who stops all is seen by every operator at once, whatever page they are on, until somebody lets them run', async () => {
  upstream.script(always(openaiChat, { text: 'Yes.' }));
  await ask('first');
  const ana = await openAs(browser, gateway, 'ana', '/agents');
  const ben = await openAs(browser, gateway, 'ben', '/calls');
  await ana.getByTestId('stop-all').click();
  await ana.getByRole('button', { name: 'Stop all agents' }).click();
  await ana.getByText('Say why').waitFor();
  await ask('first');
  await ana.getByLabel('Reason').fill('The vendor key has leaked');
  await checkEveryLook(ana, 'stop-all-dialog');
  await ana.getByRole('button', { name: 'Stop all agents' }).click();
  await ana.locator('[data-testid=all-agents][data-state=inactive]').waitFor();
  await expect(ask('never-seen')).rejects.toMatchObject({ status: 403 });
  await ana.getByRole('button', { name: '1 new' }).click();
  for (const agent of ['first', 'never-seen'])
    await ana.locator(`[data-agent-id=${agent}] [data-state=all_stopped]`).waitFor();
  await checkEveryLook(ana, 'all-agents-stopped');

  const notice = ben.getByTestId('all-stopped');
  await expect
    .poll(() => notice.textContent())
    .toMatch(/^All agents' calls are stopped by ana, .+ · The vendor key has leaked · Open$/);
  await checkEveryLook(ben, 'all-stopped-notice');
  await notice.getByRole('link', { name: 'Open' }).click();
  await ben.getByTestId('let-all-run').click();
  await ben.getByRole('dialog').getByRole('button', { name: 'Let all run' }).click();
  await ana.locator('[data-testid=all-agents][data-state=active]').waitFor();
  for (const agent of ['first', 'never-seen'])
    await ana.locator(`[data-agent-id=${agent}] [data-state=active]`).waitFor();
  await ask('never-seen');
  await ben.goto(`${gateway.url}/settings?section=audit`);
  await ben.getByRole('link', { name: 'All agents' }).first().waitFor();
});

test('an alert of their budget leads to where their limits are', async () => {
  upstream.script(always(openaiChat, { text: 'Yes.' }));
  const receiver = await startReceiver();
  onTestFinished(() => receiver.close());
  const channel = { kind: 'webhook', name: 'On call', url: receiver.url, allow_private: true };
  const { channel_id } = (await gateway.operator('POST', '/v1/alert-channels', channel)).body.channel;
  const rule = { name: 'Money', type: 'budget', threshold: 0.8, channel_ids: [channel_id] };
  expect((await gateway.operator('POST', '/v1/alert-rules', rule)).status).toBe(201);
  await gateway.operator('PATCH', '/v1/all-agents/policy', { budget_day_usd: 0.00001 });
  await ask('first').catch(() => {});
  await receiver.arrived(1);
  const page = await openAs(browser, gateway, 'ana', '/alerts');
  await page.getByRole('link', { name: 'all agents together' }).click();
  await page.waitForURL('**/all-agents');
  await page.goto(`${gateway.url}/alerts?tab=history`);
  await page.getByTestId('alert-delivery').getByRole('link', { name: 'All agents' }).click();
  await page.waitForURL('**/all-agents');
  await gateway.operator('PATCH', '/v1/all-agents/policy', { budget_day_usd: null });
});

test('a stop of all for a long reason, however it is written, leaves the pages usable on the smallest phone', async () => {
  upstream.script(always(openaiChat, { text: 'Yes.' }));
  await ask('first');
  const page = await openAs(browser, gateway, 'ana', '/calls');
  await page.setViewportSize({ width: 320, height: 568 });
  const stop = (reason: string) => gateway.operator('POST', '/v1/all-agents/deactivate', { reason });
  await stop('W'.repeat(500));
  const notice = page.getByTestId('all-stopped');
  await notice.waitFor();
  expect((await notice.boundingBox())?.height).toBeLessThan(100);
  await page.goto(`${gateway.url}/agents`);
  const strip = page.locator('[data-testid=all-agents][data-state=inactive]');
  await strip.waitFor();
  expect((await strip.boundingBox())?.height).toBeLessThan(300);

  await stop('\u202eIt reads from the right');
  await page.goto(`${gateway.url}/calls`);
  const open = notice.getByRole('link', { name: 'Open' });
  await open.waitFor();
  const leftOf = (at: number) =>
    open.evaluate((link: any, from) => {
      const letter = link.ownerDocument.createRange();
      letter.setStart(link.firstChild, from);
      letter.setEnd(link.firstChild, from + 1);
      return letter.getBoundingClientRect().left as number;
    }, at);
  expect(await leftOf(0)).toBeLessThan(await leftOf(3));
  await open.click();
  await page.getByTestId('let-all-run').waitFor();
  await gateway.operator('POST', '/v1/all-agents/reactivate');
});
