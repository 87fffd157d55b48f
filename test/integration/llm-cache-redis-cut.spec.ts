/**
 * Redis dies, or stands still, in the middle of one look-up: what it has answered already is no answer. A real redis-server, and in
 * front of it a relay that hands on one command at a time, so that the cut is where the test says.
 */
import { Redis } from 'ioredis';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  connectRedis,
  connectRedisCluster,
  type RedisConnection,
  RedisLlmCache,
  type RedisLlmCacheOptions,
} from '#adapters/redis';
import type { CacheEntry, CacheHit, Cosine } from '#contracts';
import { systemClock } from '#kernel';
import { HANG_UP, RedisError, type RedisReply, ScriptedRedis } from '#testing';
import {
  buildCacheEntry,
  CACHE_BOUNDS,
  hex,
  vectorAt,
} from '../../libs/testing/src/llm-cache.conformance.js';
import { type RedisServer, redisMissing, startRedis } from './start-redis.js';
import { clusterMissing, startRedisCluster } from './start-redis-cluster.js';

const TENANT = 'tenant-1';
/** Instead of 20 ms, in which a busy machine does not get as far as the cut. */
const WAIT_MS = 200;
/** Far above that, far below any other timeout: a busy machine is no failure. */
const FAST_MS = 900;
const PATIENT = { timeout: 20_000, interval: 20 };
const key = hex('question');
const entry = (changes: Partial<CacheEntry> = {}): CacheEntry => buildCacheEntry(Date.now(), changes);

/** As they are asked in one look-up: in which epoch the entry is registered, then for itself; the vectors of its scope before both. */
const PLACES = {
  'the epoch is told, and before the entry is read': { keyCount: 1, argumentCount: 0 },
  'it is asked, and before the epoch is told': { keyCount: 6, argumentCount: 2 },
  'it is asked, and before the vectors are read': { keyCount: 1, argumentCount: 5 },
} as const;
type Place = keyof typeof PLACES;
const DEATHS = ['dies', 'hangs'] as const;

const search = (cache: RedisLlmCache): Promise<CacheHit | null> =>
  cache.semanticSearch({
    tenant_id: TENANT,
    scope: hex('scope'),
    vector: vectorAt(0.95),
    hitWhenCosineAtLeast: 0.92 as Cosine,
    accept: () => true,
    serves: true,
  });
const LOOK_UPS = {
  get: (cache: RedisLlmCache) => cache.get(TENANT, key),
  search,
};

let connections: RedisConnection<any>[];
const cacheOn = (connection: RedisConnection<any>, options: Partial<RedisLlmCacheOptions> = {}) => {
  connections.push(connection);
  return new RedisLlmCache({ ...CACHE_BOUNDS, connection, clock: systemClock, waitMs: WAIT_MS, ...options });
};
const servesAgain = (cache: RedisLlmCache, changes: Partial<CacheEntry> = {}) =>
  expect
    .poll(
      async () => (await cache.put(entry(changes))) && (await cache.get(TENANT, key))?.entry.answer.text,
      PATIENT,
    )
    .toBe(entry(changes).answer.text);
const missesInTime = async (lookUp: Promise<CacheHit | null>) => {
  const startMs = performance.now();
  expect(await lookUp).toBeNull();
  expect(performance.now() - startMs).toBeLessThan(FAST_MS);
};

beforeEach(() => {
  connections = [];
});
afterEach(async () => {
  await Promise.all(connections.map((connection) => connection.quit()));
});

