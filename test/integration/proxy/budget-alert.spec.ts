/** What agents spend, from their calls to the alerts about it, over HTTP alone: real gateway, scripted upstream and receiver. */
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { type Receiver, startReceiver } from '../http-receiver.js';
import { AGENT_KEY } from '../start-gateway.js';
import { gateway, startAgain, startOneGateway, upstream, upstreamsAt } from '../start-one-gateway.js';
import { always, openaiChat } from './vendors.js';

/** Of gpt-4o-mini: 60 tokens of prompt, 40 from the vendor's cache, 20 of answer. */
const CALL_USD = (60 * 0.15 + 40 * 0.075 + 20 * 0.6) / 1e6;

let receiver: Receiver;

startOneGateway(upstreamsAt);
beforeAll(async () => {
  receiver = await startReceiver();
  upstream.script(always(openaiChat, { text: 'Done.' }));
});
afterAll(() => receiver.close());
afterEach(() => receiver.received.splice(0));

/** With a bound on the answer, so that no call is let through for much more than it costs. */
async function ask(agent: string, text: string, max_tokens = 20): Promise<number> {
  const { status } = await fetch(`${gateway.url}/agents/${agent}/proxy/openai/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${AGENT_KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'gpt-4o-mini', max_tokens, messages: [{ role: 'user', content: text }] }),
  });
  return status;
}
const setPolicy = async (agent: string, patch: object) =>
  expect((await gateway.operator('PATCH', `/v1/agents/${agent}/policy`, patch)).status).toBe(200);
const notices = async (count: number) => (await receiver.arrived(count)).map(({ body }) => JSON.parse(body));

/** Tells the receiver of this agent's budget, or of what the rule is about. */
async function watch(agent_id: string | null, about: object = { type: 'budget' }): Promise<void> {
  const channel = { kind: 'webhook', name: 'On call', url: receiver.url, allow_private: true };
  const { channel_id } = (await gateway.operator('POST', '/v1/alert-channels', channel)).body.channel;
  const rule = { name: 'Money', ...about, agent_id, cooldown_s: 0, channel_ids: [channel_id] };
  expect((await gateway.operator('POST', '/v1/alert-rules', rule)).status).toBe(201);
}

test('agents that together spend more than a rule says alert once, also where some of it was before a restart', async () => {
  await watch(null, { type: 'total_spend', threshold_usd: 3.5 * CALL_USD });
  for (const agent of ['one', 'two', 'three']) expect(await ask(agent, 'A question')).toBe(200);
  expect(await gateway.stop()).toBe(0);
  await startAgain();
  expect(receiver.received).toEqual([]);
  expect(await ask('four', 'A question')).toBe(200);
  const [first] = await notices(1);
  expect(first).toMatchObject({
    type: 'total_spend',
    phase: 'firing',
    agent_id: null,
    title: 'All agents together have spent $0.0001 in the last hour',
  });
  expect(await ask('five', 'A question')).toBe(200);

  const { rule_id } = (await gateway.operator('GET', '/v1/alert-rules')).body.items.at(-1);
  expect((await gateway.operator('DELETE', `/v1/alert-rules/${rule_id}`)).status).toBe(200);
  const title = 'All agents together are not watched by this rule any more';
  expect((await notices(2))[1]).toMatchObject({ phase: 'recovered', agent_id: null, title });
});

test('calls that spend a budget alert at four fifths of it, once, and a larger budget ends the alert', async () => {
  await watch('spender');
  const budget_day_usd = 9.5 * CALL_USD;
  await setPolicy('spender', { budget_day_usd });
  for (let call = 1; call <= 9; call += 1) expect(await ask('spender', `Question ${call}`)).toBe(200);
  const [first] = await notices(1);
  expect(first).toMatchObject({
    type: 'budget',
    phase: 'firing',
    agent_id: 'spender',
    detail: { period: 'day', budget_usd: budget_day_usd, threshold: 0.8, refused: false },
  });
  // The eighth call is the one that reaches it.
  expect(first.detail.spent_usd).toBeCloseTo(8 * CALL_USD, 7);

  await setPolicy('spender', { budget_day_usd: 1 });
  expect((await notices(2))[1]).toMatchObject({ phase: 'recovered', agent_id: 'spender' });
  expect(receiver.received).toHaveLength(2);
});

test('an alert is over after a restart where the budget was taken away just before the gateway was killed', async () => {
  const rule = { name: 'Shown', type: 'budget', agent_id: 'unbound' };
  const { rule_id } = (await gateway.operator('POST', '/v1/alert-rules', rule)).body;
  const firing = async () => {
    const { items } = (await gateway.operator('GET', '/v1/alert-rules')).body;
    return items.find((one: { rule_id: string }) => one.rule_id === rule_id).firing_count;
  };
  await setPolicy('unbound', { budget_day_usd: 1.1 * CALL_USD });
  expect(await ask('unbound', 'A question')).toBe(200);
  await expect.poll(firing).toBe(1);
  expect(await gateway.stop()).toBe(0);
  await startAgain();
  await setPolicy('unbound', { budget_day_usd: null });
  await gateway.kill();
  await startAgain();
  expect(await firing()).toBe(0);
});

test('a call that the rest of a budget does not cover alerts, though little is spent', async () => {
  await watch('refused');
  await setPolicy('refused', { budget_day_usd: 4 * CALL_USD });
  expect(await ask('refused', 'A short answer, please')).toBe(200);
  expect(await ask('refused', 'And now a long one', 4_000)).toBe(429);
  const [first] = await notices(1);
  expect(first).toMatchObject({
    phase: 'firing',
    agent_id: 'refused',
    title: 'Agent "refused" is refused calls by its budget for the day',
    detail: { period: 'day', share: 0.25, refused: true },
  });
  expect(await ask('refused', 'And now a long one', 4_000)).toBe(429);

  await setPolicy('refused', { budget_day_usd: 1 });
  expect((await notices(2))[1]).toMatchObject({ phase: 'recovered', agent_id: 'refused' });
  expect(receiver.received).toHaveLength(2);
});

test('an agent without a budget that spends more than a rule says alerts, and the end of its hour is not waited for where the rule changes', async () => {
  await watch('free', { type: 'spend', threshold_usd: 2.5 * CALL_USD });
  for (let call = 1; call <= 4; call += 1) expect(await ask('free', `Question ${call}`)).toBe(200);
  const [first] = await notices(1);
  expect(first).toMatchObject({
    type: 'spend',
    phase: 'firing',
    agent_id: 'free',
    title: 'Agent "free" has spent $0.0001 in the last hour',
    detail: { period: 'hour' },
  });
  // The third call is the one that reaches it.
  expect(first.detail.spent_usd).toBeCloseTo(3 * CALL_USD, 6);
  const rules = (await gateway.operator('GET', '/v1/alert-rules')).body.items;
  const [{ rule_id }] = rules.filter(({ type }: { type: string }) => type === 'spend');
  expect((await gateway.operator('PATCH', `/v1/alert-rules/${rule_id}`, { threshold_usd: 1 })).status).toBe(
    200,
  );
  expect((await notices(2))[1]).toMatchObject({ phase: 'recovered', agent_id: 'free' });
  expect(receiver.received).toHaveLength(2);

  const refused = await gateway.operator('PATCH', `/v1/alert-rules/${rule_id}`, { threshold_usd: null });
  expect(refused).toMatchObject({
    status: 422,
    body: { reason: 'invalid_fields', fields: ['threshold_usd'] },
  });
});
