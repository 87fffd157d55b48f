/**
 * An agent nobody instrumented, known by its base URL alone: the real `openai` client in mid-conversation is held by a
 * click, guided and let go on; and one that repeats itself is killed, looked at and reactivated.
 */
import { mkdirSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import OpenAI from 'openai';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { respondJson } from '#testing';
import { AGENT_KEY } from '../integration/start-gateway.js';
import { gateway, startOneGateway, upstream, upstreamsAt } from '../integration/start-one-gateway.js';
import { checkEveryLook, focusOf, SIZES } from './check-page.js';
import { browser, launchOneBrowser } from './launch-one-browser.js';
import { logIn } from './log-in.js';

const GUIDANCE = 'Use the staging database, never production.';
const WAIT_MS = 20_000;

startOneGateway(upstreamsAt);
launchOneBrowser();

const openAs = async (operatorId: string, path = '/'): Promise<Page> => {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
  const page = await context.newPage();
  await logIn(page, gateway, operatorId);
  if (path !== '/') await page.goto(gateway.url + path);
  return page;
};

const answerWith = (text: (question: string) => string) =>
  upstream.script((call, response) => {
    const { messages } = call.json as { messages: { content: string }[] };
    respondJson(response, 200, {
      id: 'chatcmpl-1',
      object: 'chat.completion',
      created: 1,
      model: 'gpt-4o-mini',
      choices: [
        {
          index: 0,
          finish_reason: 'stop',
          message: { role: 'assistant', content: text(messages.at(-1)?.content ?? '') },
        },
      ],
      usage: { prompt_tokens: 120, completion_tokens: 30, total_tokens: 150 },
    });
  });

const clientOf = (agent: string) =>
  new OpenAI({ baseURL: `${gateway.url}/agents/${agent}/proxy/openai/v1`, apiKey: AGENT_KEY, maxRetries: 2 });

test('a conversation is paused, guided and let go on, with the real client waiting', async () => {
  answerWith((question) => `Working on it: ${question}`);
  const client = clientOf('migrator');
  const messages: OpenAI.ChatCompletionMessageParam[] = [
    { role: 'user', content: 'Migrate the orders table.' },
  ];
  const turn = async () => {
    const answer = await client.chat.completions.create({ model: 'gpt-4o-mini', messages });
    const text = answer.choices[0]?.message.content ?? '';
    messages.push({ role: 'assistant', content: text });
    return text;
  };
  await turn();

  const page = await openAs('ana');
  await page
    .getByTestId('session-row')
    .filter({ hasText: 'migrator' })
    .getByRole('link')
    .click({ timeout: WAIT_MS });
  await page.waitForURL('**/sessions/**', { timeout: WAIT_MS });
  await page.getByText('Enforced').first().waitFor({ timeout: WAIT_MS });
  await page.getByTestId('hitl-pause').first().click();
  await page.getByTestId('control-state').filter({ hasText: /paus/i }).first().waitFor({ timeout: WAIT_MS });

  messages.push({ role: 'user', content: 'Go on with the customers table.' });
  const waiting = turn();
  await page.getByTestId('held-call').first().waitFor({ timeout: WAIT_MS });
  expect(upstream.calls).toHaveLength(1);
  // The proxy holds it: nobody need take the pause.
  expect(await page.getByRole('region', { name: 'Waiting for the agent' }).count()).toBe(0);
  mkdirSync('test-output/screenshots', { recursive: true });
  await page.screenshot({ path: 'test-output/screenshots/journey-held-call.png' });

  // Whoever clicks faster than their network: what they let go on carries their guidance all the same.
  await page.route('**/inject', async (route) => {
    await setTimeout(500);
    await route.continue();
  });
  await page.getByTestId('hitl-inject-text').fill(GUIDANCE);
  await page.getByTestId('hitl-inject').click();
  await page.getByTestId('hitl-resume').click();
  expect(await waiting).toContain('Go on with the customers table.');

  const sent = upstream.calls[1]?.json as { messages: { role: string; content: string }[] };
  expect(sent.messages[0]).toMatchObject({ role: 'system', content: expect.stringContaining(GUIDANCE) });
  await expect.poll(() => page.getByTestId('held-call').count(), { timeout: WAIT_MS }).toBe(0);
});

test('a held step of an answered call cannot be rewritten, and a phone, which points at nothing, is told why', async () => {
  let release = () => {};
  upstream.script((_call, response) => {
    const choice = { index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'Sunny.' } };
    release = () => respondJson(response, 200, { id: 'chatcmpl-1', choices: [choice] });
  });
  const answer = clientOf('forecaster').chat.completions.create(
    { model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'What will the weather be?' }] },
    { headers: { 'x-observatory-session': 'forecast' } },
  );
  await expect.poll(() => upstream.calls.length).toBe(1);
  await gateway.operator('POST', '/v1/sessions/forecast/pause', { reason: 'Let me look' });
  release();
  await answer;

  const context = await browser.newContext({ viewport: SIZES.phone, hasTouch: true });
  const page = await context.newPage();
  await logIn(page, gateway, 'ana');
  await page.goto(`${gateway.url}/sessions/forecast`);
  await page.getByTestId('hitl-rewrite').waitFor({ timeout: WAIT_MS });
  await checkEveryLook(page, 'held-answered-call');
  await page.setViewportSize(SIZES.phone);
  const reason = page.getByText('Its call was answered before').filter({ visible: true });
  expect(await reason.count()).toBe(0);
  // Playwright waits for what is disabled to become enabled; a thumb does not.
  await page.getByTestId('hitl-rewrite').tap({ force: true });
  await reason.waitFor({ timeout: WAIT_MS });
  await page.screenshot({ path: 'test-output/screenshots/journey-why-not.png' });
  await page.getByRole('heading', { name: 'Control', exact: true }).tap();
  await reason.waitFor({ state: 'hidden', timeout: WAIT_MS });
});

