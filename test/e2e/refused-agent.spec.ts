/** An agent whose calls are refused: the Agents page and its own say so and why, and it comes before those that do well. */
import { expect, test } from 'vitest';
import { buildDecisionLog } from '#testing';
import { always, openaiChat } from '../integration/proxy/vendors.js';
import { gateway, startOneGateway, upstream, upstreamsAt } from '../integration/start-one-gateway.js';
import { checkEveryLook, SIZES } from './check-page.js';
import { browser, launchOneBrowser } from './launch-one-browser.js';
import { openAs } from './log-in.js';

startOneGateway(upstreamsAt);
launchOneBrowser();

async function call(agentId: string, sessionId?: string): Promise<number> {
  const response = await fetch(`${gateway.url}/agents/${agentId}/proxy/openai/v1/chat/completions`, {
    method: 'POST',
    headers: {
      'x-observatory-key': gateway.agentKey,
      'content-type': 'application/json',
      ...(sessionId === undefined ? {} : { 'x-observatory-session': sessionId }),
    },
    body: JSON.stringify({
      model: 'gpt-4o-mini',
      messages: [{ role: 'user', content: 'Is 7 a number?' }],
    }),
  });
  await response.arrayBuffer();
  return response.status;
}

const setPolicy = async (agentId: string, policy: object) => {
  const { status } = await gateway.operator('PATCH', `/v1/agents/${agentId}/policy`, policy);
  expect(status).toBe(200);
};

test('an agent whose calls are refused says so and why, until they go through again', async () => {
  upstream.script(always(openaiChat, { text: 'Yes.' }));
  await setPolicy('a-spent', { budget_hour_usd: 0.000_001 });
  await setPolicy('a-stopped', { active: false, reason: 'Maintenance' });
  expect(await call('a-calm')).toBe(200);
  for (let turn = 0; turn < 3; turn += 1) {
    expect(await call('a-spent')).toBe(429);
    expect(await call('a-stopped')).toBe(403);
  }

  const page = await openAs(browser, gateway, 'ana', '/agents');
  const row = (agentId: string) => page.locator(`[data-testid=agent-row][data-agent-id=${agentId}]`);
  await row('a-spent').getByText('Over budget').waitFor();
  await row('a-spent').getByText('100 % refused').waitFor();
  await row('a-stopped').locator('[data-state=inactive]').waitFor();
  await row('a-stopped').getByText('100 % refused').waitFor();
  await row('a-calm').getByText('Active').waitFor();
  expect(await page.getByTestId('agent-row').first().getAttribute('data-agent-id')).toBe('a-spent');
  await checkEveryLook(page, 'agents-refused');

  await page.goto(`${gateway.url}/agents/a-spent`);
  const notice = page.getByTestId('latest-refusal');
  await expect.poll(() => notice.textContent()).toContain('Over budget');
  expect(await notice.textContent()).toContain(
    'This call may cost more than is left of the budget of an hour.',
  );
  await checkEveryLook(page, 'agent-refused');

  await setPolicy('a-spent', { budget_hour_usd: 5 });
  await notice.waitFor({ state: 'detached' });
  expect(await call('a-spent')).toBe(200);
  await page.getByText('75 %').waitFor();
  await page.goto(`${gateway.url}/agents/a-stopped`);
  await page.getByText('100 %').waitFor();
});

test('an agent that has spent its budget is over it before a call of its is refused', async () => {
  upstream.script(always(openaiChat, { text: 'Yes.' }));
  await setPolicy('d-spent', { budget_day_usd: 0.001 });
  const page = await openAs(browser, gateway, 'ana', '/agents');
  const state = page.locator('[data-testid=agent-row][data-agent-id=d-spent] [data-testid=agent-state]');
  await expect.poll(() => state.textContent()).toBe('Active');
  await setPolicy('d-spent', { budget_day_usd: null });
  expect(await call('d-spent')).toBe(200);
  await setPolicy('d-spent', { budget_day_usd: 0.000_001 });
  await expect.poll(() => state.textContent()).toBe('Over budget');
  await checkEveryLook(page, 'agents-budget-spent');
  await page.goto(`${gateway.url}/agents/d-spent`);
  await expect.poll(() => page.getByTestId('agent-state').textContent()).toBe('Over budget');
  expect(await page.getByTestId('latest-refusal').count()).toBe(0);
  await checkEveryLook(page, 'agent-budget-spent');
  await setPolicy('d-spent', { budget_day_usd: 5 });
  await expect.poll(() => page.getByTestId('agent-state').textContent()).toBe('Active');
});

