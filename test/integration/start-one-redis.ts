/** As start-one-gateway.ts: one Redis for all tests of a file, and a connection to it: a binding, not a copy. */
import { afterAll, beforeAll } from 'vitest';
import { connectRedis, type RedisConnection } from '#adapters/redis';
import { type RedisServer, startRedis } from './start-redis.js';

export let connection: RedisConnection;

/** To be called once, where there is a Redis to start. */
export function startOneRedis(): void {
  let server: RedisServer;
  beforeAll(async () => {
    server = await startRedis();
    connection = connectRedis(server.socketPath, { onError: (failure) => console.error(failure) });
    await connection.open();
  });
  afterAll(async () => {
    await connection?.quit();
    await server?.stop();
  });
}
