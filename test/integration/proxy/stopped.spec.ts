/** A stopped agent's held calls end at that moment, whoever stopped it: nobody resumes a session here. */
import { describe, expect, test } from 'vitest';
import { AGENT_KEY } from '../start-gateway.js';
import { gateway, startOneGateway, upstream, upstreamsAt } from '../start-one-gateway.js';
import { always, openaiChat, VENDORS, type Vendor } from './vendors.js';

startOneGateway((origin) => ({
  // Longer than any test: what ends, was ended.
  HITL_HOLD_MS: '300000',
  ...upstreamsAt(origin),
}));

let serial = 0;
/** An agent with a session of the same name that is paused. */
async function pausedAgent(vendor: Vendor = openaiChat): Promise<string> {
  const agent = `stopped-${++serial}`;
  upstream.script(always(vendor, { text: 'begun' }));
  await vendor.ask(gateway.url, 'Begin', { headers: { 'x-observatory-session': agent }, agent });
  await expect.poll(async () => (await gateway.operator('GET', `/v1/sessions/${agent}`)).status).toBe(200);
  const paused = await gateway.operator('POST', `/v1/sessions/${agent}/pause`, { reason: 'look' });
  expect(paused.status).toBe(200);
  return agent;
}
const heldOf = async (agent: string) =>
  (await gateway.operator('GET', `/v1/held-calls?session_id=${agent}`)).body.items;
const agentView = async (agent: string) => (await gateway.operator('GET', `/v1/agents/${agent}`)).body;
/** Its call is held already when this resolves. */
async function holdOne(agent: string, vendor: Vendor = openaiChat): Promise<{ asked: Promise<unknown> }> {
  const headers = { 'x-observatory-session': agent };
  const asked = vendor.ask(gateway.url, 'Go on', { headers, agent, maxRetries: 3 });
  asked.catch(() => {});
  await expect.poll(() => heldOf(agent)).toHaveLength(1);
  return { asked };
}
const stop = async (agent: string): Promise<void> => {
  const stopped = await gateway.operator('POST', `/v1/agents/${agent}/deactivate`, { reason: 'enough' });
  expect(stopped.status).toBe(200);
};
const setInactive = async (agent: string): Promise<void> => {
  const patched = await gateway.operator('PATCH', `/v1/agents/${agent}/policy`, { active: false });
  expect(patched.status).toBe(200);
};
/** In a session of its own, until the kill switch stops the agent. */
async function loop(agent: string): Promise<void> {
  const headers = { 'x-observatory-session': `${agent}-loop` };
  for (let request = 1; request <= 6; request += 1)
    await openaiChat.ask(gateway.url, 'Where is my order?', { headers, agent });
  expect((await agentView(agent)).policy.active).toBe(false);
}

test('a held call of a model that its agent may no longer use does not go on', async () => {
  const agent = await pausedAgent();
  const { asked } = await holdOne(agent);
  const sentCount = upstream.calls.length;
  const policy = { allowed_models: ['none-such'] };
  expect((await gateway.operator('PATCH', `/v1/agents/${agent}/policy`, policy)).status).toBe(200);
  expect((await gateway.operator('POST', `/v1/sessions/${agent}/resume`, {})).status).toBe(200);
  await expect(asked).rejects.toMatchObject({
    status: 403,
    message: expect.stringContaining('Allowed: none-such;'),
  });
  expect(upstream.calls).toHaveLength(sentCount);
  const last = async () =>
    (await gateway.operator('GET', `/v1/calls?agent_id=${agent}&limit=1`)).body.items[0];
  await expect.poll(last).toMatchObject({ decision: 'not_allowed', cost_usd: 0 });
});

test('a held call whose price was taken away does not go on where unknown costs are refused', async () => {
  const agent = await pausedAgent();
  const policy = { unknown_cost: 'refuse' };
  expect((await gateway.operator('PATCH', `/v1/agents/${agent}/policy`, policy)).status).toBe(200);
  const { asked } = await holdOne(agent);
  const sentCount = upstream.calls.length;
  const { version, models } = (await gateway.operator('GET', '/v1/prices')).body;
  const putPrices = (given: object) => gateway.operator('PUT', '/v1/prices', given);
  expect((await putPrices({ version, models: [] })).status).toBe(200);
  expect((await gateway.operator('POST', `/v1/sessions/${agent}/resume`, {})).status).toBe(200);
  await expect(asked).rejects.toMatchObject({ status: 403, code: 'cost_unknown' });
  expect(upstream.calls).toHaveLength(sentCount);
  expect((await putPrices({ version: version + 1, models })).status).toBe(200);
});

