/**
 * Two gateways on one Redis, one of them with a call that a pause holds, the other with an operator who sets other limits meanwhile:
 * what is taken of them in Redis is then what the calls have used, neither twice nor never.
 */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { connectRedis, type RedisConnection, RedisRateLimiter } from '#adapters/redis';
import { type AgentLimits, agentScope, NO_LIMITS } from '#contracts';
import { type LimitName, limitWindows } from '#domain/policy';
import { respondJson, ScriptedUpstream } from '#testing';
import { freePort } from '../free-ports.js';
import { redisConnected } from '../redis-connected.js';
import { AGENT_KEY, type RunningGateway, startGateway } from '../start-gateway.js';
import { type RedisServer, redisMissing, startRedis } from '../start-redis.js';

const SOON = { timeout: 15_000, interval: 25 };
const TENANT = 'default';
/** What a call takes of a budget in truth: 1,000 tokens at 0.6 dollars a million; it is estimated at ten times as much, and some. */
const CALL_MICRO_USD = 600;
const ESTIMATE_MICRO_USD = 6_000;
const CALL_TOKENS = 1_000;
const EVERY_LIMIT = {
  requests_per_minute: 100,
  tokens_per_minute: 1_000_000,
  budget_hour_usd: 1,
  budget_day_usd: 1,
  budget_month_usd: 1,
};
const ROOMY = { ...NO_LIMITS, ...EVERY_LIMIT };

