import { describe } from 'vitest';
import { RedisRateLimiter } from '#adapters/redis';
import { FakeClock } from '#testing';
import { rateLimiterConformance } from '../../libs/testing/src/rate-limiter.conformance.js';
import { connection, startOneRedis } from './start-one-redis.js';
import { redisMissing } from './start-redis.js';

describe.skipIf(redisMissing !== null)('over a real Redis', () => {
  startOneRedis();

  rateLimiterConformance('Redis', async () => {
    await connection.client.flushall();
    const clock = new FakeClock();
    // Generous: two hundred takes at once on a busy machine are no failure of the limiter.
    const limiter = new RedisRateLimiter({
      client: connection.client,
      gatewayId: 'gateway-1',
      clock,
      replyTimeoutMs: 5_000,
    });
    return {
      limiter,
      advance: (ms) => void clock.advance(ms),
      nowMs: () => clock.nowMs(),
      close: async () => {},
    };
  });
});