test('an agent that repeats itself is killed, its evidence read, and reactivated by one of two operators', async () => {
  answerWith(() => 'The order is still being processed.');
  const [ana, ben] = await Promise.all([openAs('ana', '/agents/looper'), openAs('ben', '/incidents')]);
  const ask = () =>
    clientOf('looper').chat.completions.create({
      model: 'gpt-4o-mini',
      messages: [{ role: 'user', content: 'Where is my order?' }],
    });
  for (let request = 0; request < 5; request += 1) await ask();
  expect((await ask()).choices[0]?.message.content).toContain('stopped by Observatory');
  await expect(ask()).rejects.toMatchObject({ status: 403 });

  // What the number is measured by, also where nothing can be pointed at.
  const incident = ben.getByTestId('incident-row').first();
  await incident.getByText('Score 13').getByText('above 10', { exact: true }).waitFor({ timeout: WAIT_MS });
  await incident.click();
  await ben.getByTestId('evidence').first().waitFor({ timeout: WAIT_MS });
  expect(await ben.getByTestId('evidence').count()).toBe(6);
  // Its terms are written as their sum is.
  for (const term of ['5 × 1', '4 × 2', '0 × 1.5', '13'])
    await ben.getByText(term, { exact: true }).waitFor();
  await ben.screenshot({ path: 'test-output/screenshots/journey-incident.png', fullPage: true });

  // Its loop is told apart from one that goes on: below, without the red number, and with a word why.
  const cleo = await openAs('cleo');
  const row = cleo.getByTestId('alert-row').filter({ hasText: 'looper' });
  await row.getByText('Agent killed').waitFor({ timeout: WAIT_MS });
  expect(await cleo.getByText('looping now').count()).toBe(0);
  await expect.poll(() => cleo.title()).toBe('Sessions · Observatory');
  // There is nothing left to pause: what helps is where it can be reactivated.
  expect(await row.getByRole('button', { name: /^Pause/ }).count()).toBe(0);
  await row.getByRole('button', { name: 'Open incident looper' }).click();
  await cleo.getByTestId('evidence').first().waitFor({ timeout: WAIT_MS });
  await cleo.goBack();

  await ana.reload();
  await ana
    .getByTestId('agent-state')
    .filter({ hasText: /killed/i })
    .first()
    .waitFor({ timeout: WAIT_MS });
  await ana.getByTestId('agent-reactivate').first().press('Enter');
  const confirm = ana.getByRole('dialog').getByRole('button', { name: /reactivate/i });
  await confirm.press('Enter', { timeout: WAIT_MS });
  await ana
    .getByTestId('agent-state')
    .filter({ hasText: /active/i })
    .first()
    .waitFor({ timeout: WAIT_MS });
  // The button is gone; whoever pressed it by keyboard is still on the page.
  await ana.getByTestId('agent-deactivate').waitFor({ timeout: WAIT_MS });
  await expect.poll(() => focusOf(ana)).toBe('main');
  // It may loop again, and so it counts again.
  await row.getByText('Agent killed').waitFor({ state: 'detached', timeout: WAIT_MS });
  await cleo.getByText('1 looping now').waitFor({ timeout: WAIT_MS });
  // Nor does it loop while all are stopped.
  await gateway.operator('POST', '/v1/all-agents/deactivate', { reason: 'Let me look' });
  await row.getByText('All stopped').waitFor({ timeout: WAIT_MS });
  expect(await cleo.getByText('looping now').count()).toBe(0);
  await cleo.screenshot({ path: 'test-output/screenshots/journey-all-stopped.png' });
  await gateway.operator('POST', '/v1/all-agents/reactivate');
  await cleo.getByText('1 looping now').waitFor({ timeout: WAIT_MS });
  await ben.getByText('Reactivated by ana').waitFor({ timeout: WAIT_MS });
  expect((await ask()).choices[0]?.message.content).toContain('still being processed');
});

