/** Two Redis behind one address: the master is demoted, the address moves, and the old one lives on as a replica. */
import { type AddressInfo, connect, createServer } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { connectRedis, type RedisConnection, RedisLlmCache, RedisRateLimiter } from '#adapters/redis';
import type { CachePut } from '#contracts';
import { systemClock } from '#kernel';
import { buildCacheEntry, CACHE_BOUNDS, hex } from '../../libs/testing/src/llm-cache.conformance.js';
import { freePort } from './free-ports.js';
import { type RedisServer, redisMissing, startRedis } from './start-redis.js';

const TENANT = 'tenant-1';
const PATIENT = { timeout: 20_000, interval: 20 };
const NOBODY_PORT = 1;

describe.skipIf(redisMissing !== null)('when the Redis of several gateways becomes a replica', () => {
  let old: RedisServer;
  let next: RedisServer;
  let nextPort: number;
  let address: MovingAddress;
  let connections: RedisConnection[];
  const key = hex('question');
  const entry = (name = 'question') => buildCacheEntry(Date.now(), { key: hex(name) });

  const open = async (url: string): Promise<RedisConnection> => {
    const connection = connectRedis(url, { onError: () => {}, reconnectMaxMs: 100 });
    connections.push(connection);
    await connection.open();
    return connection;
  };
  const gateway = async (): Promise<RedisLlmCache> => {
    const connection = await open(address.url);
    return new RedisLlmCache({ ...CACHE_BOUNDS, connection, clock: systemClock, waitMs: 5_000 });
  };
  const demote = async (masterPort: number): Promise<void> => {
    const { client } = await open(old.socketPath);
    await client.replicaof('127.0.0.1', masterPort);
  };
  const failOver = async (): Promise<void> => {
    address.moveTo(next.socketPath);
    await demote(nextPort);
  };

  beforeEach(async () => {
    connections = [];
    nextPort = await freePort();
    old = await startRedis();
    next = await startRedis(['--port', String(nextPort)]);
    address = await movingAddress(old.socketPath);
  });
  afterEach(async () => {
    await Promise.all(connections.map((connection) => connection.quit()));
    await address.close();
    await Promise.all([old.stop(), next.stop()]);
  });

  it('the cache leaves it, and goes on with the master that has taken over its address', async () => {
    const cache = await gateway();
    expect(await cache.put(entry())).toBe('kept');
    await failOver();
    // Reads are answered between the writes that are refused: failures never come in a row.
    const storesLater = async (): Promise<CachePut> => {
      await cache.get(TENANT, key);
      return cache.put(entry('later'));
    };
    await expect.poll(storesLater, PATIENT).toBe('kept');
    expect((await cache.get(TENANT, hex('later')))?.entry.answer.text).toBe('Paris.');
    expect(cache.isDegraded).toBe(false);
    const { client } = await open(next.socketPath);
    expect(await client.dbsize()).toBeGreaterThan(0);
  });

  it('the limiter leaves it as well', async () => {
    const { client } = await open(address.url);
    const limiter = new RedisRateLimiter({ client, gatewayId: 'gateway-1', replyTimeoutMs: 5_000 });
    const hour = { key: 'tenant\0agent\0hour', kind: 'sliding', windowMs: 3_600_000 } as const;
    const take = () => limiter.take([{ ...hour, limit: 5, amount: 1 }]);
    await take();
    await failOver();
    await expect.poll(() => take().catch(() => null), PATIENT).toMatchObject({ allowed: true });
  });

  it('the cache gives up one connection in a while at most where there is no master', async () => {
    const cache = await gateway();
    await cache.put(entry());
    await demote(NOBODY_PORT);
    const startMs = performance.now();
    for (let count = 0; count < 12; count += 1) {
      await cache.put(entry());
      await expect.poll(() => cache.get(TENANT, key), PATIENT).not.toBeNull();
    }
    const secondCount = Math.ceil((performance.now() - startMs) / 1_000);
    expect(address.connectionCount()).toBeGreaterThan(1);
    expect(address.connectionCount()).toBeLessThanOrEqual(1 + secondCount);
  });

  it('who invalidates is told that it failed, and what was to go is still served', async () => {
    const cache = await gateway();
    await cache.put(entry());
    await demote(NOBODY_PORT);
    const unavailable = { name: 'ObservatoryError', code: 'cache_unavailable' };
    await expect(cache.invalidate(TENANT, null)).rejects.toMatchObject(unavailable);
    await expect.poll(() => cache.get(TENANT, key), PATIENT).not.toBeNull();
    await expect(cache.evict(TENANT, key)).rejects.toMatchObject(unavailable);
    await expect.poll(() => cache.invalidate(TENANT, null, true).catch(() => null), PATIENT).toBe(1);
  });

  it('who invalidates is told so by a Redis that refuses one command, too', async () => {
    const cache = await gateway();
    await cache.put(entry());
    const { client } = await open(old.socketPath);
    await client.call('ACL', 'SETUSER', 'default', '-unlink');
    await expect(cache.invalidate(TENANT, null)).rejects.toMatchObject({ code: 'cache_unavailable' });
    expect(await cache.get(TENANT, key)).not.toBeNull();
    await client.call('ACL', 'SETUSER', 'default', '+unlink');
    expect(await cache.invalidate(TENANT, null)).toBe(1);
    expect(await cache.get(TENANT, key)).toBeNull();
  });
});

interface MovingAddress {
  url: string;
  /** For connections from now on; those that are there stay where they are. */
  moveTo(socketPath: string): void;
  /** So far. */
  connectionCount(): number;
  close(): Promise<void>;
}

async function movingAddress(socketPath: string): Promise<MovingAddress> {
  let target = socketPath;
  let connectionCount = 0;
  const server = createServer((client) => {
    connectionCount += 1;
    const upstream = connect(target);
    client.pipe(upstream).pipe(client);
    client.on('error', () => upstream.destroy());
    upstream.on('error', () => client.destroy());
  });
  await new Promise<void>((settle) => server.listen(0, '127.0.0.1', settle));
  return {
    url: `redis://127.0.0.1:${(server.address() as AddressInfo).port}`,
    moveTo: (path) => {
      target = path;
    },
    connectionCount: () => connectionCount,
    close: () => new Promise((settle) => server.close(() => settle())),
  };
}
