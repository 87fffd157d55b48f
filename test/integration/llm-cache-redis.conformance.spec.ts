import { afterAll, beforeAll, describe } from 'vitest';
import { connectRedis, type RedisConnection, RedisLlmCache } from '#adapters/redis';
import { FakeClock } from '#testing';
import { llmCacheConformance } from '../../libs/testing/src/llm-cache.conformance.js';
import { type RedisServer, redisMissing, startRedis } from './start-redis.js';

describe.skipIf(redisMissing !== null)('over a real Redis', () => {
  let server: RedisServer;
  let connection: RedisConnection;

  beforeAll(async () => {
    server = await startRedis();
    connection = connectRedis(server.socketPath, { onError: (failure) => console.error(failure) });
  });
  afterAll(async () => {
    await connection?.quit();
    await server?.stop();
  });

  llmCacheConformance('Redis', async (bounds) => {
    if (!connection.isReady) await connection.open();
    await connection.client.flushall();
    const clock = new FakeClock();
    // Generous: many at once on a busy machine are no failure of the cache.
    const settings = { ...bounds, waitMs: 5_000, closesConnection: false };
    return {
      cache: new RedisLlmCache({ ...settings, connection, clock, redisClock: clock }),
      advance: (ms) => void clock.advance(ms),
      nowMs: () => clock.nowMs(),
      close: async () => {},
    };
  });
});
