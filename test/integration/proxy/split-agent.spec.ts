/** A balancer that takes turns sends an agent to two gateways, and each of them tells its operators. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { connectRedis, RedisAgentHomes } from '#adapters/redis';
import { agentScope } from '#contracts';
import { ScriptedUpstream } from '#testing';
import { freePort } from '../free-ports.js';
import { redisConnected } from '../redis-connected.js';
import { type RunningGateway, startGateway } from '../start-gateway.js';
import { type RedisServer, redisMissing, startRedis } from '../start-redis.js';
import { always, openaiChat } from './vendors.js';

const SOON = { timeout: 60_000, interval: 200 };

describe.skipIf(redisMissing !== null)('two gateways on one Redis', () => {
  let redis: RedisServer;
  let upstream: ScriptedUpstream;
  let gateways: RunningGateway[];

  beforeAll(async () => {
    const port = await freePort();
    redis = await startRedis(['--port', String(port)]);
    upstream = await new ScriptedUpstream().listen();
    upstream.script(always(openaiChat, () => ({ text: randomUUID() })));
    const env = {
      OBSERVATORY_UPSTREAM_OPENAI_URL: `${upstream.origin}/v1`,
      OBSERVATORY_UPSTREAM_OPENAI_KEY: 'sk-test-upstream',
      REDIS_URL: `redis://127.0.0.1:${port}`,
    };
    gateways = [await startGateway({ env }), await startGateway({ env })];
    for (const gateway of gateways) await redisConnected(gateway);
  });
  afterAll(async () => {
    for (const gateway of gateways) await gateway.stop();
    await upstream.close();
    await redis.stop();
  });

  const ask = (gateway: RunningGateway, agent: string) =>
    openaiChat.ask(gateway.url, randomUUID(), { headers: { 'x-observatory-agent': agent } });
  const isSplit = async (gateway: RunningGateway, agent: string) =>
    (await gateway.operator('GET', `/v1/agents/${agent}`)).body.is_split;
  const splitCount = async ({ url, operatorToken }: RunningGateway) => {
    const headers = { authorization: `Bearer ${operatorToken}` };
    const text = await (await fetch(`${url}/metrics`, { headers })).text();
    return /^observatory_split_agents (\d+)$/m.exec(text)?.[1];
  };

  test('tell of an agent whose calls reach both, and of no other', async () => {
    const [one, other] = gateways as [RunningGateway, RunningGateway];
    const both = async () => {
      await ask(one, 'stays');
      for (const gateway of gateways) await ask(gateway, 'taken-in-turns');
      return Promise.all(gateways.map((gateway) => isSplit(gateway, 'taken-in-turns')));
    };
    await expect.poll(both, SOON).toEqual([true, true]);
    expect(await isSplit(one, 'stays')).toBe(false);
    expect(await splitCount(other)).toBe('1');
    expect(one.output()).toMatch(/"level":"warn".*"event":"agent_split".*"agent_id":"taken-in-turns"/);
  });

  test('have one key for an agent, which expires, and takes the place of what else lies there', async () => {
    const connection = connectRedis(redis.socketPath, { onError: (failure) => expect.fail(String(failure)) });
    await connection.open();
    const { client } = connection;
    const [here, there] = ['here', 'there'].map((gatewayId) => new RedisAgentHomes({ client, gatewayId }));
    const agents = [agentScope('a', 'b:{c}'), agentScope('a:b', '{c}')];
    expect(await here?.claim(agents)).toEqual([false, false]);
    expect(await there?.claim(agents.slice(1))).toEqual([true]);
    expect(await here?.claim(agents)).toEqual([false, true]);
    const keys = (await client.keys('observatory:home:*')).filter((key) => key.includes('c'));
    expect(keys).toHaveLength(2);
    for (const key of keys) {
      expect(await client.pttl(key)).toBeGreaterThan(0);
      await client.del(key);
      await client.hset(key, 'of', 'somebody else');
    }
    expect(await there?.claim(agents)).toEqual([false, false]);
    expect(await here?.claim(agents)).toEqual([true, true]);
    await connection.quit();
  });
});

describe.skipIf(redisMissing !== null).each(['dies', 'hangs'] as const)(
  'a Redis that %s between two hundreds of agents',
  (how) => {
    test('has told of the first, rejects nothing, and tells of all of them once it is back', async () => {
      const redis = await startRedis();
      const connections = ['here', 'there'].map(() =>
        connectRedis(redis.socketPath, { onError: () => {}, reconnectMaxMs: 50 }),
      );
      onTestFinished(async () => {
        redis.thaw();
        for (const connection of connections) await connection.quit();
        await redis.stop();
      });
      for (const connection of connections) expect(await connection.open()).toBe(true);
      const [here, there] = connections.map(
        ({ client }, at) => new RedisAgentHomes({ client, gatewayId: `gateway-${at}` }),
      ) as [RedisAgentHomes, RedisAgentHomes];
      const agents = Array.from({ length: 250 }, (_, at) => agentScope('t', `bot-${at}`));
      const movesOf = async (homes: RedisAgentHomes) => (await homes.claim(agents)).filter(Boolean).length;
      expect(await movesOf(there)).toBe(0);

      const { client } = connections[0] as { client: any };
      const ask = client.observatoryClaimAgent;
      let askedCount = 0;
      let death: Promise<void> | undefined;
      client.observatoryClaimAgent = (...asked: unknown[]) => {
        askedCount += 1;
        if (askedCount === 101 && how === 'dies') death = redis.kill();
        if (askedCount === 101 && how === 'hangs') redis.freeze();
        return ask.apply(client, asked);
      };
      expect(await here.claim(agents)).toEqual(agents.map((_, at) => at < 100));
      await death;
      how === 'dies' ? await redis.start() : redis.thaw();
      await expect.poll(() => connections.every(({ isReady }) => isReady), SOON).toBe(true);
      await movesOf(here);
      for (const homes of [there, here, there]) expect(await movesOf(homes)).toBe(250);
    });
  },
);
