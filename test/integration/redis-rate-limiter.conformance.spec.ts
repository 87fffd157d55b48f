import { afterAll, beforeAll, describe } from 'vitest';
import { connectRedis, type RedisConnection, RedisRateLimiter } from '#adapters/redis';
import { FakeClock } from '#testing';
import { rateLimiterConformance } from '../../libs/testing/src/rate-limiter.conformance.js';
import { type RedisServer, redisMissing, startRedis } from './start-redis.js';

describe.skipIf(redisMissing !== null)('over a real Redis', () => {
  let server: RedisServer;
  let connection: RedisConnection;

  beforeAll(async () => {
    server = await startRedis();
    connection = connectRedis(server.socketPath, { onError: (failure) => console.error(failure) });
    await connection.open();
  });
  afterAll(async () => {
    await connection?.quit();
    await server?.stop();
  });

  rateLimiterConformance('Redis', async () => {
    await connection.client.flushall();
    const clock = new FakeClock();
    // Generous: two hundred takes at once on a busy machine are no failure of the limiter.
    const limiter = new RedisRateLimiter({ client: connection.client, clock, replyTimeoutMs: 5_000 });
    return {
      limiter,
      advance: (ms) => void clock.advance(ms),
      nowMs: () => clock.nowMs(),
      close: async () => {},
    };
  });
});
