/** A budget is a budget though the Redis that counts it dies, and comes back with nothing, in the middle of its period. */
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { connectRedis, type RedisConnection } from '#adapters/redis';
import { respondJson, ScriptedUpstream } from '#testing';
import { freePort } from '../free-ports.js';
import { AGENT_KEY, type RunningGateway, startGateway } from '../start-gateway.js';
import { type RedisServer, redisMissing, startRedis } from '../start-redis.js';

const SOON = { timeout: 15_000, interval: 50 };
/** Of 10,000 tokens at 0.6 dollars a million; what it is estimated at is a little more. */
const CALL_USD = 0.006;

describe.skipIf(redisMissing !== null)('a gateway whose Redis forgets', () => {
  let redis: RedisServer;
  let upstream: ScriptedUpstream;
  let gateway: RunningGateway;
  let env: Record<string, string>;
  /** Answers of the upstream, told to go on one by one. */
  let answers: (() => void)[];

  beforeAll(async () => {
    const port = await freePort();
    redis = await startRedis(['--port', String(port)]);
    upstream = await new ScriptedUpstream().listen();
    env = {
      OBSERVATORY_UPSTREAM_OPENAI_URL: `${upstream.origin}/v1`,
      OBSERVATORY_UPSTREAM_OPENAI_KEY: 'sk-test-upstream',
      REDIS_URL: `redis://127.0.0.1:${port}`,
    };
    gateway = await startGateway({ env });
    await vi.waitFor(async () => expect(await isConnected()).toBe(true), SOON);
  });
  afterAll(async () => {
    await gateway?.stop();
    await upstream?.close();
    await redis?.stop();
  });

  const system = async (at = gateway) => (await at.operator('GET', '/v1/system')).body;
  const isConnected = async (at = gateway) => (await system(at)).redis.connected;
  const failedOpenCount = async (at = gateway) => (await system(at)).fail_open.rate_limiter ?? 0;
  const setBudget = (agent: string, budget_month_usd: number, at = gateway) =>
    at.operator('PATCH', `/v1/agents/${agent}/policy`, { budget_month_usd });
  const spentBy = async (agent: string) =>
    (await gateway.operator('GET', `/v1/agents/${agent}`)).body.spend.month.spent_usd;

  const answerAtOnce = (completion_tokens = 10_000) =>
    upstream.script((_call, response) => respondJson(response, 200, answerOf(completion_tokens)));
  const answerWhenTold = (completion_tokens: number) => {
    answers = [];
    upstream.script((_call, response) => {
      answers.push(() => respondJson(response, 200, answerOf(completion_tokens)));
    });
  };
  const answerOf = (completion_tokens: number) => ({
    model: 'gpt-4o-mini',
    choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'Done.' } }],
    usage: { prompt_tokens: 0, completion_tokens },
  });

  let serial = 0;
  const ask = async (agent: string, at = gateway): Promise<number> => {
    serial += 1;
    const { status } = await fetch(`${at.url}/agents/${agent}/proxy/openai/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${AGENT_KEY}`, 'x-observatory-session': `session-${serial}` },
      body: JSON.stringify({
        model: 'gpt-4o-mini',
        max_tokens: 10_000,
        messages: [{ role: 'user', content: `Question ${serial}` }],
      }),
    });
    return status;
  };
  /** Of a call that was counted: one that Redis is too slow for goes on. */
  const askCounted = async (agent: string, at = gateway): Promise<number> => {
    const before = await failedOpenCount(at);
    const status = await ask(agent, at);
    return (await failedOpenCount(at)) === before ? status : askCounted(agent, at);
  };
  /** However many calls that takes: one that Redis is too slow for goes on, and is spent. */
  const spendBudget = async (agent: string, at = gateway): Promise<void> => {
    for (let status = 200; status !== 429; status = await ask(agent, at)) expect(status).toBe(200);
  };
  const dieAndComeBack = async () => {
    await redis.kill();
    await expect.poll(isConnected, SOON).toBe(false);
    await redis.start();
    await expect.poll(isConnected, SOON).toBe(true);
  };

  const inRedis = async (work: (client: RedisConnection['client']) => Promise<unknown>) => {
    const connection = connectRedis(redis.socketPath, { onError: (failure) => expect.fail(String(failure)) });
    await connection.open();
    await work(connection.client);
    await connection.quit();
  };
  /** As an operator may, or an eviction. */
  const empty = () => inRedis((client) => client.flushall());

  test('Prometheus is told whether Redis answers, without any call', async () => {
    const told = async () =>
      /^observatory_redis_connected (.*)$/m.exec(await (await fetch(`${gateway.url}/metrics`)).text())?.[1];
    expect(await told()).toBe('1');
    redis.freeze();
    expect(await told()).toBe('0');
    redis.thaw();
    await expect.poll(told, SOON).toBe('1');
  });

  test('knows what was spent, also while nobody counted', async () => {
    const agent = 'spender';
    await setBudget(agent, 2.5 * CALL_USD);
    answerAtOnce();
    await spendBudget(agent);
    await redis.kill();
    await expect.poll(isConnected, SOON).toBe(false);
    expect(await ask(agent)).toBe(200);
    await redis.start();
    await expect.poll(isConnected, SOON).toBe(true);
    expect(await askCounted(agent)).toBe(429);
  });

  test('says that Redis refuses, where it answers with an error', async () => {
    await setBudget('refused', 1);
    answerAtOnce();
    const setMemory = (bytes: string) => inRedis((client) => client.config('SET', 'maxmemory', bytes));
    await setMemory('1');
    try {
      const refusedCount = async (): Promise<number> => {
        expect(await ask('refused')).toBe(200);
        return (await system()).limiter_fail_open.reply ?? 0;
      };
      await expect.poll(refusedCount, SOON).toBeGreaterThan(0);
    } finally {
      await setMemory('0');
    }
    const line = /"reason":"reply".*Redis answered the limiter with an error/;
    await expect.poll(() => gateway.output(), SOON).toMatch(line);
  });

  test('says that it is away, and since when, where it hangs, also while nobody calls', async () => {
    const state = async () => (await system()).redis;
    expect(await state()).toEqual({ configured: true, connected: true, away_since_ms: null });
    const frozenAtMs = Date.now();
    redis.freeze();
    try {
      const { connected, away_since_ms } = await state();
      expect(connected).toBe(false);
      expect(away_since_ms).toBeGreaterThanOrEqual(frozenAtMs);
      expect(away_since_ms).toBeLessThanOrEqual(Date.now());
      expect(await state()).toEqual({ configured: true, connected, away_since_ms });
    } finally {
      redis.thaw();
    }
    await expect.poll(isConnected, SOON).toBe(true);
    expect((await state()).away_since_ms).toBe(null);
  });

  test('knows it after one more call where Redis was emptied and never went away', async () => {
    const agent = 'flushed';
    await setBudget(agent, 2.5 * CALL_USD);
    answerAtOnce();
    await spendBudget(agent);
    await empty();
    for (const status of [200, 429]) expect(await askCounted(agent)).toBe(status);
  });

  test('knows it after one more call where something else stands under its names, which costs no call', async () => {
    const agent = 'overwritten';
    await setBudget(agent, 2.5 * CALL_USD);
    answerAtOnce();
    await spendBudget(agent);
    await inRedis(async (client) => {
      const names = await client.keys(`*${agent}*`);
      expect(names).not.toEqual([]);
      for (const name of names) await client.set(name, 'not ours');
    });
    for (const status of [200, 429]) expect(await askCounted(agent)).toBe(status);
  });

  test('knows it after one more call where a call was under way then, and took more than it was estimated at', async () => {
    const agent = 'flushed-while-busy';
    await setBudget(agent, 4.5 * CALL_USD);
    answerAtOnce();
    for (const status of [200, 200]) expect(await askCounted(agent)).toBe(status);
    answerWhenTold(12_000);
    const asked = ask(agent);
    await expect.poll(() => answers.length).toBe(1);
    await empty();
    answers[0]?.();
    expect(await asked).toBe(200);
    await expect.poll(() => spentBy(agent)).toBeCloseTo(3.2 * CALL_USD, 9);
    answerAtOnce();
    for (const status of [200, 429]) expect(await askCounted(agent)).toBe(status);
  });

  test('knows it of the hour where its own clock is two hours behind that of Redis', async () => {
    const clock = 'data:text/javascript,const{now}=Date;Date.now=()=>now()-7200000';
    const behind = await startGateway({ env: { ...env, NODE_OPTIONS: `--import=${clock}` } });
    try {
      await vi.waitFor(async () => expect(await isConnected(behind)).toBe(true), SOON);
      const agent = 'hourly';
      await behind.operator('PATCH', `/v1/agents/${agent}/policy`, { budget_hour_usd: 2.5 * CALL_USD });
      answerAtOnce();
      await spendBudget(agent, behind);
      await empty();
      for (const status of [200, 429]) expect(await askCounted(agent, behind)).toBe(status);
    } finally {
      await behind.stop();
    }
  });

  describe('and which is not the only one', () => {
    let other: RunningGateway;
    const connected = (at: RunningGateway) =>
      vi.waitFor(async () => expect(await isConnected(at)).toBe(true), SOON);

    beforeAll(async () => {
      other = await startGateway({ env });
      await connected(other);
    });
    afterAll(() => other?.stop());

    const spendThroughBoth = async (agent: string, callsThroughEach: number, callsMax: number) => {
      answerAtOnce();
      for (const at of [gateway, other]) await setBudget(agent, (callsMax + 0.5) * CALL_USD, at);
      for (let call = 0; call < callsThroughEach; call += 1)
        for (const at of [gateway, other]) expect(await askCounted(agent, at)).toBe(200);
    };

    test('knows after one more call through each what all of them have spent', async () => {
      const agent = 'flushed-of-both';
      await spendThroughBoth(agent, 3, 6);
      await empty();
      for (const at of [gateway, other]) expect(await askCounted(agent, at)).toBe(200);
      for (const at of [gateway, other]) expect(await askCounted(agent, at)).toBe(429);
    });

    test('knows it where all of them begin anew', async () => {
      const agent = 'restarted';
      await spendThroughBoth(agent, 2, 4);
      for (const at of [gateway, other]) await at.stop();
      await empty();
      gateway = await startGateway({ env, dataDir: gateway.dataDir });
      await connected(gateway);
      other = await startGateway({ env, dataDir: other.dataDir });
      await connected(other);
      for (const at of [gateway, other]) expect(await askCounted(agent, at)).toBe(429);
    });
  });

  test('gives back of calls under way what they took, and no more', async () => {
    const agent = 'busy';
    await setBudget(agent, 4.5 * CALL_USD);
    answerAtOnce();
    for (const status of [200, 200]) expect(await askCounted(agent)).toBe(status);
    answerWhenTold(0);
    const asked = [ask(agent), ask(agent)];
    await expect.poll(() => answers.length).toBe(2);
    await dieAndComeBack();
    expect(await askCounted(agent)).toBe(429);
    for (const answer of answers) answer();
    expect(await Promise.all(asked)).toEqual([200, 200]);
    answerAtOnce();
    await expect.poll(() => spentBy(agent)).toBeCloseTo(2 * CALL_USD, 9);
    for (const status of [200, 200, 429]) expect(await askCounted(agent)).toBe(status);
  });

  test('gives back what calls had taken that ended while it was away, where it has forgotten nothing', async () => {
    const agent = 'unfinished';
    await setBudget(agent, 2.5 * CALL_USD);
    answerWhenTold(0);
    const asked = [ask(agent), ask(agent)];
    await expect.poll(() => answers.length).toBe(2);
    expect(await askCounted(agent)).toBe(429);
    await inRedis((client) => client.save());
    await redis.kill();
    await expect.poll(isConnected, SOON).toBe(false);
    for (const answer of answers) answer();
    expect(await Promise.all(asked)).toEqual([200, 200]);
    await redis.start();
    await expect.poll(isConnected, SOON).toBe(true);
    answerAtOnce();
    await expect.poll(() => askCounted(agent), SOON).toBe(200);
    for (const status of [200, 429]) expect(await askCounted(agent)).toBe(status);
    // Those behind this one begin with nothing.
    await inRedis(async (client) => {
      await client.flushall();
      await client.save();
    });
  });

  describe('or stands still for a moment', () => {
    /** Each goes on uncounted; the wait for its limits is over by then. */
    const askFrozen = async (agent: string, count: number) => {
      const before = await failedOpenCount();
      redis.freeze();
      for (let index = 0; index < count; index += 1) expect(await ask(agent)).toBe(200);
      redis.thaw();
      expect(await failedOpenCount()).toBe(before + count);
    };

    test('keeps nothing of what calls of that time were estimated at', async () => {
      const agent = 'estimated';
      await setBudget(agent, 2.5 * CALL_USD);
      answerAtOnce(0);
      expect(await askCounted(agent)).toBe(200);
      await askFrozen(agent, 4);
      expect(await askCounted(agent)).toBe(200);
    });

    test('knows what they spent', async () => {
      const agent = 'uncounted';
      await setBudget(agent, 4.5 * CALL_USD);
      answerAtOnce();
      expect(await askCounted(agent)).toBe(200);
      await askFrozen(agent, 3);
      expect(await askCounted(agent)).toBe(429);
    });
  });

  test('knows what a call spent that was under way when it came back', async () => {
    const agent = 'across';
    await setBudget(agent, 2.5 * CALL_USD);
    answerAtOnce();
    expect(await askCounted(agent)).toBe(200);
    await redis.kill();
    await expect.poll(isConnected, SOON).toBe(false);
    answerWhenTold(10_000);
    const asked = ask(agent);
    await expect.poll(() => answers.length).toBe(1);
    await redis.start();
    await expect.poll(isConnected, SOON).toBe(true);
    answers[0]?.();
    expect(await asked).toBe(200);
    await expect.poll(() => spentBy(agent)).toBeCloseTo(2 * CALL_USD, 9);
    expect(await askCounted(agent)).toBe(429);
  });

  test('knows it too where it was there before its Redis', async () => {
    const agent = 'early';
    await setBudget(agent, 1.5 * CALL_USD);
    answerAtOnce();
    expect(await askCounted(agent)).toBe(200);
    await gateway.stop();
    await redis.kill();
    gateway = await startGateway({ dataDir: gateway.dataDir, env });
    await redis.start();
    await expect.poll(isConnected, SOON).toBe(true);
    expect(await askCounted(agent)).toBe(429);
  });
});
