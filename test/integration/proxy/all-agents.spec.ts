/** What holds for all agents of a tenant together, whatever names they give themselves: limits, money, and the stop of all. */
import OpenAI from 'openai';
import { io } from 'socket.io-client';
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { AllAgentsView, Frame, SubscribeAck } from '#contracts';
import { type Receiver, startReceiver } from '../http-receiver.js';
import { AGENT_KEY, OPERATOR_TOKEN, operatorAt } from '../start-gateway.js';
import { gateway, startAgain, startOneGateway, upstream, upstreamsAt } from '../start-one-gateway.js';
import { always, openaiChat, VENDORS } from './vendors.js';

startOneGateway(upstreamsAt);

/** Of gpt-4o-mini: 60 tokens of prompt, 40 from the vendor's cache, 20 of answer. */
const CALL_USD = (60 * 0.15 + 40 * 0.075 + 20 * 0.6) / 1e6;
const NOTHING_SET = {
  allowed_hours: null,
  allowed_models: null,
  requests_per_minute: null,
  tokens_per_minute: null,
  budget_hour_usd: null,
  budget_day_usd: null,
  budget_month_usd: null,
  unknown_cost: 'pass',
};

beforeAll(() => upstream.script(always(openaiChat, { text: 'Done.' })));
afterEach(() => setTogether(NOTHING_SET));

const setTogether = async (patch: object) =>
  expect(await gateway.operator('PATCH', '/v1/all-agents/policy', patch)).toMatchObject({
    status: 200,
    body: patch,
  });
const command = (name: 'deactivate' | 'reactivate', body: object = {}) =>
  gateway.operator('POST', `/v1/all-agents/${name}`, body);
const together = async (): Promise<AllAgentsView> => (await gateway.operator('GET', '/v1/all-agents')).body;

/** With a bound on the answer, so that no call is let through for much more than it costs. */
function ask(agent: string, more: object = {}) {
  const client = new OpenAI({
    baseURL: `${gateway.url}/agents/${agent}/proxy/openai/v1`,
    apiKey: AGENT_KEY,
    maxRetries: 0,
  });
  const messages = [{ role: 'user' as const, content: `A question of ${agent}` }];
  return client.chat.completions.create({ model: 'gpt-4o-mini', max_tokens: 20, messages, ...more });
}

describe('limits of all agents together', () => {
  test('count what any of them uses, also one that makes itself a new name', async () => {
    await setTogether({ requests_per_minute: 3 });
    for (const agent of ['one', 'two', 'three']) await ask(agent);
    const asked = upstream.calls.length;
    await expect(ask('four')).rejects.toMatchObject({
      status: 429,
      message: expect.stringContaining('The agents of this tenant together have reached their limit'),
    });
    expect(upstream.calls).toHaveLength(asked);
  });

  test('a budget of all counts what was spent before it was set, and before a restart', async () => {
    const { spend } = await together();
    const spentUsd = spend.day.spent_usd;
    await setTogether({ budget_day_usd: spentUsd + 2.5 * CALL_USD });
    await ask('alpha');
    await expect
      .poll(async () => (await together()).spend.day)
      .toMatchObject({
        spent_usd: expect.closeTo(spentUsd + CALL_USD, 9),
        budget_usd: spentUsd + 2.5 * CALL_USD,
      });
    expect(await gateway.stop()).toBe(0);
    await startAgain();
    await ask('beta');
    await expect(ask('gamma')).rejects.toMatchObject({
      status: 429,
      code: 'budget_exceeded',
      message: expect.stringMatching(/than is left of the budget of a day of all agents together/),
    });
    await setTogether({ budget_day_usd: null });
    await ask('gamma');
  });

  test('an agent has to fit into its own as well', async () => {
    await setTogether({ budget_day_usd: 100 });
    await gateway.operator('PATCH', '/v1/agents/small/policy', { budget_day_usd: 0.5 * CALL_USD });
    await expect(ask('small')).rejects.toMatchObject({
      status: 429,
      message: expect.stringMatching(/^429 This call may cost more than is left of the budget of a day\. /),
    });
    await ask('large');
    await gateway.operator('PATCH', '/v1/agents/small/policy', { budget_day_usd: null });
  });

  test('models and unknown costs are refused to all', async () => {
    await setTogether({ allowed_models: ['gpt-4o-mini'], unknown_cost: 'refuse' });
    await ask('any');
    await expect(ask('any', { model: 'gpt-5-pro' })).rejects.toMatchObject({ code: 'model_not_allowed' });
    await setTogether({ allowed_models: null });
    await expect(ask('any', { model: 'priced-nowhere' })).rejects.toMatchObject({ code: 'cost_unknown' });
  });

  test.each([
    ['session_calls_max', { session_calls_max: 5 }],
    ['cache', { cache: 'off' }],
    ['budget_day_usd', { budget_day_usd: -1 }],
    ['agent_id', { agent_id: 'one' }],
  ])('a bad %s is named, and changes nothing', async (field, patch) => {
    const { status, body } = await gateway.operator('PATCH', '/v1/all-agents/policy', patch);
    expect(status).toBe(422);
    expect(JSON.stringify(body)).toContain(field);
    expect((await together()).policy).toMatchObject(NOTHING_SET);
  });
});

