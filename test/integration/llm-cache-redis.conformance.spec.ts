import { describe } from 'vitest';
import { RedisLlmCache } from '#adapters/redis';
import { FakeClock } from '#testing';
import { llmCacheConformance } from '../../libs/testing/src/llm-cache.conformance.js';
import { connection, startOneRedis } from './start-one-redis.js';
import { redisMissing } from './start-redis.js';

describe.skipIf(redisMissing !== null)('over a real Redis', () => {
  startOneRedis();

  llmCacheConformance('Redis', async (bounds) => {
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
