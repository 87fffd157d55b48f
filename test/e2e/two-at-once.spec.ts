/** Two administrators at the same thing: a form sends what was typed in it, and not what the other has changed since it was opened. */
import { expect, test } from 'vitest';
import { gateway, startOneGateway } from '../integration/start-one-gateway.js';
import { checkPage } from './check-page.js';
import { browser, launchOneBrowser } from './launch-one-browser.js';
import { openAs } from './log-in.js';

startOneGateway();
launchOneBrowser();

const put = (body: object) => gateway.operator('PUT', '/v1/upstreams/local-llm', body);

const now = async () => {
  const { body } = await gateway.operator('GET', '/v1/upstreams');
  const { base_url, kind, key } = body.items.find(({ name }: { name: string }) => name === 'local-llm');
  return { base_url, kind, key };
};

test('who gives an upstream a key, or takes it, leaves it where somebody else has moved it meanwhile', async () => {
  await put({ base_url: 'https://llm.example.org/v1', kind: 'openai' });
  const page = await openAs(browser, gateway, 'ana', '/settings?section=upstreams');
  await page.getByRole('button', { name: 'Edit or set key of local-llm' }).click();
  await page.getByLabel('Vendor key').fill('sk-new');
  await put({ base_url: 'https://llm.example.org/v2', kind: 'anthropic' });
  await page.getByTestId('upstream-save').click();
  await page.getByTestId('upstream-save').waitFor({ state: 'detached' });
  expect(await now()).toEqual({ base_url: 'https://llm.example.org/v2', kind: 'anthropic', key: 'ours' });

  await page.getByRole('button', { name: 'Remove key of local-llm' }).click();
  await put({ base_url: 'https://llm.example.org/v3', kind: 'openai' });
  await page.getByRole('button', { name: 'Remove key', exact: true }).click();
  await expect.poll(now).toEqual({ base_url: 'https://llm.example.org/v3', kind: 'openai', key: 'caller' });
});

test('who edits an upstream that somebody else has deleted meanwhile is told', async () => {
  await put({ base_url: 'https://llm.example.org/v1', kind: 'openai', api_key: null });
  const page = await openAs(browser, gateway, 'ana', '/settings?section=upstreams');
  await page.getByRole('button', { name: 'Edit or set key of local-llm' }).click();
  await page.getByLabel('Vendor key').fill('sk-new');
  await gateway.operator('DELETE', '/v1/upstreams/local-llm');
  await page.getByTestId('upstream-save').click();
  await page.getByText('Not saved:').waitFor();
  const { body } = await gateway.operator('GET', '/v1/upstreams');
  expect(body.items.map(({ name }: { name: string }) => name)).not.toContain('local-llm');
});

test('an open form says what somebody else did to its thing, and a channel added meanwhile stays', async () => {
  const channel = async (name: string): Promise<string> => {
    const body = { kind: 'webhook', name, url: 'https://hooks.example.org/x' };
    return (await gateway.operator('POST', '/v1/alert-channels', body)).body.channel.channel_id;
  };
  const [first, second] = [await channel('first'), await channel('second')];
  const { body: rule } = await gateway.operator('POST', '/v1/alert-rules', {
    name: 'Nights',
    type: 'budget',
  });
  const path = `/v1/alert-rules/${rule.rule_id}`;
  const page = await openAs(browser, gateway, 'ana', '/alerts?tab=rules');
  const open = () => page.getByRole('button', { name: 'Edit Nights' }).click();
  await open();
  await page.getByLabel('first').check();
  await gateway.operator('PATCH', path, { channel_ids: [second] });
  await page.getByText('This rule was changed by tester while this form was open.').waitFor();
  await checkPage(page, 'two-at-once-changed');
  await page.getByTestId('rule-save').click();
  await page.getByTestId('rule-save').waitFor({ state: 'detached' });
  const { body: rules } = await gateway.operator('GET', '/v1/alert-rules');
  const channelIds = rules.items.find(
    ({ rule_id }: { rule_id: string }) => rule_id === rule.rule_id,
  ).channel_ids;
  expect(channelIds).toEqual([second, first]);

  await open();
  await gateway.operator('DELETE', path);
  await page.getByText('This rule was deleted meanwhile').waitFor();
});