test.each([
  ['a budget', { budget_day_usd: 0.000001 }, 'budget_exceeded'],
  ['a cap of its session', { session_calls_max: 1 }, 'session_capped'],
])('a held call does not go on past %s that was set meanwhile', async (_, limit, code) => {
  const agent = await pausedAgent();
  const { asked } = await holdOne(agent);
  const sentCount = upstream.calls.length;
  expect((await gateway.operator('PATCH', `/v1/agents/${agent}/policy`, limit)).status).toBe(200);
  expect((await gateway.operator('POST', `/v1/sessions/${agent}/resume`, {})).status).toBe(200);
  await expect(asked).rejects.toMatchObject({ code });
  expect(upstream.calls).toHaveLength(sentCount);
});

test.each([
  ['an operator', stop],
  ['its policy', setInactive],
  ['the kill switch', loop],
])('a held call of an agent stopped by %s ends at once, and leaves the count', async (_, stopAgent) => {
  const agent = await pausedAgent();
  const { asked } = await holdOne(agent);
  expect(await agentView(agent)).toMatchObject({ held_call_count: 1 });
  await stopAgent(agent);
  const sentCount = upstream.calls.length;
  await expect(asked).rejects.toMatchObject({ status: 403, code: 'agent_inactive' });
  expect(await heldOf(agent)).toHaveLength(0);
  expect(await agentView(agent)).toMatchObject({ held_call_count: 0, held_since_ms: null });
  expect(upstream.calls).toHaveLength(sentCount);
  await expect
    .poll(async () => (await gateway.operator('GET', `/v1/calls?session_id=${agent}`)).body.items[0])
    .toMatchObject({ decision: 'inactive', cost_usd: 0 });
  const incidents = (await gateway.operator('GET', `/v1/incidents?agent_id=${agent}`)).body.items;
  expect(incidents.length).toBeLessThan(2);
});

/** Resolves when the upstream has its call, which it does not answer. */
async function sendOne(agent: string, session: string): Promise<{ asked: Promise<unknown> }> {
  upstream.script((call, response, index) =>
    index === 0 ? undefined : always(openaiChat, { text: 'still being processed' })(call, response, index),
  );
  const headers = { 'x-observatory-session': session };
  const asked = openaiChat.ask(gateway.url, `Work as ${session}`, { headers, agent, maxRetries: 3 });
  asked.catch(() => {});
  await expect.poll(() => upstream.calls.length).toBe(1);
  return { asked };
}

test.each([
  ['an operator', stop],
  ['its policy', setInactive],
  ['the kill switch, in the same session', loop],
])('a call of an agent stopped by %s is cut off at its upstream', async (_, stopAgent) => {
  const agent = `stopped-${++serial}`;
  const { asked } = await sendOne(agent, `${agent}-loop`);
  const [sent] = upstream.calls;
  await stopAgent(agent);
  await sent?.aborted;
  await expect(asked).rejects.toMatchObject({ status: 403, code: 'agent_inactive' });
  await expect
    .poll(async () => (await gateway.operator('GET', `/v1/calls?agent_id=${agent}`)).body.items)
    .toContainEqual(
      expect.objectContaining({ decision: 'cut_off', detail: expect.stringContaining('deactivated') }),
    );
});

test('what the kill switch stops in one session lets the running answer of another finish, which an operator would not', async () => {
  const agent = `stopped-${++serial}`;
  const { asked } = await sendOne(agent, `${agent}-other`);
  await loop(agent);
  expect(await agentView(agent)).toMatchObject({ running_call_count: 1 });
  await gateway.operator('POST', `/v1/agents/${agent}/reactivate`);
  expect(await agentView(agent)).toMatchObject({ running_call_count: 1 });
  await stop(agent);
  await expect(asked).rejects.toMatchObject({ status: 403, code: 'agent_inactive' });
});

test.each([
  ['deactivates', stop],
  ['sets inactive', setInactive],
])(
  'an operator who %s an agent that the kill switch has stopped ends what it left running',
  async (_, stopAgent) => {
    const agent = `stopped-${++serial}`;
    const { asked } = await sendOne(agent, `${agent}-other`);
    await loop(agent);
    expect(await agentView(agent)).toMatchObject({ running_call_count: 1 });
    await stopAgent(agent);
    await expect(asked).rejects.toMatchObject({ status: 403, code: 'agent_inactive' });
    expect(await agentView(agent)).toMatchObject({ policy: { deactivated_by: 'kill_switch' } });
  },
);

test('a kill switch that looks at all sessions of its agent together cuts off the calls of them all', async () => {
  const agent = `stopped-${++serial}`;
  const patched = await gateway.operator('PATCH', `/v1/agents/${agent}/kill-switch`, { scope: 'agent' });
  expect(patched.status).toBe(200);
  const { asked } = await sendOne(agent, `${agent}-other`);
  await loop(agent);
  await expect(asked).rejects.toMatchObject({ status: 403, code: 'agent_inactive' });
});