describe('the alert of a budget', () => {
  let receiver: Receiver;
  beforeAll(async () => {
    receiver = await startReceiver();
  });
  afterAll(() => receiver.close());

  test('speaks of all agents, once, and leads to where their limits are', async () => {
    const channel = { kind: 'webhook', name: 'On call', url: receiver.url, allow_private: true };
    const { channel_id } = (await gateway.operator('POST', '/v1/alert-channels', channel)).body.channel;
    const rule = { name: 'Money', type: 'budget', threshold: 0.8, channel_ids: [channel_id] };
    const { status, body } = await gateway.operator('POST', '/v1/alert-rules', rule);
    expect(status).toBe(201);
    onTestFinished(async () => {
      await gateway.operator('DELETE', `/v1/alert-rules/${body.rule_id}`);
    });
    const { spend } = await together();
    await setTogether({ budget_day_usd: (spend.day.spent_usd + CALL_USD) / 0.9 });
    for (const agent of ['first', 'second']) await ask(agent).catch(() => {});
    const [notice] = (await receiver.arrived(1)).map(({ body: text }) => JSON.parse(text));
    expect(notice).toMatchObject({ type: 'budget', agent_id: null });
    expect(notice.title).toMatch(
      /^All agents together (have spent \d\d % of|are refused calls by) their budget for the day$/,
    );
  });
});