describe.skipIf(redisMissing !== null)('a call that is held while its policy changes elsewhere', () => {
  let redis: RedisServer;
  let connection: RedisConnection;
  let upstream: ScriptedUpstream;
  let env: Record<string, string>;
  let one: RunningGateway;
  let other: RunningGateway;
  let agent: string;
  let session: string;

  beforeAll(async () => {
    const port = await freePort();
    redis = await startRedis(['--port', String(port)]);
    connection = connectRedis(redis.socketPath, { onError: (failure) => expect.fail(String(failure)) });
    await connection.open();
    upstream = await new ScriptedUpstream().listen();
    upstream.script((_call, response) =>
      respondJson(response, 200, {
        model: 'gpt-4o-mini',
        choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'Done.' } }],
        usage: { prompt_tokens: 0, completion_tokens: CALL_TOKENS },
      }),
    );
    env = {
      OBSERVATORY_UPSTREAM_OPENAI_URL: `${upstream.origin}/v1`,
      OBSERVATORY_UPSTREAM_OPENAI_KEY: 'sk-test-upstream',
      REDIS_URL: `redis://127.0.0.1:${port}`,
    };
    [one, other] = (await Promise.all([startGateway({ env }), startGateway({ env })])) as [
      RunningGateway,
      RunningGateway,
    ];
    await Promise.all([one, other].map(redisConnected));
  });
  afterAll(async () => {
    for (const gateway of [one, other]) expect(await gateway?.stop()).toBe(0);
    await connection?.quit();
    await upstream?.close();
    await redis?.stop();
  });

  const ask = async (gateway: RunningGateway, inSession = session) => {
    const response = await fetch(`${gateway.url}/agents/${agent}/proxy/openai/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${AGENT_KEY}`, 'x-observatory-session': inSession },
      body: JSON.stringify({
        model: 'gpt-4o-mini',
        max_tokens: 10_000,
        messages: [{ role: 'user', content: randomUUID() }],
      }),
    });
    await response.arrayBuffer();
    return response.status;
  };
  const policyAt = async (gateway: RunningGateway) =>
    (await gateway.operator('GET', `/v1/agents/${agent}/policy`)).body;
  /** At one of them; the other has heard of it then. */
  const limit = async (limits: Partial<AgentLimits>) => {
    await one.operator('PATCH', `/v1/agents/${agent}/policy`, limits);
    for (const gateway of [one, other])
      await expect.poll(() => policyAt(gateway), SOON).toMatchObject(limits);
  };
  const controlAt = async (gateway: RunningGateway) =>
    (await gateway.operator('GET', `/v1/sessions/${session}`)).body.control?.state;
  const command = (name: string, body: object = {}) =>
    one.operator('POST', `/v1/sessions/${session}/${name}`, body);
  const heldCount = async () =>
    (await other.operator('GET', `/v1/held-calls?session_id=${session}`)).body.items.length;

  /** Of all limits, whichever are set: what Redis has counted. */
  const used = async (): Promise<Record<LimitName, number>> => {
    const look = new RedisRateLimiter({
      client: connection.client,
      gatewayId: 'onlooker',
      replyTimeoutMs: 5_000,
    });
    const nothing = { requests: 0, tokens: 0, costMicroUsd: 0 };
    const windows = limitWindows(agentScope(TENANT, agent), ROOMY, nothing, Date.now());
    const decision = await look.take(windows);
    return Object.fromEntries(
      windows.map(({ name }, at) => [name, decision.windows[at]?.used ?? Number.NaN]),
    ) as Record<LimitName, number>;
  };
  const ofCalls = (count: number, estimated = 0) => {
    const money = count * CALL_MICRO_USD + estimated;
    return { budget_hour: money, budget_day: money, budget_month: money };
  };
  const failedOpenCount = async () => {
    const systems = await Promise.all([one, other].map((gateway) => gateway.operator('GET', '/v1/system')));
    return systems.reduce((sum, { body }) => sum + (body.fail_open.rate_limiter ?? 0), 0);
  };
  /** A call that Redis is too slow for goes on uncounted: where that was so, all of it once more, by another agent. */
  const testCounted = (title: string, run: () => Promise<void>) =>
    test(title, async () => {
      for (;;) {
        agent = `bot-${randomUUID()}`;
        session = `s-${agent}`;
        const before = await failedOpenCount();
        const failure = await run().then(
          () => null,
          (error: unknown) => ({ error }),
        );
        if (failure === null) return;
        // A gateway that was started in the test counts anew.
        if ((await failedOpenCount()) <= before) throw failure.error;
      }
    });

  /** A session that both know, paused, with a call at the other gateway that waits. @returns what comes of that call */
  const holdOne = async (): Promise<{ outcome: Promise<number> }> => {
    for (const gateway of [one, other]) expect(await ask(gateway)).toBe(200);
    await expect.poll(() => controlAt(one), SOON).toBe('active');
    await command('pause', { reason: 'look' });
    await expect.poll(() => controlAt(other), SOON).toBe('pause_requested');
    const outcome = ask(other).catch(() => 0);
    await expect.poll(heldCount, SOON).toBe(1);
    return { outcome };
  };

  testCounted(
    'takes of the limits as they are when it goes on, and gives back what it had taken',
    async () => {
      await limit(EVERY_LIMIT);
      const { outcome } = await holdOne();
      const held = await used();
      expect(held.requests_per_minute).toBe(3);
      expect(held.budget_day).toBeGreaterThan(2 * CALL_MICRO_USD + ESTIMATE_MICRO_USD);
      await limit({ requests_per_minute: 3, budget_hour_usd: 0.9, budget_day_usd: 0.0075 });
      await command('resume');
      expect(await outcome).toBe(200);
      const three = { ...ofCalls(3), requests_per_minute: 3, tokens_per_minute: 3 * CALL_TOKENS };
      await expect.poll(used, SOON).toEqual(three);
      // At either of them: there is room for no further call, of requests or of the day's budget.
      for (const gateway of [one, other]) expect(await ask(gateway, 'another')).toBe(429);
      await limit({ requests_per_minute: 100 });
      for (const gateway of [one, other]) expect(await ask(gateway, 'another')).toBe(429);
      await expect.poll(used, SOON).toEqual(three);
      await limit({ budget_day_usd: 1 });
      expect(await ask(one, 'another')).toBe(200);
      await expect.poll(used, SOON).toMatchObject({ ...ofCalls(4), requests_per_minute: 4 });
    },
  );

  testCounted('that has no room under the new limits has taken nothing of the old or the new', async () => {
    await limit(EVERY_LIMIT);
    const { outcome } = await holdOne();
    await limit({ budget_month_usd: 0.0012 });
    await command('resume');
    expect(await outcome).toBe(429);
    await expect
      .poll(used, SOON)
      .toEqual({ ...ofCalls(2), requests_per_minute: 2, tokens_per_minute: 2 * CALL_TOKENS });
  });

  testCounted('counts in a budget that comes while it is held', async () => {
    const { outcome } = await holdOne();
    await limit({ budget_day_usd: 1 });
    await limit({ budget_day_usd: null });
    await limit({ budget_day_usd: 1, budget_month_usd: 1 });
    await command('resume');
    expect(await outcome).toBe(200);
    await limit({ budget_hour_usd: 1 });
    await expect.poll(used, SOON).toMatchObject(ofCalls(3));
  });

  const startOtherAgain = async () => {
    other = await startGateway({ env, dataDir: other.dataDir });
    await redisConnected(other);
  };

  testCounted('has taken nothing where its gateway is ended', async () => {
    await limit(EVERY_LIMIT);
    const { outcome } = await holdOne();
    await limit({ budget_day_usd: 0.9 });
    expect(await other.stop()).toBe(0);
    expect(await outcome).not.toBe(200);
    await expect.poll(used, SOON).toMatchObject({ ...ofCalls(2), requests_per_minute: 2 });
    await startOtherAgain();
    await command('resume');
    for (const gateway of [one, other]) expect(await ask(gateway, 'another')).toBe(200);
    await expect.poll(used, SOON).toMatchObject({ ...ofCalls(4), requests_per_minute: 4 });
  });

  testCounted('leaves its estimate behind, once, where its gateway is killed', async () => {
    await limit(EVERY_LIMIT);
    const { outcome } = await holdOne();
    const estimated = (await used()).budget_month - 2 * CALL_MICRO_USD;
    await limit({ budget_day_usd: 0.9 });
    await other.kill();
    expect(await outcome).toBe(0);
    expect(await used()).toMatchObject(ofCalls(2, estimated));
    await startOtherAgain();
    await limit({ budget_day_usd: 0.8 });
    await command('resume');
    for (const gateway of [one, other]) expect(await ask(gateway, 'another')).toBe(200);
    await expect.poll(used, SOON).toMatchObject({ ...ofCalls(4, estimated), requests_per_minute: 5 });
  });
});
