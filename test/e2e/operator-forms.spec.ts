/**
 * What operators set and judge by hand: an agent's policy, the cache's matches and entries, prices, upstreams, and who
 * may come in. Each is filled in wrongly first where it can be, saved, and looked at again after a reload.
 */
import type { Locator, Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { buildDecisionLog } from '#testing';
import { gateway, startOneGateway, upstream, upstreamsAt } from '../integration/start-one-gateway.js';
import { checkEveryLook, problemAt, SIZES } from './check-page.js';
import { guardEnvironment, sendGuardedTraffic } from './guarded-traffic.js';
import { browser, launchOneBrowser } from './launch-one-browser.js';
import { openAs } from './log-in.js';

let page: Page;

startOneGateway((origin) => ({ ...upstreamsAt(origin), ...guardEnvironment }));
launchOneBrowser();
beforeAll(async () => {
  await sendGuardedTraffic(gateway, upstream);
  page = await openAs(browser, gateway, 'ana');
});

const button = (name: string | RegExp) => page.getByRole('button', { name, exact: true });
const field = (label: string, within: Page | Locator = page) => within.getByLabel(label, { exact: true });
const group = (name: string) => page.getByRole('group', { name, exact: true });
const tableRow = (text: string) => page.getByRole('row').filter({ hasText: text });
const open = (path: string) => page.goto(gateway.url + path);

async function choose(label: string, option: string): Promise<void> {
  await page.getByRole('combobox', { name: label, exact: true }).click();
  await page.getByRole('option', { name: option, exact: true }).click();
}

test('a policy is refused at its fields, saved, and still there after a reload', async () => {
  await open('/agents');
  await page.getByRole('link', { name: 'help-desk' }).first().click();
  const day = field('Per day', group('Budgets'));
  await day.fill('a lot');
  await field('Requests', group('Rates')).fill('1.5');
  await button('Save policy').click();
  expect(await problemAt(day)).toBe('Enter a number, or nothing for no limit.');
  expect(await problemAt(field('Requests', group('Rates')))).toBe('Enter a whole number.');

  await day.fill('-5');
  await field('Requests', group('Rates')).fill('60');
  await page.getByRole('switch', { name: 'Limit the hours' }).click();
  await field('Time zone').fill('Mars/Olympus');
  await button('Save policy').click();
  await expect.poll(() => problemAt(field('Time zone'))).toMatch(/IANA time zone/);
  expect(await problemAt(day)).toBe('More than 0.');
  await checkEveryLook(page, 'policy-refused');

  await day.fill('12.5');
  await field('Tokens', group('Rates')).fill('90 000');
  await field('Calls', group('Caps of a session')).fill('40');
  await button('Sat').click();
  await field('From').fill('07:30');
  await field('To').fill('19:00');
  await field('Time zone').fill('Asia/Tokyo');
  await field('Allowed models').fill('gpt-4o-mini,\nclaude-*');
  await choose('Unknown cost', 'Refuse');
  await choose('Semantic loop', 'Hint, alert, then pause');
  await choose('Cache', 'Exact only');
  await button('Save policy').click();
  await page.getByText('Policy saved').waitFor();
  expect(await day.inputValue()).toBe('12.5');
  await page.reload();

  await page.getByText('Mon to Sat, 07:30 to 19:00, Asia/Tokyo').waitFor();
  expect(await day.inputValue()).toBe('12.5');
  expect(await field('Requests', group('Rates')).inputValue()).toBe('60');
  expect(await field('Tokens', group('Rates')).inputValue()).toBe('90000');
  expect(await field('Calls', group('Caps of a session')).inputValue()).toBe('40');
  expect(await page.getByRole('combobox', { name: 'Semantic loop' }).innerText()).toBe(
    'Hint, alert, then pause',
  );
  expect(await page.getByRole('combobox', { name: 'Cache' }).innerText()).toBe('Exact only');
  expect(await field('Allowed models').inputValue()).toBe('gpt-4o-mini, claude-*');
  expect(await page.getByRole('combobox', { name: 'Unknown cost' }).innerText()).toBe('Refuse');

  await field('Allowed models').fill(`gpt-4o-mini ${'x'.repeat(201)}`);
  await button('Save policy').click();
  await expect.poll(() => problemAt(field('Allowed models'))).toBe('At most 200 characters.');
  await field('Allowed models').fill('');
  await day.fill('');
  await page.getByRole('switch', { name: 'Limit the hours' }).click();
  await button('Save policy').click();
  await page.getByText('At any hour.').waitFor();
  await page.getByText('An empty field does not limit.').waitFor();
  const { body: policy } = await gateway.operator('GET', '/v1/agents/help-desk/policy');
  expect(policy).toMatchObject({
    budget_day_usd: null,
    allowed_hours: null,
    allowed_models: null,
    unknown_cost: 'refuse',
    requests_per_minute: 60,
  });
});

test('an answer that is late does not hide what somebody else has changed since', async () => {
  await open('/agents/help-desk');
  const requests = field('Requests', group('Rates'));
  const path = '/v1/agents/help-desk/policy';
  await page.route(`**${path}`, async (route) => {
    const response = await route.fetch();
    await gateway.operator('PATCH', path, { requests_per_minute: 77 });
    await expect.poll(() => requests.inputValue()).toBe('77');
    await route.fulfill({ response });
  });
  await field('Per hour', group('Budgets')).fill('3');
  await button('Save policy').click();
  await page.getByText('Policy saved').waitFor();
  expect(await requests.inputValue()).toBe('77');
  await page.unroute(`**${path}`);
});

test('an agent is deactivated with a reason, and reactivated', async () => {
  await open('/agents/help-desk');
  await button('Deactivate').click();
  await button('Deactivate agent').click();
  expect(await problemAt(field('Reason'))).toBe('Say why: it is shown to others and written to the audit.');
  expect(await field('Reason').and(page.locator(':focus')).count()).toBe(1);
  await checkEveryLook(page, 'deactivation-refused');
  await field('Reason').fill('Answers nonsense since noon.');
  await button('Deactivate agent').click();
  await page.getByText('Deactivated by ana').waitFor();
  await page.getByText('Answers nonsense since noon.').first().waitFor();
  await button('Reactivate').click();
  await page.getByRole('dialog').getByRole('button', { name: 'Reactivate' }).click();
  await button('Deactivate').waitFor();
});

test('a kill switch is switched off and on, made tolerant, then given numbers of its own', async () => {
  await open('/agents/help-desk');
  const killSwitch = page.getByRole('region', { name: 'Kill switch' });
  await killSwitch.getByRole('switch', { name: 'On' }).click();
  await killSwitch.getByText('Off: nothing stops this agent').waitFor();
  await killSwitch.getByRole('switch', { name: 'Off' }).click();
  await killSwitch.getByRole('switch', { name: 'On' }).waitFor();
  await page.getByText('Tolerant', { exact: true }).click();
  await button('Save kill switch').click();
  await page.getByText('Kill switch saved').waitFor();
  await page.getByText('Custom', { exact: true }).click();
  await field('Window').fill('3');
  await button('Save kill switch').click();
  await expect.poll(() => problemAt(field('Window'))).toBe('At least 5.');
  await field('Window').fill('30');
  await button('Save kill switch').click();
  await button('Save kill switch').waitFor({ state: 'detached' });
  await page.reload();
  await expect.poll(() => field('Window').inputValue()).toBe('30');
});

test('a semantic match is judged: right stays, wrong takes its entry away', async () => {
  await open('/cache');
  await page.getByText('Counted by this gateway since its start').waitFor();
  const matches = page.getByRole('article', { name: /Match of help-desk/ });
  await matches.first().waitFor();
  expect(await matches.count()).toBe(2);
  const entryCount = async () => (await gateway.operator('GET', '/v1/cache/stats')).body.total_entries;
  const before = await entryCount();
  await matches.first().getByRole('button', { name: 'Right' }).click();
  await matches.first().getByText('ana said right').waitFor();
  expect(await entryCount()).toBe(before);

  await matches.last().getByRole('button', { name: 'Wrong' }).click();
  await matches.last().getByText('ana said wrong, and the entry is gone').waitFor();
  await expect.poll(entryCount).toBe(before - 1);
  await page.getByText('2 judged').waitFor();
  await checkEveryLook(page, 'matches-judged');
  await page.reload();
  await matches.last().getByText('ana said wrong').waitFor();
});

test('entries are invalidated by a pattern that says first how many it takes', async () => {
  await open('/cache');
  const preview = page.getByTestId('invalidate-preview');
  await button('Invalidate').click();
  await field('Pattern').fill('model:claude*');
  await preview.getByText('Nothing matches.').waitFor();
  expect(await button('Remove').getAttribute('aria-disabled')).toBe('true');
  await field('Pattern').fill('agent:report-*');
  await preview.getByText('This removes 2 entries.').waitFor();
  await checkEveryLook(page, 'invalidate-preview');
  await button('Remove 2 entries').click();
  await page.getByText('2 entries removed').waitFor();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await tableRow('report-writer').first().waitFor({ state: 'detached' });

  await button(/Remove this entry of help-desk/)
    .first()
    .click();
  await preview.getByText('This removes 1 entry.').waitFor();
  await button('Remove 1 entry').click();
  await page.getByText('1 entry removed').waitFor();
});

test('settings are refused at their fields, in their own units, and mended one after the other', async () => {
  await open('/settings');
  const [size, pause] = [field('Window size'), field('An abandoned pause ends after')];
  await size.fill('wide');
  await pause.fill('late');
  await button('Save changes').click();
  expect(await size.evaluate((input: any) => input.ownerDocument.activeElement === input)).toBe(true);
  await size.fill('');
  await size.pressSequentially('25');
  expect([await size.inputValue(), await pause.inputValue()]).toEqual(['25', 'late']);
  await pause.fill('99999999');
  await button('Save changes').click();
  await page
    .getByRole('alert')
    .filter({ hasText: /^At most \d+\.$/ })
    .waitFor();
  await pause.fill('45');
  await button('Save changes').click();
  await page.getByText('Everything is saved.').waitFor();
  await page.reload();
  await expect.poll(async () => [await size.inputValue(), await pause.inputValue()]).toEqual(['25', '45']);
});

test('a setting that somebody else changes meanwhile is shown, and not put back with the next save', async () => {
  await open('/settings');
  const [size, days] = [field('Window size'), field('Keep steps, calls, alerts and violations for')];
  await size.fill('30');
  await gateway.operator('PATCH', '/v1/config', { retention_days: 90 });
  await button('Save changes').click();
  await page.getByText('Everything is saved.').waitFor();
  expect([await size.inputValue(), await days.inputValue()]).toEqual(['30', '90']);
});

test('what somebody else changes of an alert rule while it is edited stays', async () => {
  const { body: rule } = await gateway.operator('POST', '/v1/alert-rules', {
    name: 'Spent',
    type: 'budget',
    threshold: 0.8,
  });
  await open('/alerts?tab=rules');
  await button('Edit Spent').click();
  await gateway.operator('PATCH', `/v1/alert-rules/${rule.rule_id}`, { threshold: 0.5 });
  await field('Name').fill('Half spent');
  await button('Save rule').click();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await page.getByText('50 % of a budget is spent').waitFor();
});

test('prices are added, changed and taken away, and two who edit lose nothing', async () => {
  await open('/settings?section=prices');
  await button('Add model').click();
  await field('Model').fill('our-own-finetune');
  await field('Input price of our-own-finetune').fill('cheap');
  await button('Save prices').click();
  await page.getByText('Enter a price.').first().waitFor();
  await field('Input price of our-own-finetune').fill('1.5');
  await field('Output price of our-own-finetune').fill('6');

  const { body: theirs } = await gateway.operator('GET', '/v1/prices');
  const models = theirs.models.map((one: any) =>
    one.model === 'gpt-4o' ? { ...one, input_usd: 2.75 } : one,
  );
  await gateway.operator('PUT', '/v1/prices', { version: theirs.version, models });
  await button('Save prices').click();
  await page.getByText('Somebody else has saved prices').waitFor();
  // The whole table is a page of its own to check; this is about what was edited and what is said.
  await field('Find a model').fill('gpt-4o');
  // The search waits for a pause in typing: until then it is the whole table, and rows would leave during the check.
  await expect.poll(() => tableRow('claude').count()).toBe(0);
  await checkEveryLook(page, 'prices-conflict');
  await button('Put my edits on top of theirs').click();
  await page.getByText('Version 1, tester').waitFor();
  await button('Save prices').click();
  await page.getByText('Version 2, ana').waitFor();

  await page.reload();
  await field('Find a model').fill('our-own');
  expect(await field('Output price of our-own-finetune').inputValue()).toBe('6');
  await button('Remove our-own-finetune').click();
  await button('Save prices').click();
  await page.getByText('Version 3, ana').waitFor();
  const { body: table } = await gateway.operator('GET', '/v1/prices');
  expect(table.models.find((one: any) => one.model === 'gpt-4o').input_usd).toBe(2.75);
  expect(table.models.some((one: any) => one.model === 'our-own-finetune')).toBe(false);
});

test('prices that somebody else saves are read when one looks again, but not under an edit', async () => {
  await open('/settings?section=prices');
  await field('Find a model').fill('gpt-4o');
  const price = field('Input price of gpt-4o');
  await price.waitFor();
  const saveTheirs = async (input_usd: number) => {
    const { body } = await gateway.operator('GET', '/v1/prices');
    const models = body.models.map((one: any) => (one.model === 'gpt-4o' ? { ...one, input_usd } : one));
    await gateway.operator('PUT', '/v1/prices', { version: body.version, models });
  };
  // What a browser tells a tab that is looked at again; this one hides none.
  const lookAgain = () =>
    page.evaluate(`document.dispatchEvent(new Event('visibilitychange', { bubbles: true }))`);
  await saveTheirs(3.25);
  await lookAgain();
  await expect.poll(() => price.inputValue()).toBe('3.25');

  await field('Output price of gpt-4o').fill('11');
  await saveTheirs(3.5);
  await lookAgain();
  await button('Save prices').click();
  await page.getByText('Somebody else has saved prices').waitFor();
  expect(await price.inputValue()).toBe('3.25');
});

test('an upstream is added, given another address, its key removed, and deleted', async () => {
  await open('/settings?section=upstreams');
  await button('Add upstream').click();
  await field('Name').fill('Local LLM');
  await field('Base URL').fill('llm.example.org');
  await button('Save upstream').click();
  expect(await problemAt(field('Name'))).toBe('Lower-case letters, digits and -, at most 63.');
  expect(await problemAt(field('Base URL'))).toBe('Begin with https:// or http://.');
  await checkEveryLook(page, 'upstream-refused');
  await field('Name').fill('gemini');
  await field('Base URL').fill('https://llm.example.org/v1');
  await button('Save upstream').click();
  expect(await problemAt(field('Name'))).toBe('There is one of this name already: edit it.');
  await field('Name').fill('local-llm');
  await field('Vendor key').fill('sk-local');
  await button('Save upstream').click();
  const added = page.getByRole('article').filter({ hasText: 'local-llm' });
  await added.getByText('Our key').waitFor();

  await button('Edit local-llm').click();
  expect(await field('Base URL').inputValue()).toBe('https://llm.example.org/v1');
  await field('Base URL').fill('https://llm.example.org/v2');
  await button('Save upstream').click();
  await added.getByText('https://llm.example.org/v2').waitFor();
  await added.getByText('Our key').waitFor();
  await button('Remove key of local-llm').click();
  await button('Remove key').click();
  await added.getByText('Caller’s key').waitFor();
  await page.reload();
  await button('Delete local-llm').click();
  await button('Delete upstream').click();
  await added.waitFor({ state: 'detached' });
});

test('an agent key works from its creation to its revocation', async () => {
  await open('/settings?section=agent-keys');
  await button('Create key').click();
  expect(await problemAt(field('Name'))).toBe('Give the key a name, so that you know later whose it is.');
  await field('Name').fill('research fleet');
  await button('Create key').click();
  const secret = await page.getByTestId('agent-key-secret').innerText();
  const baseUrls = await page.getByRole('group', { name: 'base URLs of the proxy' }).innerText();
  await checkEveryLook(page, 'key-created');
  await button('I have copied it').click();
  await tableRow('research fleet').getByText('Active').waitFor();
  expect(await field('Name').inputValue()).toBe('');
  const ingest = async () =>
    (await gateway.ingest(buildDecisionLog({}), { authorization: `Bearer ${secret}` })).status;
  expect(await ingest()).toBe(202);
  const proxied = async () => {
    const { status } = await fetch(`${baseUrls.split('\n')[0]}/chat/completions`, {
      method: 'POST',
      headers: { 'x-observatory-key': secret, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Say hello' }] }),
    });
    return status;
  };
  expect(await proxied()).toBe(200);

  // Names may be equal: the first letters tell which key it is, on a phone too.
  await page.setViewportSize(SIZES.phone);
  await tableRow('research fleet')
    .getByText(`${secret.slice(0, 14)}…`)
    .first()
    .waitFor();
  await button('Revoke research fleet').click();
  await page
    .getByRole('dialog')
    .getByText(`${secret.slice(0, 14)}…`)
    .waitFor();
  await button('Revoke key').click();
  await tableRow('research fleet').getByText('Revoked').waitFor();
  await page.setViewportSize(SIZES.desktop);
  expect([await ingest(), await proxied()]).toEqual([401, 401]);
});

test('who revokes what the environment sets is told that the next start lets it in again', async () => {
  const variables = { 'agent-keys': 'OBSERVATORY_AGENT_KEY', operators: 'OBSERVATORY_OPERATOR_TOKEN' };
  for (const [section, variable] of Object.entries(variables)) {
    await open(`/settings?section=${section}`);
    await button('Revoke environment').click();
    await page.getByRole('dialog').getByText(variable).waitFor();
    expect(await page.getByText('It cannot be undone').count()).toBe(0);
    await checkEveryLook(page, `revoke-environment-${section}`);
    await button('Cancel').click();
  }
});

test('an agent key is made for several tenants and certain agents, and the list says for which', async () => {
  await open('/settings?section=agent-keys');
  await field('Name').fill('platform');
  await field('Only for agents').fill('help-desk, ..');
  await field('Further tenants').fill('acme, Globex');
  await button('Create key').click();
  await expect.poll(() => problemAt(field('Further tenants'))).toMatch(/^Lower-case letters/);
  expect(await problemAt(field('Only for agents'))).toMatch(/^An id that a URL can name/);
  await checkEveryLook(page, 'key-tenants-refused');
  await field('Only for agents').fill('help-desk, night desk');
  await field('Further tenants').fill('acme, globex');
  expect(await problemAt(field('Further tenants'))).toBeNull();
  await button('Create key').click();
  await page.getByTestId('agent-key-secret').waitFor();
  const curlLine = page.getByRole('group', { name: 'curl line with the new key' });
  expect(await curlLine.innerText()).toContain('"agent_id": "help-desk"');
  expect(await field('Further tenants').inputValue()).toBe('');
  expect(await field('Only for agents').inputValue()).toBe('');
  await button('I have copied it').click();
  await tableRow('platform').getByText('for default, acme, globex').waitFor();
  await tableRow('platform').getByText('as help-desk, night desk').waitFor();
  await checkEveryLook(page, 'key-of-tenants');
});

test('what fails after somebody waved its dialog away is told all the same', async () => {
  await gateway.operator('POST', '/v1/agent-keys', { name: 'short-lived' });
  await open('/settings?section=agent-keys');
  const keyPath = '**/v1/agent-keys/*';
  let fail = () => {};
  const failed = new Promise<void>((resolve) => {
    fail = resolve;
  });
  await page.route(keyPath, (route) => failed.then(() => route.abort()));
  await tableRow('short-lived').getByRole('button').click();
  const asked = page.waitForRequest(keyPath);
  await page.getByTestId('agent-key-revoke').click();
  await asked;
  await page.keyboard.press('Escape');
  fail();
  await page.getByRole('alert').filter({ hasText: 'The gateway could not be reached.' }).waitFor();
  await page.unroute(keyPath);
});

test('an operator comes in as a viewer, may change nothing, and is out once revoked', async () => {
  await open('/settings?section=operators');
  await button('Create operator').click();
  expect(await problemAt(field('Name'))).toBe('Name the person or the shift.');
  await field('Name').fill('night shift');
  await choose('Role', 'Viewer');
  await button('Create operator').click();
  const operatorToken = await page.getByTestId('operator-secret').innerText();
  await checkEveryLook(page, 'operator-created');
  await button('I have copied it').click();
  await tableRow('night shift').getByText('viewer').waitFor();

  const night = await openAs(browser, { ...gateway, operatorToken }, 'nina', '/settings?section=prices');
  await night.getByText('Only an administrator may change settings.').first().waitFor();
  await night.goto(`${gateway.url}/settings?section=operators`);
  await night.getByText('Only an administrator may manage access.').waitFor();
  await checkEveryLook(night, 'operators-as-viewer');

  await button('Revoke night shift').click();
  await button('Revoke operator').click();
  await tableRow('night shift').getByText('Revoked').waitFor();
  await night.waitForURL('**/login**');
});

test('an administrator of one tenant is told ahead that the settings of all are not theirs', async () => {
  const { body } = await gateway.operator('POST', '/v1/operators', { name: 'day shift', role: 'admin' });
  const day = await openAs(browser, { ...gateway, operatorToken: body.secret }, 'dora', '/settings');
  await day.getByText('only an administrator of all may change them').first().waitFor();
  expect(await day.getByLabel('Window size', { exact: true }).getAttribute('readonly')).not.toBeNull();
  await day.getByRole('link', { name: 'Prices' }).click();
  await day.getByTestId('prices-save').waitFor();
  expect(await day.getByText('You can look, not change.').count()).toBe(0);
});