describe.skipIf(redisMissing !== null)('in the middle of a look-up', () => {
  let server: RedisServer;
  let backend: Redis;
  let relay: ScriptedRedis;
  /** Instead of the next command of that kind being handed on: once. */
  let cut: { at: Place; act: () => unknown } | null;

  beforeEach(async () => {
    server = await startRedis();
    backend = new Redis(server.socketPath, {
      protocol: 2,
      maxRetriesPerRequest: 0,
      enableOfflineQueue: false,
      retryStrategy: () => 20,
    });
    backend.on('error', () => {});
    relay = await new ScriptedRedis(2).listen();
    cut = null;
    let last: Promise<unknown> = Promise.resolve();
    relay.script((args) => {
      const reply = last.then(() => handOn(args));
      last = reply;
      return reply;
    });
  });
  afterEach(async () => {
    server.thaw();
    await relay.close();
    backend.disconnect();
    await server.stop();
  });

  async function handOn(args: Buffer[]): Promise<RedisReply> {
    if (cut !== null && isAt(cut.at, args)) {
      const { act } = cut;
      cut = null;
      await act();
    }
    try {
      return (await backend.callBuffer(String(args[0]), ...args.slice(1))) as RedisReply;
    } catch (error) {
      return (error as Error).name === 'ReplyError' ? new RedisError((error as Error).message) : HANG_UP;
    }
  }
  const isAt = (place: Place, [name, , keys, ...rest]: Buffer[]): boolean => {
    const { keyCount, argumentCount } = PLACES[place];
    return (
      /^EVAL(SHA)?$/i.test(String(name)) &&
      Number(keys) === keyCount &&
      rest.length === keyCount + argumentCount
    );
  };
  const cuts = Object.entries(LOOK_UPS).flatMap(([what, lookUp]) =>
    (Object.keys(PLACES) as Place[])
      // Who looks for an equal request asks for no vectors.
      .filter((at) => what === 'search' || !at.endsWith('vectors are read'))
      .flatMap((at) => DEATHS.map((how) => ({ what, lookUp, at, how }))),
  );

  it.each(cuts)(
    '$what is a miss in time where Redis $how after $at, and serves again by itself',
    async ({ lookUp, at, how }) => {
      const url = relay.url;
      const cache = cacheOn(connectRedis(url, { onError: () => {}, reconnectMaxMs: 50 }));
      await servesAgain(cache);
      await expect.poll(() => lookUp(cache), PATIENT).not.toBeNull();
      let wasCut = false;
      cut = {
        at,
        act: () => {
          wasCut = true;
          return how === 'dies' ? server.kill() : server.freeze();
        },
      };
      // One that was too slow to get there is one as well.
      do await missesInTime(lookUp(cache));
      while (!wasCut);
      // Nor is any of the next ones, while it is away.
      for (let call = 0; call < 5; call += 1) await missesInTime(lookUp(cache));
      expect(cache.isDegraded).toBe(true);
      expect(await cache.put(entry())).toBe('backend_away');
      if (how === 'dies') await server.start();
      else server.thaw();
      // What it had may have been thrown out meanwhile by somebody else.
      const other = cacheOn(connectRedis(server.socketPath, { onError: () => {} }), { waitMs: 5_000 });
      await other.invalidate(TENANT, null);
      for (let call = 0; call < 5; call += 1) expect(await lookUp(cache)).toBeNull();
      await servesAgain(cache, { answer: { ...entry().answer, text: 'Paris, still.' } });
      await expect.poll(async () => (await lookUp(cache))?.entry.answer.text, PATIENT).toBe('Paris, still.');
      expect(cache.isDegraded).toBe(false);
    },
  );
});

describe.skipIf(clusterMissing !== null)(
  'of a cluster whose nodes hold one the entry and one its epoch',
  () => {
    it('a look-up is a miss in time where only the entry is answered, and serves again by itself', async () => {
      const cluster = await startRedisCluster();
      try {
        const connection = connectRedisCluster(cluster.urls, { onError: () => {}, reconnectMaxMs: 50 });
        const cache = cacheOn(connection);
        await vi.waitFor(async () => expect(await connection.open()).toBe(true), PATIENT);
        await servesAgain(cache);
        const nodeWith = async (name: RegExp) => {
          for (const [at, node] of cluster.nodes.entries()) {
            const redis = new Redis(node.socketPath);
            const names = await redis.keys('*');
            redis.disconnect();
            if (names.some((one) => name.test(one))) return at;
          }
          return expect.fail(`nobody holds ${name}`);
        };
        const index = cluster.nodes[await nodeWith(/_index:/)] as RedisServer;
        expect(await nodeWith(/llm_cache:/)).not.toBe(await nodeWith(/_index:/));
        index.freeze();
        try {
          for (let call = 0; call < 5; call += 1) await missesInTime(cache.get(TENANT, key));
        } finally {
          index.thaw();
        }
        await servesAgain(cache);
        await index.kill();
        for (let call = 0; call < 5; call += 1) await missesInTime(cache.get(TENANT, key));
        await index.start();
        await servesAgain(cache);
      } finally {
        await cluster.stop();
      }
    });
  },
);