test('the page of an incident marks the calls that were counted, however they read, and no others', async () => {
  const call = (id: string, name: string, args: object) => ({
    id,
    type: 'function',
    function: { name, arguments: JSON.stringify(args) },
  });
  const draft = 'All that was found, in order. '.repeat(20);
  // Another text each time, further on than what is shown; and the same search, its keys in turns of two orders.
  upstream.script((_call, response, step) =>
    respondJson(response, 200, {
      id: 'chatcmpl-1',
      choices: [
        {
          index: 0,
          finish_reason: 'tool_calls',
          message: {
            role: 'assistant',
            content: null,
            tool_calls: [
              call(`save-${step}`, 'save', { text: draft + step }),
              call(`search-${step}`, 'search', step % 2 ? { q: 'x', limit: 9 } : { limit: 9, q: 'x' }),
            ],
          },
        },
      ],
    }),
  );
  const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: 'user', content: 'Save what you find.' }];
  // Seven repeated searches are 10.5: the question, seven steps that go on, and the one that is stopped.
  for (let request = 1; request <= 9; request += 1) {
    const answer = await clientOf('saver').chat.completions.create({ model: 'gpt-4o-mini', messages });
    const message = answer.choices[0]?.message as OpenAI.ChatCompletionMessage;
    messages.push(message);
    for (const { id } of message.tool_calls ?? [])
      messages.push({
        role: 'tool',
        tool_call_id: id,
        content: id.startsWith('save') ? 'saved' : 'nothing found',
      });
  }
  const page = await openAs('ana', '/incidents');
  await page.getByTestId('incident-row').filter({ hasText: 'saver' }).click({ timeout: WAIT_MS });
  const calls = page.getByTestId('tool-call');
  await calls.first().waitFor({ timeout: WAIT_MS });
  const marks = await calls.evaluateAll((all) => all.map((one) => one.getAttribute('data-repeated')));
  // The search of each turn, that of the stopped one included.
  expect(marks.length).toBeGreaterThanOrEqual(16);
  expect(marks).toEqual(marks.map((_, at) => String(at % 2 === 1)));
  await checkEveryLook(page, 'incident-tool-calls');
});

test('an agent whose first tool takes its time is in the list, and its page says what it waits for', async () => {
  const call = { id: 'call_1', type: 'function', function: { name: 'run_migration', arguments: '{}' } };
  upstream.script((_call, response) =>
    respondJson(response, 200, {
      id: 'chatcmpl-1',
      object: 'chat.completion',
      created: 1,
      model: 'gpt-4o-mini',
      choices: [
        {
          index: 0,
          finish_reason: 'tool_calls',
          message: { role: 'assistant', content: null, tool_calls: [call] },
        },
      ],
      usage: { prompt_tokens: 120, completion_tokens: 30, total_tokens: 150 },
    }),
  );
  const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: 'user', content: 'Migrate the invoices.' }];
  await clientOf('slow-migrator').chat.completions.create({ model: 'gpt-4o-mini', messages });
  const page = await openAs('ana');
  await page
    .getByTestId('session-row')
    .filter({ hasText: 'slow-migrator' })
    .getByRole('link')
    .first()
    .click();
  await page.getByText('The first waits for what run_migration').waitFor({ timeout: WAIT_MS });
  await checkEveryLook(page, 'waits-for-tool');
  await page.context().close();
});
