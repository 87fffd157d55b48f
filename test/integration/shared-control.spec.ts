/** Gateways on one Redis: what an operator or the kill switch decides at one of them is in force at all. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { connectRedis, RedisControlLog } from '#adapters/redis';
import { ScriptedUpstream } from '#testing';
import { freePort } from './free-ports.js';
import { always, openaiChat } from './proxy/vendors.js';
import { redisConnected } from './redis-connected.js';
import { type RunningGateway, startGateway } from './start-gateway.js';
import { type RedisServer, redisMissing, startRedis } from './start-redis.js';

const SOON = { timeout: 60_000, interval: 100 };

describe.skipIf(redisMissing !== null)('two gateways on one Redis', () => {
  let redis: RedisServer;
  let upstream: ScriptedUpstream;
  let env: Record<string, string>;
  let one: RunningGateway;
  let other: RunningGateway;

  beforeAll(async () => {
    const port = await freePort();
    redis = await startRedis(['--port', String(port)]);
    upstream = await new ScriptedUpstream().listen();
    env = {
      OBSERVATORY_UPSTREAM_OPENAI_URL: `${upstream.origin}/v1`,
      OBSERVATORY_UPSTREAM_OPENAI_KEY: 'sk-test-upstream',
      REDIS_URL: `redis://127.0.0.1:${port}`,
    };
    one = await startGateway({ env });
    other = await startGateway({ env });
    for (const gateway of [one, other]) await redisConnected(gateway);
  });
  afterAll(async () => {
    for (const gateway of [one, other]) expect(await gateway.stop()).toBe(0);
    await upstream.close();
    await redis.stop();
  });

  const say = (text = 'done') => upstream.script(always(openaiChat, () => ({ text })));
  const ask = (gateway: RunningGateway, session: string, text: string = randomUUID(), agent = 'shared') =>
    openaiChat.ask(gateway.url, text, { agent, headers: { 'x-observatory-session': session } });
  const command = async (gateway: RunningGateway, session: string, name: string, body: object = {}) => {
    const answer = await gateway.operator('POST', `/v1/sessions/${session}/${name}`, body);
    expect(answer).toMatchObject({ status: 200, body: { status: 'ok' } });
  };
  const controlOf = async (gateway: RunningGateway, session: string) =>
    (await gateway.operator('GET', `/v1/sessions/${session}`)).body.control;
  const heldAt = async (gateway: RunningGateway, session: string) =>
    (await gateway.operator('GET', `/v1/held-calls?session_id=${session}`)).body.items.length;
  const policyOf = async (gateway: RunningGateway, agent: string) =>
    (await gateway.operator('GET', `/v1/agents/${agent}/policy`)).body;
  const auditOf = async (gateway: RunningGateway, session: string) =>
    (await gateway.operator('GET', `/v1/audit?session_id=${session}`)).body.items;
  /** A conversation that both have had a call of. */
  const begun = async () => {
    const session = `shared-${randomUUID()}`;
    say();
    for (const gateway of [one, other]) {
      await ask(gateway, session);
      await expect
        .poll(async () => (await gateway.operator('GET', `/v1/sessions/${session}`)).body, SOON)
        .toMatchObject({ step_count: 1 });
    }
    return session;
  };

  describe('what is set for all agents together', () => {
    const setTogether = (gateway: RunningGateway, patch: object) =>
      gateway.operator('PATCH', '/v1/all-agents/policy', patch);
    const policyAt = async (gateway: RunningGateway) =>
      (await gateway.operator('GET', '/v1/all-agents/policy')).body;

    test('holds at both, and counts what agents use at either as one', async () => {
      say();
      onTestFinished(async () => void (await setTogether(one, { requests_per_minute: null })));
      await setTogether(one, { requests_per_minute: 2 });
      await expect.poll(() => policyAt(other), SOON).toMatchObject({ requests_per_minute: 2 });
      await ask(one, 'together-1', 'Go', 'here');
      await ask(other, 'together-2', 'Go', 'there');
      const refusalAt = (gateway: RunningGateway) =>
        ask(gateway, 'together-3', 'Go', 'anywhere').then(
          () => null,
          ({ status }) => status,
        );
      // A call that Redis takes too long for goes through.
      for (const gateway of [one, other]) await expect.poll(() => refusalAt(gateway), SOON).toBe(429);
      await setTogether(other, { requests_per_minute: null });
      await expect.poll(() => policyAt(one), SOON).toMatchObject({ requests_per_minute: null });
      await ask(one, 'together-3', 'Go', 'anywhere');
    });

    test('their stop at one ends a call that runs at the other', async () => {
      upstream.script((call, response) =>
        openaiChat.answer(call, response, { text: 'Once upon a time', hangs: true }),
      );
      const sent = upstream.calls.length;
      const running = openaiChat.askStreaming(other.url, 'Tell me', { agent: 'teller' });
      const ended = expect(running).rejects.toThrow(/stopped all agents/);
      await expect.poll(() => upstream.calls.length, SOON).toBe(sent + 1);
      await one.operator('POST', '/v1/all-agents/deactivate', { reason: 'enough' });
      await ended;
      await expect(ask(other, 'together-4', 'Go', 'new')).rejects.toMatchObject({ status: 403 });
      await other.operator('POST', '/v1/all-agents/reactivate');
      await expect.poll(() => policyAt(one), SOON).toMatchObject({ active: true });
      say();
      for (const gateway of [one, other]) await ask(gateway, 'together-5', 'Go', 'new');
    });
  });

  test('a pause given at one holds the calls at the other, which any of them resumes', async () => {
    const session = await begun();
    await command(one, session, 'pause', { reason: 'let me look' });
    await expect
      .poll(() => controlOf(other, session), SOON)
      .toMatchObject({ state: 'pause_requested', operator_id: 'tester', reason: 'let me look' });
    const sentBefore = upstream.calls.length;
    const asked = ask(other, session);
    await expect.poll(() => heldAt(other, session), SOON).toBe(1);
    // The agent stands still there, and the operator who paused it here sees so.
    await expect.poll(() => controlOf(one, session), SOON).toMatchObject({ state: 'paused' });
    expect(upstream.calls).toHaveLength(sentBefore);
    await command(one, session, 'resume');
    await asked;
    await expect.poll(() => controlOf(other, session), SOON).toMatchObject({ state: 'active' });
    await command(other, session, 'pause', { reason: 'again' });
    await expect.poll(() => controlOf(one, session), SOON).toMatchObject({ reason: 'again' });
    await command(one, session, 'resume');
    await expect.poll(() => controlOf(other, session), SOON).toMatchObject({ state: 'active' });
    const told = (await auditOf(other, session)).filter(
      ({ detail }: { detail: { gateway_id?: string } }) => detail.gateway_id !== undefined,
    );
    expect(told.map(({ action, operator_id }: any) => `${operator_id} ${action}`).toSorted()).toEqual([
      'tester pause',
      'tester resume',
      'tester resume',
    ]);
  });

  test('a session that one of them ended is over at the other, also one that the other has never seen', async () => {
    const session = await begun();
    await command(one, session, 'terminate', { reason: 'enough' });
    await expect.poll(() => controlOf(other, session), SOON).toMatchObject({ state: 'terminated' });
    await expect(ask(other, session)).rejects.toMatchObject({ status: 403 });
    const unseen = `unseen-${randomUUID()}`;
    await ask(one, unseen);
    await expect
      .poll(async () => (await one.operator('GET', `/v1/sessions/${unseen}`)).status, SOON)
      .toBe(200);
    await command(one, unseen, 'pause', { reason: 'wait' });
    const isPausedThere = async () =>
      (await auditOf(other, unseen)).some(({ action }: { action: string }) => action === 'pause');
    await expect.poll(isPausedThere, SOON).toBe(true);
    expect((await other.operator('GET', '/v1/sessions')).status).toBe(200);
    const asked = ask(other, unseen).catch(({ status }) => status);
    await expect.poll(() => heldAt(other, unseen), SOON).toBe(1);
    await command(one, unseen, 'terminate', { reason: 'enough' });
    expect(await asked).toBe(403);
  });

  test('guidance is heard once, from whichever the next call reaches', async () => {
    const session = await begun();
    await command(one, session, 'inject', { prompt: 'Use the staging database.' });
    await expect.poll(() => controlOf(other, session), SOON).toMatchObject({ pending_directive_count: 1 });
    upstream.calls.length = 0;
    await ask(other, session);
    await expect.poll(() => controlOf(one, session), SOON).toMatchObject({ pending_directive_count: 0 });
    await ask(one, session);
    expect(upstream.calls.map(({ json }) => openaiChat.textOf(json).includes('staging database'))).toEqual([
      true,
      false,
    ]);
  });

  test('an agent that an operator stops at one may not call at the other, and limits are one for both', async () => {
    const agent = `bot-${randomUUID()}`;
    await one.operator('PATCH', `/v1/agents/${agent}/policy`, { budget_day_usd: 5, session_calls_max: 7 });
    await expect
      .poll(() => policyOf(other, agent), SOON)
      .toMatchObject({ budget_day_usd: 5, session_calls_max: 7, updated_by: 'tester' });
    await one.operator('POST', `/v1/agents/${agent}/deactivate`, { reason: 'on fire' });
    await expect
      .poll(() => policyOf(other, agent), SOON)
      .toMatchObject({ active: false, deactivated_by: 'tester', deactivated_reason: 'on fire' });
    await expect(ask(other, randomUUID(), 'x', agent)).rejects.toMatchObject({ status: 403 });
    await other.operator('POST', `/v1/agents/${agent}/reactivate`);
    await expect.poll(() => policyOf(one, agent), SOON).toMatchObject({ active: true });
    await one.operator('PATCH', `/v1/agents/${agent}/kill-switch`, { preset: 'strict' });
    await expect
      .poll(async () => (await other.operator('GET', `/v1/agents/${agent}/kill-switch`)).body.preset, SOON)
      .toBe('strict');
  });

  test('an agent that the kill switch stops at one is stopped at the other; who lets it in there closes the incident', async () => {
    const agent = `loop-${randomUUID()}`;
    const session = randomUUID();
    say('the same');
    for (let count = 0; count < 6; count += 1) await ask(one, session, 'Are you there?', agent);
    await expect
      .poll(() => policyOf(other, agent), SOON)
      .toMatchObject({ active: false, deactivated_by: 'kill_switch' });
    const calls = upstream.calls.length;
    await expect(ask(other, session, 'Hello?', agent)).rejects.toMatchObject({ status: 403 });
    expect(upstream.calls).toHaveLength(calls);
    await other.operator('POST', `/v1/agents/${agent}/reactivate`);
    await expect.poll(() => policyOf(one, agent), SOON).toMatchObject({ active: true });
    const [incident] = (await one.operator('GET', `/v1/incidents?agent_id=${agent}`)).body.items;
    expect(incident).toMatchObject({ reactivated_by: 'tester' });
  });

  test('one that was away hears at its start, before any call, what was said meanwhile', async () => {
    const session = await begun();
    const agent = `away-${randomUUID()}`;
    const { dataDir } = other;
    await other.kill();
    await command(one, session, 'pause', { reason: 'while you were out' });
    await one.operator('POST', `/v1/agents/${agent}/deactivate`, { reason: 'while you were out' });
    other = await startGateway({ env, dataDir });
    await expect(ask(other, randomUUID(), 'x', agent)).rejects.toMatchObject({ status: 403 });
    expect(await controlOf(other, session)).toMatchObject({ reason: 'while you were out' });
    await command(other, session, 'resume');
    await expect.poll(() => controlOf(one, session), SOON).toMatchObject({ state: 'active' });
  });

  test('one that was away for longer than Redis remembers says that it has missed words', async () => {
    const session = await begun();
    const agent = `away-${randomUUID()}`;
    const limit = (session_calls_max: number) =>
      one.operator('PATCH', `/v1/agents/${agent}/policy`, { session_calls_max });
    const connection = connectRedis(redis.socketPath, { onError: (failure) => expect.fail(String(failure)) });
    onTestFinished(() => connection.quit());
    await connection.open();
    const { client } = connection;
    await limit(1);
    await expect.poll(() => policyOf(other, agent), SOON).toMatchObject({ session_calls_max: 1 });
    expect(other.output()).not.toContain('"event":"control_missed"');
    const { dataDir } = other;
    await other.kill();
    await command(one, session, 'pause', { reason: 'forgotten' });
    await limit(2);
    await expect
      .poll(async () => {
        const [last] = await client.xrevrange('observatory:control', '+', '-', 'COUNT', 1);
        return last?.[1][1];
      }, SOON)
      .toContain('"session_calls_max":2');
    await client.xtrim('observatory:control', 'MAXLEN', 1);
    other = await startGateway({ env, dataDir });
    await expect.poll(() => policyOf(other, agent), SOON).toMatchObject({ session_calls_max: 2 });
    expect(other.output().match(/"level":"warn".*"event":"control_missed"/g)).toHaveLength(1);
    await command(one, session, 'resume');
  });

  test('a pause that expired while its gateway was away does not undo one that was given elsewhere meanwhile', async () => {
    const session = await begun();
    await other.operator('PATCH', '/v1/config', { hitl_pause_ttl_ms: 2_000 });
    await command(one, session, 'pause', { reason: 'first' });
    const expiresAtMs = async () => (await controlOf(other, session)).expires_at_ms;
    await expect.poll(expiresAtMs, SOON).not.toBeNull();
    const dueMs = await expiresAtMs();
    await other.operator('PATCH', '/v1/config', { hitl_pause_ttl_ms: null });
    const { dataDir } = other;
    await other.kill();
    await command(one, session, 'resume');
    await command(one, session, 'pause', { reason: 'second' });
    await expect.poll(() => Date.now(), SOON).toBeGreaterThan(dueMs);
    other = await startGateway({ env, dataDir });
    // A word behind whatever it says at its start.
    const agent = `mark-${randomUUID()}`;
    await other.operator('PATCH', `/v1/agents/${agent}/policy`, { session_calls_max: 1 });
    await expect.poll(() => policyOf(one, agent), SOON).toMatchObject({ session_calls_max: 1 });
    for (const gateway of [one, other])
      expect(await controlOf(gateway, session)).toMatchObject({ state: 'pause_requested', reason: 'second' });
    await command(one, session, 'resume');
  });

  test('a pause is over in its time though Redis stands still, of which the others are asked before', async () => {
    const session = await begun();
    await one.operator('PATCH', '/v1/config', { hitl_pause_ttl_ms: 2_000 });
    redis.freeze();
    onTestFinished(() => redis.thaw());
    await command(one, session, 'pause', { reason: 'brief' });
    await expect
      .poll(() => controlOf(one, session), SOON)
      .toMatchObject({ state: 'active', operator_id: 'system' });
    redis.thaw();
    await one.operator('PATCH', '/v1/config', { hitl_pause_ttl_ms: null });
    // A word behind whatever was on its way.
    const agent = `mark-${randomUUID()}`;
    await one.operator('PATCH', `/v1/agents/${agent}/policy`, { session_calls_max: 1 });
    await expect.poll(() => policyOf(other, agent), SOON).toMatchObject({ session_calls_max: 1 });
  });

  test('what was said while Redis was away, or before it forgot everything, is heard once it is back', async () => {
    const session = await begun();
    await redis.kill();
    await command(one, session, 'pause', { reason: 'without Redis' });
    await redis.start();
    await expect.poll(() => controlOf(other, session), SOON).toMatchObject({ reason: 'without Redis' });
    await command(other, session, 'resume');
    await expect.poll(() => controlOf(one, session), SOON).toMatchObject({ state: 'active' });
  });

  test('a word that nobody understands is passed over, and a key that is no list gives way', async () => {
    const session = await begun();
    const connection = connectRedis(redis.socketPath, { onError: (failure) => expect.fail(String(failure)) });
    onTestFinished(() => connection.quit());
    await connection.open();
    const { client } = connection;
    for (const text of ['{', 'null', '[]', '{"from":"x","id":"y","tenant_id":"default"}'])
      await client.xadd('observatory:control', '*', 'text', text);
    await client.xadd('observatory:control', '*', 'other', '1', 'fields', '2');
    await command(one, session, 'pause', { reason: 'behind nonsense' });
    await expect.poll(() => controlOf(other, session), SOON).toMatchObject({ reason: 'behind nonsense' });
    await expect.poll(() => other.output(), SOON).toMatch(/"level":"warn".*"event":"control_unreadable"/);
    await client.set('observatory:control', 'no list');
    await command(one, session, 'resume');
    await expect.poll(() => controlOf(other, session), SOON).toMatchObject({ state: 'active' });
  });

  test('operators who contradict each other at the same time end with the same state everywhere', async () => {
    const session = await begun();
    for (let round = 0; round < 10; round += 1) {
      const orders = [
        one.operator('POST', `/v1/sessions/${session}/pause`, { reason: `one ${round}` }),
        one.operator('POST', `/v1/sessions/${session}/resume`, {}),
        other.operator('POST', `/v1/sessions/${session}/pause`, { reason: `other ${round}` }),
        ...(round % 2 === 0 ? [other.operator('POST', `/v1/sessions/${session}/resume`, {})] : []),
      ];
      await Promise.all(orders);
      // A word of each behind all of these, so that both have heard everything that stands before it.
      for (const gateway of [one, other]) {
        const agent = `mark-${randomUUID()}`;
        await gateway.operator('PATCH', `/v1/agents/${agent}/policy`, { session_calls_max: 1 });
        for (const hears of [one, other])
          await vi.waitFor(
            async () => expect((await policyOf(hears, agent)).session_calls_max).toBe(1),
            SOON,
          );
      }
      const [here, there] = await Promise.all([controlOf(one, session), controlOf(other, session)]);
      expect(here.state === 'active').toBe(there.state === 'active');
    }
    await command(one, session, 'resume');
  });
});

test.skipIf(redisMissing !== null)('the age of a word is told by the clock of Redis alone', async () => {
  const redis = await startRedis();
  const connection = connectRedis(redis.socketPath, { onError: (failure) => expect.fail(String(failure)) });
  onTestFinished(async () => {
    await connection.quit();
    await redis.stop();
  });
  await connection.open();
  const { client } = connection;
  const log = new RedisControlLog(client);
  const [seconds] = (await client.time()) as [number, number];
  const hourAgo = Number(seconds) * 1_000 - 3_600_000;
  await client.xadd('observatory:control', `${hourAgo}-1`, 'text', 'an hour old');
  await log.append('new');
  const { entries } = await log.readAfter(null, 10);
  expect(entries.map(({ text }) => text)).toEqual(['an hour old', 'new']);
  const [old, young] = entries.map(({ ageMs }) => ageMs) as [number, number];
  expect(old).toBeGreaterThanOrEqual(3_600_000);
  expect(old - young).toBeLessThan(3_600_000 + 60_000);
  expect(young).toBeGreaterThanOrEqual(0);
  expect(young).toBeLessThan(60_000);
});
