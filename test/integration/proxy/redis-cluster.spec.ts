/** Two gateways that are told of a Redis Cluster by `REDIS_URL` alone: one cache, and one count of what an agent may. */
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { ScriptedUpstream } from '#testing';
import { type RunningGateway, startGateway } from '../start-gateway.js';
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
});