test('guidance is offered as long as somebody may read it, and what is typed by then stays', async () => {
  const step = (is_terminal: boolean) =>
    gateway.ingest(
      buildDecisionLog({
        meta: { trace_id: `c-${is_terminal}`, session_id: 'ends' },
        control: { is_terminal },
      }),
    );
  await step(false);
  const page = await openAs(browser, gateway, 'ana', '/sessions/ends');
  const text = page.getByTestId('hitl-inject-text');
  await text.fill('Stop here.');
  await step(true);
  await page.getByText('It is over: nobody reads this any more.').first().waitFor();
  expect(await text.inputValue()).toBe('Stop here.');
  expect(await page.getByTestId('hitl-inject').getAttribute('aria-disabled')).toBe('true');

  await text.fill('');
  await text.waitFor({ state: 'detached' });
  await page.setViewportSize(SIZES.phone);
  await page.getByTestId('hitl-terminate').waitFor();
  expect(await page.getByRole('button', { name: 'Guide' }).count()).toBe(0);
});

test('a session that has used up what it may says so, while its agent goes on in another', async () => {
  upstream.script(always(openaiChat, { text: 'Yes.' }));
  await setPolicy('c-capped', { session_calls_max: 3 });
  for (let turn = 0; turn < 3; turn += 1) expect(await call('c-capped', 'capped')).toBe(200);
  const page = await openAs(browser, gateway, 'ana', '/sessions/capped');
  await page.getByTestId('control-state').getByText('Running').waitFor();
  expect(await call('c-capped', 'capped')).toBe(403);
  for (let turn = 0; turn < 2; turn += 1) expect(await call('c-capped', 'goes-on')).toBe(200);
  await page.getByText('Session capped', { exact: true }).first().waitFor();
  expect(await page.getByText('Running').count()).toBe(0);
  await page.getByText('It has used up what the policy of its agent allows one session').waitFor();
  await checkEveryLook(page, 'inspect-session-capped');
  await page.getByRole('link', { name: 'See what its policy allows' }).click();
  await page.waitForURL('**/agents/c-capped');
  expect(await page.locator('input[name=session_calls_max]').inputValue()).toBe('3');

  await page.goto(gateway.url);
  const row = (sessionId: string) => page.locator(`[data-testid=session-row][data-session-id=${sessionId}]`);
  await row('capped').getByText('Session capped', { exact: true }).waitFor();
  await row('goes-on').waitFor();
  expect(await page.getByText('Session capped', { exact: true }).count()).toBe(1);
  await checkEveryLook(page, 'sessions-capped');

  await setPolicy('c-capped', { session_calls_max: 30 });
  await row('capped').getByText('Session capped', { exact: true }).waitFor({ state: 'detached' });
});