describe('the stop of all', () => {
  test.each(VENDORS)(
    'refuses every call of $name, without a retry, until they are let run',
    async (vendor) => {
      upstream.script(always(vendor, { text: 'Done.' }));
      onTestFinished(() => upstream.script(always(openaiChat, { text: 'Done.' })));
      expect(await command('deactivate', { reason: 'the key has leaked' })).toMatchObject({
        body: { status: 'ok' },
      });
      expect(await command('deactivate', { reason: 'the key has leaked' })).toMatchObject({
        body: { status: 'ok', note: 'already_inactive' },
      });
      const asked = upstream.calls.length;
      for (const call of [vendor.ask, vendor.askStreaming])
        await expect(
          call(gateway.url, 'Again?', { agent: 'never-seen', maxRetries: 3 }),
        ).rejects.toMatchObject({
          status: 403,
          message: expect.stringContaining(
            'An operator stopped all agents of this tenant (the key has leaked)',
          ),
        });
      expect(upstream.calls).toHaveLength(asked);
      expect(await command('reactivate')).toMatchObject({ body: { status: 'ok' } });
      expect(await command('reactivate')).toMatchObject({ body: { note: 'already_active' } });
      await vendor.ask(gateway.url, 'Again?', { agent: 'never-seen' });
    },
  );

  test('ends what is held and what runs, and outlives a kill -9', async () => {
    await ask('held', {});
    const session = 'to-be-held';
    const headers = { 'x-observatory-session': session };
    const heldAsk = () => openaiChat.ask(gateway.url, 'Wait', { agent: 'held', headers });
    await heldAsk();
    await expect
      .poll(async () => (await gateway.operator('GET', `/v1/sessions/${session}`)).status)
      .toBe(200);
    await gateway.operator('POST', `/v1/sessions/${session}/pause`, { reason: 'look' });
    const held = heldAsk();
    const heldCount = async () => (await gateway.operator('GET', '/v1/held-calls')).body.items.length;
    await expect.poll(heldCount).toBe(1);
    upstream.script((call, response) =>
      openaiChat.answer(call, response, { text: 'Once upon a time', hangs: true }),
    );
    onTestFinished(() => upstream.script(always(openaiChat, { text: 'Done.' })));
    const before = upstream.calls.length;
    const running = openaiChat.askStreaming(gateway.url, 'Tell me', { agent: 'running' });
    await expect.poll(() => upstream.calls.length).toBe(before + 1);
    const ended = Promise.all([
      expect(held).rejects.toMatchObject({ status: 403 }),
      expect(running).rejects.toThrow(/stopped all agents/),
    ]);
    expect((await command('deactivate', { reason: 'enough' })).status).toBe(200);
    await ended;
    await upstream.calls[before]?.aborted;
    await gateway.kill();
    await startAgain();
    await expect(ask('after')).rejects.toMatchObject({ status: 403 });
    expect((await together()).policy).toMatchObject({
      active: false,
      deactivated_by: 'tester',
      deactivated_reason: 'enough',
    });
    expect((await command('reactivate')).status).toBe(200);
    const { items } = (await gateway.operator('GET', '/v1/audit?limit=2')).body;
    expect(items).toMatchObject([
      { action: 'agent.reactivate', detail: { all_agents: true } },
      { action: 'agent.deactivate', detail: { all_agents: true, reason: 'enough' } },
    ]);
  });

  test('leaves who was stopped apart from the others stopped, and no agent is listed for it', async () => {
    await gateway.operator('POST', '/v1/agents/apart/deactivate', { reason: 'its own' });
    await command('deactivate', { reason: 'all' });
    await command('reactivate');
    await expect(ask('apart')).rejects.toMatchObject({
      status: 403,
      message: expect.stringContaining('(its own)'),
    });
    await ask('another');
    const { items } = (await gateway.operator('GET', '/v1/agents')).body;
    expect(items.map(({ agent_id }: { agent_id: string }) => agent_id)).not.toContain('');
  });

  test("is an operator's to give and an admin's to limit; who only looks may neither", async () => {
    const as = async (role: string) => {
      const made = await gateway.operator('POST', '/v1/operators', {
        name: `a ${role}`,
        role,
        tenant_ids: ['default'],
      });
      expect(made.status).toBe(201);
      return operatorAt(gateway.url, made.body.secret, role);
    };
    const [viewer, operator] = [await as('viewer'), await as('operator')];
    expect((await viewer('GET', '/v1/all-agents')).status).toBe(200);
    expect((await viewer('POST', '/v1/all-agents/deactivate', { reason: 'x' })).status).toBe(403);
    expect((await operator('PATCH', '/v1/all-agents/policy', { budget_day_usd: 1 })).status).toBe(403);
    expect((await operator('POST', '/v1/all-agents/deactivate', { reason: 'x' })).status).toBe(200);
    expect((await operator('POST', '/v1/all-agents/reactivate')).status).toBe(200);
  });

  test('is told at once to everybody who looks', async () => {
    const socket = io(`${gateway.url}/live`, {
      auth: { token: OPERATOR_TOKEN, operator_id: 'watcher' },
      transports: ['websocket'],
    });
    onTestFinished(() => void socket.close());
    const frames: AllAgentsView[] = [];
    socket.on('frame', ({ events }: Frame<AllAgentsView>) => {
      for (const { payload } of events) frames.push(payload);
    });
    const ack: SubscribeAck<AllAgentsView> = await socket.emitWithAck('subscribe', {
      topic: 'gateway:all_agents',
    });
    expect(ack).toMatchObject({ status: 'ok', snapshot: { policy: { active: true, ...NOTHING_SET } } });
    await command('deactivate', { reason: 'look' });
    await expect
      .poll(() => frames.at(-1))
      .toMatchObject({
        policy: { active: false, deactivated_by: 'tester', deactivated_reason: 'look' },
      });
    await command('reactivate');
    await expect.poll(() => frames.at(-1)).toMatchObject({ policy: { active: true, deactivated_by: null } });
  });
});