test('a change of its hours lets a running answer finish', async () => {
  const agent = `stopped-${++serial}`;
  const { asked } = await sendOne(agent, agent);
  const [sent] = upstream.calls;
  const dayAfterTomorrow = ((new Date().getUTCDay() + 1) % 7) + 1;
  const hours = { time_zone: 'UTC', days: [dayAfterTomorrow], from: '06:00', to: '12:00' };
  const patched = await gateway.operator('PATCH', `/v1/agents/${agent}/policy`, { allowed_hours: hours });
  expect(patched).toMatchObject({ status: 200 });
  await expect(
    openaiChat.ask(gateway.url, 'And now?', {
      headers: { 'x-observatory-session': agent },
      agent,
      maxRetries: 0,
    }),
  ).rejects.toMatchObject({ status: 403 });
  expect(await agentView(agent)).toMatchObject({ running_call_count: 1 });
  await stop(agent);
  await sent?.aborted;
  await expect(asked).rejects.toMatchObject({ status: 403, code: 'agent_inactive' });
});

const REFUSALS = {
  openai: { type: 'permission_error', code: 'agent_inactive' },
  anthropic: { type: 'error', error: { type: 'permission_error' } },
  gemini: { error: { code: 403, status: 'PERMISSION_DENIED' } },
};

describe.each(VENDORS)('$name', (vendor) => {
  test('a held call of a stopped agent is refused in its own shape, without another try', async () => {
    const agent = await pausedAgent(vendor);
    const { asked } = await holdOne(agent, vendor);
    await stop(agent);
    const refusal: any = await asked.catch((error) => error);
    expect(refusal.status).toBe(403);
    // Google's SDK has it in its message alone.
    expect(refusal.error ?? JSON.parse(refusal.message)).toMatchObject(REFUSALS[vendor.upstream]);
    const { items } = (await gateway.operator('GET', `/v1/calls?session_id=${agent}`)).body;
    expect(items.map(({ decision }: any) => decision)).toEqual(['inactive', 'forwarded']);
  });
});

test('a held stream that was begun ends at once with the refusal', async () => {
  const agent = await pausedAgent();
  // Its head comes while the session is still paused.
  const held = await fetch(`${gateway.url}/agents/${agent}/proxy/openai/v1/chat/completions`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${AGENT_KEY}`,
      'content-type': 'application/json',
      'x-observatory-session': agent,
    },
    body: JSON.stringify({
      model: 'gpt-4o-mini',
      stream: true,
      messages: [{ role: 'user', content: 'Go on' }],
    }),
  });
  await stop(agent);
  const text = await held.text();
  expect(text.startsWith(':')).toBe(true);
  expect(text).toContain('agent_inactive');
  expect(await heldOf(agent)).toHaveLength(0);
});

test('a reactivation right behind does not call back what was ended, and holds what comes next', async () => {
  const agent = await pausedAgent();
  const { asked } = await holdOne(agent);
  const [, reactivated] = await Promise.all([
    stop(agent),
    gateway.operator('POST', `/v1/agents/${agent}/reactivate`),
  ]);
  expect(reactivated.status).toBe(200);
  // Whichever came first, there was a moment at which the agent was stopped.
  await expect(asked).rejects.toMatchObject({ status: 403, code: 'agent_inactive' });
  await gateway.operator('POST', `/v1/agents/${agent}/reactivate`);
  const next = await holdOne(agent);
  upstream.script(always(openaiChat, { text: 'after the pause' }));
  await gateway.operator('POST', `/v1/sessions/${agent}/resume`);
  expect(await next.asked).toMatchObject({ text: 'after the pause' });
});

test('an operator who resumes while another stops the agent lets the call go or not, but never leaves it held', async () => {
  const agent = await pausedAgent();
  const { asked } = await holdOne(agent);
  await Promise.all([stop(agent), gateway.operator('POST', `/v1/sessions/${agent}/resume`)]);
  const outcome = await asked.then(
    () => 'let go',
    ({ status }: { status: number }) => status,
  );
  expect(['let go', 403]).toContain(outcome);
  expect(await heldOf(agent)).toHaveLength(0);
});

test('the held calls of other agents stay held', async () => {
  const [stopped, other] = [await pausedAgent(), await pausedAgent()];
  const { asked } = await holdOne(stopped);
  const stays = await holdOne(other);
  await stop(stopped);
  await expect(asked).rejects.toMatchObject({ status: 403 });
  expect(await heldOf(other)).toHaveLength(1);
  upstream.script(always(openaiChat, { text: 'after the pause' }));
  await gateway.operator('POST', `/v1/sessions/${other}/resume`);
  expect(await stays.asked).toMatchObject({ text: 'after the pause' });
});