test('no page calls a session running whose agent is stopped, or that is over', async () => {
  upstream.script(always(openaiChat, { text: 'Yes.' }));
  expect(await call('b-stopped', 'stopped')).toBe(200);
  await setPolicy('b-stopped', { active: false, reason: 'Maintenance' });
  for (let turn = 0; turn < 6; turn += 1) await call('b-killed', 'killed');
  expect(await call('b-spent', 'spent')).toBe(200);
  await setPolicy('b-spent', { budget_day_usd: 0.000_001 });
  expect(await call('b-spent', 'spent')).toBe(429);
  await gateway.ingest(buildDecisionLog({ meta: { session_id: 'over' }, control: { is_terminal: true } }));

  const page = await openAs(browser, gateway, 'ana');
  const row = (sessionId: string) => page.locator(`[data-testid=session-row][data-session-id=${sessionId}]`);
  await row('stopped').getByText('Agent off', { exact: true }).waitFor();
  await row('killed').getByText('Agent killed', { exact: true }).waitFor();
  await row('spent').getByText('Over budget', { exact: true }).waitFor();
  await row('killed').getByText('Is 7 a number?', { exact: true }).waitFor();
  await page.getByTestId('alert-row').getByText('Is 7 a number?', { exact: true }).waitFor();
  await checkEveryLook(page, 'sessions-agent-stopped');

  const open = async (sessionId: string) => {
    await page.goto(`${gateway.url}/sessions/${sessionId}`);
    await page.getByRole('tab', { name: 'Timeline' }).waitFor();
  };
  const runs = () => page.getByText('Running').count();
  await open('stopped');
  const why = page.getByTestId('agent-stopped');
  await expect.poll(() => why.textContent()).toContain('Its agent was deactivated by');
  expect(await why.textContent()).toContain('Maintenance');
  expect(await runs()).toBe(0);
  await page.locator('button:has-text("Open agent") ~ [data-testid=hitl-pause]').waitFor();
  await checkEveryLook(page, 'inspect-agent-stopped');

  await open('killed');
  await expect.poll(() => why.textContent()).toContain('Its agent was stopped by the kill switch');
  await why.getByRole('link', { name: 'See the evidence' }).waitFor();
  await page.locator('button:has-text("Open incident") ~ [data-testid=hitl-pause]').waitFor();
  expect(await runs()).toBe(0);

  await open('spent');
  const refusal = page.getByTestId('latest-refusal');
  await expect.poll(() => refusal.textContent()).toContain('This agent has used up the budget of a day.');
  await page.getByText('Its agent was over its budget at its latest call, which was refused.').waitFor();
  expect(await runs()).toBe(0);
  await checkEveryLook(page, 'inspect-over-budget');

  await open('over');
  await page.getByTestId('control-state').getByText('Ended').waitFor();
  await page.getByText('It is over: its agent said so.').waitFor();
  expect(await runs()).toBe(0);
  await checkEveryLook(page, 'inspect-ended');

  await page.goto(`${gateway.url}/fleet`);
  const card = (agentId: string) => page.locator(`[data-testid=fleet-node][data-agent-id=${agentId}]`);
  await card('b-stopped').getByText('Agent off', { exact: true }).waitFor();
  await card('b-spent').getByText('Over budget', { exact: true }).waitFor();
  await card('b-killed').getByText('Loop, agent killed', { exact: true }).waitFor();
  await checkEveryLook(page, 'fleet-agent-stopped');
  await page.goto(`${gateway.url}/fleet?view=table`);
  await page.getByRole('row', { name: 'b-stopped' }).getByText('Agent off').waitFor();

  await setPolicy('b-stopped', { active: true });
  await open('stopped');
  await page.getByTestId('control-state').getByText('Running').waitFor();
  await setPolicy('b-spent', { budget_day_usd: 5 });
  await open('spent');
  await page.getByTestId('control-state').getByText('Running').waitFor();
});

test('on a phone the page of an incident names its agent to the last letter, and says what became of it', async () => {
  upstream.script(always(openaiChat, { text: 'The library of numbers is closed. Shall I try again?' }));
  const agent = `${'reconciliation-of-the-northern-warehouses-'.repeat(3)}2`;
  await expect.poll(() => call(agent, 'long')).toBe(403);
  const { body } = await gateway.operator('GET', '/v1/incidents');
  const page = await openAs(browser, gateway, 'ana', `/incidents/${body.items[0].incident_id}`);
  await page.setViewportSize(SIZES.phone);
  const name = page.getByRole('heading', { name: `${agent} was stopped` });
  for (const words of [name, page.getByRole('definition').filter({ hasText: agent })])
    expect(await words.evaluate((it: any) => it.scrollWidth - it.clientWidth)).toBe(0);
  await checkEveryLook(page, 'incident-long-agent');
});
