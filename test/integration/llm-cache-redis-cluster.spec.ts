/** The whole suite over a cluster of three nodes, and what becomes of it when one of them dies. */
import { spawnSync } from 'node:child_process';
import type { Cluster } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { connectRedisCluster, type RedisConnection, RedisLlmCache, RedisRateLimiter } from '#adapters/redis';
import { systemClock } from '#kernel';
import { FakeClock } from '#testing';
import {
  buildCacheEntry,
  CACHE_BOUNDS,
  hex,
  llmCacheConformance,
} from '../../libs/testing/src/llm-cache.conformance.js';
import { freePorts } from './free-ports.js';
import { type RedisServer } from './start-redis.js';
import {
  clusterMissing,
  type RedisCluster,
  startClusterNode,
  startRedisCluster,
} from './start-redis-cluster.js';

const TENANT = 'tenant-1';
describe.skipIf(clusterMissing !== null)('over a Redis Cluster of three nodes', () => {
  let cluster: RedisCluster;
  let nodes: readonly RedisServer[];
  let urls: readonly string[];
  let connection: RedisConnection<Cluster>;

  beforeAll(async () => {
    cluster = await startRedisCluster();
    ({ nodes, urls } = cluster);
    connection = connectRedisCluster(urls.slice(0, 1), { onError: () => {}, reconnectMaxMs: 100 });
    await vi.waitFor(async () => expect(await connection.open()).toBe(true), 20_000);
  });
  afterAll(async () => {
    await connection?.quit();
    await cluster?.stop();
  });

  llmCacheConformance('Redis Cluster', async (bounds) => {
    await Promise.all(connection.client.nodes('master').map((node) => node.flushall()));
    const clock = new FakeClock();
    const settings = { ...bounds, waitMs: 5_000, closesConnection: false };
    return {
      cache: new RedisLlmCache({ ...settings, connection, clock, redisClock: clock }),
      advance: (ms) => void clock.advance(ms),
      nowMs: () => clock.nowMs(),
      close: async () => {},
    };
  });

  it('spreads entries over the nodes, and knows all nodes from one', async () => {
    const cache = new RedisLlmCache({
      ...CACHE_BOUNDS,
      connection,
      clock: systemClock,
      waitMs: 5_000,
      closesConnection: false,
    });
    for (let index = 0; index < 60; index += 1)
      await cache.put(buildCacheEntry(Date.now(), { key: hex(`k ${index}`), scope: hex(`s ${index}`) }));
    const sizes = await Promise.all(connection.client.nodes('master').map((node) => node.dbsize()));
    expect(sizes).toHaveLength(3);
    for (const size of sizes) expect(size).toBeGreaterThan(10);
    expect(await cache.invalidate(TENANT, null)).toBe(60);
  });

  it('lets the limiter share the connection', async () => {
    const limiter = new RedisRateLimiter({
      client: connection.client,
      gatewayId: 'gateway-1',
      replyTimeoutMs: 5_000,
    });
    const window = {
      key: 'default\0agent-1\0r',
      kind: 'sliding' as const,
      windowMs: 60_000,
      limit: 1,
      amount: 1,
    };
    expect((await limiter.take([window])).allowed).toBe(true);
    expect((await limiter.take([window])).allowed).toBe(false);
  });

  it('misses what lies on a node that died, serves the rest, never fails, and recovers with the node', async () => {
    const own = connectRedisCluster(urls, { onError: () => {}, reconnectMaxMs: 100 });
    const cache = new RedisLlmCache({ ...CACHE_BOUNDS, connection: own, clock: systemClock, waitMs: 1_000 });
    const keys = Array.from({ length: 40 }, (_, index) => hex(`key ${index}`));
    for (const key of keys)
      await expect
        .poll(() => cache.put(buildCacheEntry(Date.now(), { key, scope: null, vector: null })))
        .toBe('kept');
    await nodes[2]?.kill();
    const served = async (): Promise<string[]> => {
      const hits: string[] = [];
      for (const key of keys) if ((await cache.get(TENANT, key)) !== null) hits.push(key);
      return hits;
    };
    const servedCount = async (): Promise<number> => (await served()).length;
    await expect.poll(servedCount, { timeout: 20_000, interval: 100 }).toBeGreaterThan(10);
    const rest = await served();
    expect(rest.length).toBeLessThan(40);
    // However many ask in vain for what lies on the dead node, the others are asked as before.
    const gone = keys.filter((key) => !rest.includes(key));
    for (let round = 0; round < 3; round += 1) {
      await Promise.all(gone.map((key) => cache.get(TENANT, key)));
      expect(await served()).toEqual(rest);
    }
    expect(cache.isDegraded).toBe(true);
    expect(await cache.stats(TENANT)).toEqual({
      total_entries: expect.any(Number),
      total_bytes: expect.any(Number),
    });
    await nodes[2]?.start();
    const storesAll = async (): Promise<boolean> => {
      const writes = [];
      for (const key of keys)
        writes.push(await cache.put(buildCacheEntry(Date.now(), { key, scope: null, vector: null })));
      return writes.every((put) => put === 'kept');
    };
    await expect.poll(storesAll, { timeout: 20_000, interval: 100 }).toBe(true);
    expect(await servedCount()).toBe(40);
    expect(cache.isDegraded).toBe(false);
    await cache.close();
  });

  it('leaves a node that hangs', async () => {
    const { port } = new URL(urls[1] as string);
    const hung = connection.client.nodes('master').find(({ options }) => options.port === Number(port));
    expect(await hung?.ping()).toBe('PONG');
    nodes[1]?.freeze();
    await expect(hung?.ping()).rejects.toThrow('Connection is closed');
    nodes[1]?.thaw();
  });
});

it.skipIf(clusterMissing !== null)(
  'is told at once of a cluster that is not whole yet, and joins it when it is',
  async () => {
    const [port, busPort] = (await freePorts(2)) as [number, number];
    const node = await startClusterNode(port, busPort, 'yes');
    const own = (slots: [number, number]) =>
      spawnSync('redis-cli', ['-p', String(port), 'cluster', 'addslotsrange', ...slots.map(String)]);
    own([0, 100]);
    const connection = connectRedisCluster([`redis://127.0.0.1:${port}`], {
      onError: () => {},
      reconnectMaxMs: 100,
    });
    expect(await connection.open()).toBe(false);
    own([101, 16_383]);
    await expect.poll(() => connection.isReady, { timeout: 20_000 }).toBe(true);
    await connection.quit();
    await node.stop();
  },
);
