/**
 * One story on every page: what loops now, what only did, what a pause stopped and what it did not, how many agents
 * there are, and what nobody knows the cost of.
 */
import type { Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { buildDecisionLog, respondJson } from '#testing';
import { gateway, startOneGateway, upstream, upstreamsAt } from '../integration/start-one-gateway.js';
import { checkEveryLook } from './check-page.js';
import { browser, launchOneBrowser } from './launch-one-browser.js';
import { logIn } from './log-in.js';

const WAIT_MS = 15_000;

let page: Page;

startOneGateway(upstreamsAt);
launchOneBrowser();
beforeAll(async () => {
  for (const session of ['burning', 'held', 'unheard', 'shared']) await loop(session);
  await acknowledge('held');
  for (const session of ['held', 'unheard'])
    await gateway.operator('POST', `/v1/sessions/${session}/pause`, { reason: 'It loops' });
  await acknowledge('held');
  page = await (await browser.newContext({ viewport: { width: 1440, height: 900 } })).newPage();
  await logIn(page, gateway, 'ana');
});

let serial = 0;
/** `shared` goes round between two agents: one loop, with two cards on the map. */
async function loop(session_id: string): Promise<void> {
  for (let step = 0; step < 6; step += 1) {
    serial += 1;
    await gateway.ingest(
      buildDecisionLog({
        meta: { trace_id: `step-${serial}`, session_id },
        identity: { agent_id: session_id === 'shared' && step === 5 ? 'helper' : 'report-reader' },
        cognition: { intent: 'Read the quarterly report' },
        action: { tool_call: 'read_file', status: 'failure' },
      } as never),
    );
  }
}

const acknowledge = async (session: string): Promise<void> => {
  await fetch(`${gateway.url}/v1/sessions/${session}/control?after=0`, {
    headers: { authorization: `Bearer ${gateway.agentKey}` },
  });
  await fetch(`${gateway.url}/v1/sessions/${session}/control/ack`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.agentKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ cursor: 1 }),
  });
};

const stateCount = (state: string) =>
  page.locator(`[data-testid=fleet-state][data-state=${state}] .nums`).innerText();

test('the map counts what loops now as the alerts panel does, and shows a held loop at rest', async () => {
  await page.getByText('3 looping now').waitFor({ timeout: WAIT_MS });
  await page.goto(`${gateway.url}/fleet`);
  await page.getByTestId('fleet-node').first().waitFor({ timeout: WAIT_MS });
  await expect.poll(() => stateCount('alert_entropy'), { timeout: WAIT_MS }).toBe('3');
  expect(await stateCount('loop_rests')).toBe('1');
  const resting = page.locator('[data-testid=fleet-node][data-rest=held]');
  expect(await resting.count()).toBe(1);
  expect(await resting.locator('.flashes').count()).toBe(0);
  await page.getByText('2 agents in 4 sessions', { exact: true }).waitFor();
  await checkEveryLook(page, 'fleet-rest');
  await page.setViewportSize({ width: 1024, height: 768 });
  const tiles = page.getByRole('region', { name: 'Gateway health' }).getByRole('listitem');
  const widest = () =>
    tiles.evaluateAll((all: any[]) => Math.max(...all.map((tile) => tile.scrollWidth - tile.clientWidth)));
  await expect.poll(widest, { timeout: WAIT_MS }).toBe(0);
  await page.setViewportSize({ width: 1440, height: 900 });

  await page.goto(`${gateway.url}/fleet?view=table&states=loop_rests`);
  await page.getByText('Loop, held').waitFor({ timeout: WAIT_MS });
  await page.getByText('1 of 2 agents, in 1 session', { exact: true }).waitFor();
  await page.getByLabel('Find an agent').fill('nobody');
  await page.getByRole('button', { name: 'Clear filters' }).click();
  await expect.poll(() => page.getByTestId('fleet-row').count(), { timeout: WAIT_MS }).toBe(5);
});

test('a page of a session says whether its loop burns', async () => {
  for (const [session, burns] of [
    ['burning', true],
    ['held', false],
    ['unheard', true],
  ] as const) {
    await page.goto(`${gateway.url}/sessions/${session}`);
    const header = page.locator('main header').first();
    await header.getByTestId('control-state').waitFor({ timeout: WAIT_MS });
    await expect.poll(() => header.locator('.flashes').count(), { timeout: WAIT_MS }).toBe(burns ? 2 : 0);
  }
});

test('a pause that nobody acknowledged is no stop, and is asked for only once', async () => {
  await page.goto(`${gateway.url}/sessions/unheard`);
  await page.getByTestId('control-state').getByText('Only messages held').waitFor({ timeout: WAIT_MS });
  await checkEveryLook(page, 'inspect-unheard');
  await page.goto(gateway.url);
  const row = page.locator('[data-testid=alert-row][data-session-id=unheard]');
  await row.getByText('may keep running').waitFor({ timeout: WAIT_MS });
  await row.getByRole('button', { name: 'Inspect unheard', exact: true }).waitFor();
  await checkEveryLook(page, 'sessions-unheard');
});

test('what has no price costs nobody knows what, wherever money is shown', async () => {
  upstream.script((call, response) =>
    respondJson(response, 200, {
      id: 'chatcmpl-1',
      object: 'chat.completion',
      model: (call.json as { model: string }).model,
      choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'Done.' } }],
      usage: { prompt_tokens: 400_000, completion_tokens: 0, total_tokens: 400_000 },
    }),
  );
  for (const model of ['our-own-finetune', 'gpt-4o']) {
    await fetch(`${gateway.url}/agents/lab/proxy/openai/v1/chat/completions`, {
      method: 'POST',
      headers: {
        'x-observatory-key': gateway.agentKey,
        'x-observatory-session': 'partly-priced',
        'content-type': 'application/json',
      },
      body: JSON.stringify({ model, messages: [{ role: 'user', content: `Ask ${model}` }] }),
    });
  }
  const known = '$1.00 + unknown';
  await page.goto(`${gateway.url}/spend`);
  await page.getByText(known).first().waitFor({ timeout: WAIT_MS });
  await page.getByText('By model', { exact: true }).click();
  const unpriced = page.getByTestId('spend-row').filter({ hasText: 'our-own-finetune' });
  await expect.poll(() => unpriced.locator('td').nth(1).innerText(), { timeout: WAIT_MS }).toBe('unknown');
  await checkEveryLook(page, 'spend-unknown');
  await page.goto(`${gateway.url}/agents`);
  const spend = page.getByTestId('agent-row').locator('td').nth(3);
  await expect.poll(() => spend.innerText(), { timeout: WAIT_MS }).toMatch(/^\$1\.00\s\+ unknown/);
  await checkEveryLook(page, 'agents-unknown');
  await page.goto(`${gateway.url}/sessions/partly-priced`);
  await page.locator('dd', { hasText: known }).waitFor({ timeout: WAIT_MS });
  await page.goto(`${gateway.url}/?q=partly`);
  const cell = page.getByTestId('session-row').getByText('+ unknown');
  await cell.waitFor({ timeout: WAIT_MS });
  await checkEveryLook(page, 'sessions-unknown');
});
