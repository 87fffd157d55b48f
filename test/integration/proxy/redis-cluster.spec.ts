/** Two gateways that are told of a Redis Cluster by `REDIS_URL` alone: one cache, and one count of what an agent may. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { connectRedis } from '#adapters/redis';
import { ScriptedUpstream } from '#testing';
import { type RunningGateway, startGateway } from '../start-gateway.js';
import type { RedisServer } from '../start-redis.js';
import { clusterMissing, type RedisCluster, startRedisCluster } from '../start-redis-cluster.js';
import { always, openaiChat } from './vendors.js';

const SOON = { timeout: 15_000, interval: 50 };

describe.skipIf(clusterMissing !== null)('two gateways on one Redis Cluster', () => {
  let cluster: RedisCluster;
  let upstream: ScriptedUpstream;
  let gateways: [RunningGateway, RunningGateway];
  beforeAll(async () => {
    cluster = await startRedisCluster();
    upstream = await new ScriptedUpstream().listen();
    const start = () =>
      startGateway({
        env: {
          OBSERVATORY_UPSTREAM_OPENAI_URL: `${upstream.origin}/v1`,
          OBSERVATORY_UPSTREAM_OPENAI_KEY: 'sk-test-upstream',
          // Of two nodes, which tell of the third.
          REDIS_URL: cluster.urls.slice(1).join(', '),
          LLM_CACHE_BACKEND: 'auto',
          LLM_CACHE_SEMANTIC: 'off',
        },
      });
    gateways = [await start(), await start()];
    for (const gateway of gateways)
      await vi.waitFor(
        async () => expect(await stats(gateway)).toMatchObject({ backend: 'redis', is_degraded: false }),
        SOON,
      );
  });
  afterAll(async () => {
    for (const gateway of gateways) expect(await gateway.stop()).toBe(0);
    await upstream.close();
    await cluster.stop();
  });

  const stats = async (gateway: RunningGateway) => (await gateway.operator('GET', '/v1/cache/stats')).body;

  test('share answers', async () => {
    const [one, other] = gateways;
    upstream.script(always(openaiChat, { text: 'Of sixteen thousand slots.' }));
    await openaiChat.ask(one.url, 'What is a cluster made of?');
    await expect.poll(async () => (await stats(one)).total_entries, SOON).toBe(1);
    const fromOther = () =>
      openaiChat
        .ask(other.url, 'What is a cluster made of?', { headers: { 'x-observatory-cache': 'only' } })
        .then(
          ({ text }) => text,
          () => 'not there',
        );
    await expect.poll(fromOther, SOON).toBe('Of sixteen thousand slots.');
    expect(upstream.calls).toHaveLength(1);
  });

  test('obey what is commanded at either', async () => {
    const [one, other] = gateways;
    const policy = async (at: RunningGateway) => (await at.operator('GET', '/v1/agents/loud/policy')).body;
    await one.operator('POST', '/v1/agents/loud/deactivate', { reason: 'too loud' });
    await expect.poll(() => policy(other), SOON).toMatchObject({ active: false, deactivated_by: 'tester' });
    await other.operator('POST', '/v1/agents/loud/reactivate');
    await expect.poll(() => policy(one), SOON).toMatchObject({ active: true });
  });

  test('count the calls of an agent together', async () => {
    const agent = 'clustered';
    for (const gateway of gateways)
      await gateway.operator('PATCH', `/v1/agents/${agent}/policy`, { requests_per_minute: 3 });
    upstream.script(always(openaiChat, { text: 'Counted.' }));
    const headers = { 'x-observatory-agent': agent, 'x-observatory-cache': 'bypass' };
    const refusedBy = new Set<RunningGateway>();
    let answeredCount = 0;
    for (let serial = 0; refusedBy.size < 2; serial += 1) {
      const gateway = gateways[serial % 2] as RunningGateway;
      await openaiChat.ask(gateway.url, `Count ${serial}`, { headers }).then(
        () => {
          answeredCount += 1;
        },
        ({ status }) => {
          expect(status).toBe(429);
          refusedBy.add(gateway);
        },
      );
    }
    // Each by itself would have answered three. A call that Redis does not count in time goes on.
    expect(answeredCount).toBeGreaterThanOrEqual(3);
    expect(answeredCount).toBeLessThan(6);
  });

  /** Answers that lie on this node: which of them do is another each time, for what is asked of whom is in their names. */
  const answersOn = async ({ socketPath }: RedisServer): Promise<number> => {
    const connection = connectRedis(socketPath, { onError: (failure) => expect.fail(String(failure)) });
    await connection.open();
    const names = await connection.client.keys('*:{*:*}');
    await connection.quit();
    return names.length;
  };

  test('fail open, counted, for what lies on a node that died, hold to the rest, and to all once it is back', {
    timeout: 90_000,
  }, async () => {
    const [one] = gateways;
    const agents = Array.from({ length: 24 }, (_, at) => `spread-${at}`);
    for (const agent of agents)
      await one.operator('PATCH', `/v1/agents/${agent}/policy`, { requests_per_minute: 1 });
    // Never the same twice: who asks and hears the same over and over is a loop.
    upstream.script(always(openaiChat, () => ({ text: randomUUID() })));
    /** Of one more call of each agent, whom their limits refuse. */
    const refused = async () => {
      const those: string[] = [];
      for (const agent of agents) {
        const headers = { 'x-observatory-agent': agent, 'x-observatory-cache': 'bypass' };
        await openaiChat.ask(one.url, randomUUID(), { headers }).catch(({ status }) => {
          expect(status).toBe(429);
          those.push(agent);
        });
      }
      return those;
    };
    let round = 0;
    /** Of a question about each agent, how many the cache answers; asked by somebody else each time, who is no loop. */
    const servedCount = async () => {
      const [agent, before] = [`reader-${++round}`, upstream.calls.length];
      for (const about of agents) await openaiChat.ask(one.url, `What may ${about} do?`, { agent });
      return agents.length - (upstream.calls.length - before);
    };
    const failedOpenCount = async () =>
      (await one.operator('GET', '/v1/system')).body.fail_open.rate_limiter ?? 0;
    const [, , dying] = cluster.nodes as [RedisServer, RedisServer, RedisServer];
    const answersBefore = await answersOn(dying);
    await expect.poll(refused, SOON).toEqual(agents);
    await expect.poll(servedCount, SOON).toBe(agents.length);
    const lostCount = (await answersOn(dying)) - answersBefore;

    await dying.kill();
    const before = await failedOpenCount();
    const openCount = agents.length - (await refused()).length;
    expect(openCount).toBeGreaterThan(0);
    expect(await failedOpenCount()).toBe(before + openCount);
    // The two others answer for what they hold, once the first surprise is over.
    const mostly = agents.length / 2;
    await expect.poll(async () => (await refused()).length, SOON).toBeGreaterThan(mostly);
    await expect.poll(servedCount, SOON).toBe(agents.length - lostCount);
    expect((await refused()).length).toBeLessThan(agents.length);
    expect(await servedCount()).toBeLessThan(agents.length);

    await dying.start();
    await expect.poll(refused, SOON).toEqual(agents);
    await expect.poll(servedCount, SOON).toBe(agents.length);
  });
});
