/** What only a shared cache must do: damage, failure and return, several gateways, and what it leaves behind. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  connectRedis,
  type RedisConnection,
  RedisLlmCache,
  type RedisLlmCacheOptions,
} from '#adapters/redis';
import type { CacheEntry, CacheHit, Cosine } from '#contracts';
import { systemClock } from '#kernel';
import { FakeClock, turn } from '#testing';
import {
  buildCacheEntry,
  CACHE_BOUNDS,
  hex,
  vectorAt,
} from '../../libs/testing/src/llm-cache.conformance.js';
import { type RedisServer, redisMissing, startRedis } from './start-redis.js';

const TENANT = 'tenant-1';
const HOUR_MS = 3_600_000;
/** Far above the 20 ms of the cache, far below any other timeout: a busy machine is no failure. */
const FAST_MS = 900;

describe.skipIf(redisMissing !== null)('the LLM cache in Redis', () => {
  let server: RedisServer;
  let connections: RedisConnection[];

  /** A gateway of its own. */
  const gateway = (options: Partial<RedisLlmCacheOptions> = {}, url = server.socketPath): RedisLlmCache => {
    const connection = connectRedis(url, { onError: () => {}, reconnectMaxMs: 100 });
    connections.push(connection);
    return new RedisLlmCache({ ...CACHE_BOUNDS, connection, clock: systemClock, waitMs: 5_000, ...options });
  };
  const redis = () => (connections[0] as RedisConnection).client;
  const entry = (changes: Partial<CacheEntry> = {}) => buildCacheEntry(Date.now(), changes);
  const key = hex('question');
  const search = (cache: RedisLlmCache, cosine = 0.95): Promise<CacheHit | null> =>
    cache.semanticSearch({
      tenant_id: TENANT,
      scope: hex('scope'),
      vector: vectorAt(cosine),
      hitWhenCosineAtLeast: 0.92 as Cosine,
      accept: () => true,
      serves: true,
    });
  const nameOf = async (pattern: string): Promise<string> => {
    const [name] = await redis().keys(`observatory:llm_cache${pattern}`);
    return name ?? expect.fail(`no key ${pattern}`);
  };
  const timed = async <T>(work: Promise<T>): Promise<{ result: T; ms: number }> => {
    const startMs = performance.now();
    const result = await work;
    return { result, ms: performance.now() - startMs };
  };
  const ready = (at = 0): Promise<void> => {
    const connection = connections[at] as RedisConnection;
    return connection.isReady
      ? Promise.resolve()
      : new Promise((settle) => connection.client.once('ready', () => settle()));
  };
  /** Stores and asks, as callers do, until it is served again. */
  const servesAgain = (cache: RedisLlmCache) =>
    expect
      .poll(async () => (await cache.put(entry())) && (await cache.get(TENANT, key))?.entry.key, {
        timeout: 20_000,
        interval: 20,
      })
      .toBe(key);

  beforeEach(async () => {
    connections = [];
    server = await startRedis();
  });
  afterEach(async () => {
    server.thaw();
    await Promise.all(connections.map((connection) => connection.quit()));
    await server.stop();
  });

  describe('leaves behind', () => {
    it('hashes of ids in its names, no id and no text, and lets every key expire', async () => {
      const cache = gateway();
      await cache.put(entry({ tenant_id: 'acme-secret-tenant', scope: hex('scope') }));
      await cache.get('acme-secret-tenant', key);
      const names = (await redis().keys('*')).sort();
      expect(
        names.map((name) => name.replace(/[0-9a-f]{64}/g, 'KEY').replace(/[0-9a-f]{32}/g, 'HASH')),
      ).toEqual([
        'observatory:llm_cache:{HASH:KEY}',
        'observatory:llm_cache_bytes:{HASH}',
        'observatory:llm_cache_emb:{HASH}:KEY',
        'observatory:llm_cache_hits:{HASH}',
        'observatory:llm_cache_index:{HASH}',
        'observatory:llm_cache_meta:{HASH}',
        'observatory:llm_cache_scope:{HASH}',
        'observatory:llm_cache_used:{HASH}',
      ]);
      for (const name of names) {
        const ttlMs = await redis().pttl(name);
        expect(ttlMs).toBeGreaterThan(HOUR_MS);
        expect(ttlMs).toBeLessThanOrEqual(24 * HOUR_MS);
      }
      const fields = await redis().hgetallBuffer(await nameOf('_emb:*'));
      const [, vector] = Object.entries(fields).find(([field]) => field.startsWith('v_')) ?? [];
      expect(vector?.byteLength).toBe(4 * 8);
      expect(vector?.readFloatLE(0)).toBe(1);
    });

    it('its own prefix, and refuses one that would end a hash tag', async () => {
      const cache = gateway({ keyPrefix: 'agentkit:llm_cache' });
      await cache.put(entry());
      for (const name of await redis().keys('*')) expect(name).toMatch(/^agentkit:llm_cache(:|_)/);
      expect(() => gateway({ keyPrefix: 'a{b}' })).toThrow(RangeError);
    });

    it('no expired member in an index, once another entry is stored', async () => {
      const clock = new FakeClock(Date.now());
      const cache = gateway({ clock, redisClock: clock });
      for (let index = 0; index < 20; index += 1) await cache.put(entry({ key: hex(`old ${index}`) }));
      clock.advance(25 * HOUR_MS);
      await cache.put(entry({ created_at_ms: clock.nowMs() }));
      expect(await redis().zrange(await nameOf('_index:*'), '0', '-1')).toEqual([key]);
      expect(await redis().zrange(await nameOf('_scope:*'), '0', '-1')).toEqual([key]);
      expect(await redis().hkeys(await nameOf('_meta:*'))).toEqual([key]);
      expect(await redis().zcard(await nameOf('_hits:*'))).toBe(1);
      expect((await cache.stats(TENANT)).total_entries).toBe(1);
    });

    it('nothing at all once everything is invalidated', async () => {
      const cache = gateway();
      for (let index = 0; index < 30; index += 1)
        await cache.put(entry({ key: hex(`n ${index}`), scope: hex(`s ${index % 4}`) }));
      expect(await cache.invalidate(TENANT, null)).toBe(30);
      const names = await redis().keys('*');
      // A count of nothing, and for a day what tells answers apart that were under way.
      expect(names.map((name) => /_(bytes|epoch):/.exec(name)?.[1]).sort()).toEqual(['bytes', 'epoch']);
      expect(await redis().get(await nameOf('_bytes:*'))).toBe('0');
      expect(await redis().pttl(await nameOf('_epoch:*'))).toBeLessThanOrEqual(24 * HOUR_MS);
    });

    it('connects to nothing before it is used, and takes two round trips at most for a hit', async () => {
      const cache = gateway();
      expect(redis().status).toBe('wait');
      await cache.put(entry());
      await cache.get(TENANT, key);
      await search(cache);
      await redis().config('RESETSTAT');
      const calls = async (): Promise<number> =>
        Number(/cmdstat_evalsha:calls=(\d+)/.exec(await redis().info('commandstats'))?.[1] ?? 0);
      await cache.get(TENANT, key);
      // Two at once, to read it and to ask whether it still counts; and one, which nobody waits for, to count the hit.
      expect(await calls()).toBe(3);
      await search(cache);
      expect(await calls()).toBe(3 + 4);
      await cache.get(TENANT, hex('unknown'));
      expect(await calls()).toBe(3 + 4 + 2);
    });
  });

  it('takes a server without a query engine for no failing one', async () => {
    const told: string[] = [];
    const cache = gateway({ onFailure: ({ message }) => told.push(message) });
    await cache.put(entry());
    expect((await search(cache))?.entry.answer.text).toBe('Paris.');
    // Behind the question whether it has one.
    await redis().ping();
    await turn();
    expect([told, cache.failureCount]).toEqual([[], 0]);
  });

  describe('takes for a miss, and removes,', () => {
    const damages: [string, (name: string, value: string) => Promise<unknown>][] = [
      ['a truncated value', (name, value) => redis().set(name, value.slice(0, -20), 'KEEPTTL')],
      ['one cut to nothing', (name) => redis().set(name, '', 'KEEPTTL')],
      ['one cut inside its digest', (name, value) => redis().set(name, value.slice(0, 30), 'KEEPTTL')],
      ['a changed answer', (name, value) => redis().set(name, value.replace('Paris', 'Lyon!'), 'KEEPTTL')],
      ['a value without digest', (name, value) => redis().set(name, value.slice(64), 'KEEPTTL')],
      [
        'bytes that are no text',
        (name) => redis().set(name, Buffer.from([0xff, 0xfe, 0, 1, 0xc3]), 'KEEPTTL'),
      ],
      ['JSON of somebody else', (name) => redis().set(name, '{"response":"Paris."}', 'KEEPTTL')],
      ['a list', (name) => redis().pipeline().del(name).rpush(name, 'a', 'b').exec()],
      ['a hash', (name) => redis().pipeline().del(name).hset(name, 'a', 'b').exec()],
    ];
    it.each(damages)('%s in place of an entry', async (_, damage) => {
      const cache = gateway();
      await cache.put(entry());
      const name = await nameOf(':*');
      await damage(name, (await redis().get(name)) as string);
      expect(await search(cache)).toBeNull();
      expect(await cache.get(TENANT, key)).toBeNull();
      await redis().ping();
      expect(await redis().exists(name)).toBe(0);
      expect(cache.removedCount).toBeGreaterThan(0);
      expect(cache.isDegraded).toBe(false);
      expect(await cache.put(entry())).toBe('kept');
      expect((await cache.get(TENANT, key))?.entry.answer.text).toBe('Paris.');
      expect((await search(cache))?.entry.answer.text).toBe('Paris.');
    });

    it("another entry's value, whosever it is", async () => {
      const cache = gateway();
      const other = hex('other');
      await cache.put(entry({ key: other, answer: { ...entry().answer, text: 'Rome.' } }));
      const foreign = await redis().get(await nameOf(`:*${other}*`));
      await cache.put(entry());
      await redis().set(await nameOf(`:*${key}*`), foreign as string, 'KEEPTTL');
      expect(await cache.get(TENANT, key)).toBeNull();
      await cache.put(entry({ tenant_id: 'tenant-2', answer: { ...entry().answer, text: 'Oslo.' } }));
      const names = await redis().keys(`observatory:llm_cache:*${key}*`);
      await cache.put(entry());
      for (const name of await redis().keys(`observatory:llm_cache:*${key}*`))
        if (!names.includes(name)) await redis().copy(names[0] as string, name, 'REPLACE');
      expect(await cache.get(TENANT, key)).toBeNull();
      expect((await cache.get('tenant-2', key))?.entry.answer.text).toBe('Oslo.');
    });

    it('what was written without the secret of the gateways', async () => {
      await gateway().put(entry());
      const cache = gateway({ secret: 'of the gateways' });
      expect(await cache.get(TENANT, key)).toBeNull();
      await cache.put(entry());
      expect(await cache.get(TENANT, key)).not.toBeNull();
      expect(await gateway({ secret: 'of the gateways' }).get(TENANT, key)).not.toBeNull();
    });

    it('an entry that somebody made live for ever, once it is too old', async () => {
      const cache = gateway();
      await cache.put(entry());
      await redis().persist(await nameOf(':*'));
      expect(await cache.get(TENANT, key)).toBeNull();
      expect(await search(cache)).toBeNull();
    });

    const vectorDamages: [string, (name: string, field: string) => Promise<unknown>][] = [
      ['a truncated vector', (name, field) => redis().hset(name, field, Buffer.alloc(13))],
      ['an empty one', (name, field) => redis().hset(name, field, '')],
      ['one that is no number', (name, field) => redis().hset(name, field, Buffer.alloc(32, 0xff))],
      ["another text's vector", (name, field) => redis().hset(name, field, blobOf(0.93))],
      ['something else under its name', (name) => redis().set(name, 'x')],
    ];
    it.each(vectorDamages)('%s, while equal requests are served', async (_, damage) => {
      const cache = gateway();
      await cache.put(entry());
      const name = await nameOf('_emb:*');
      const field = (await redis().hkeys(name)).find((one) => one.startsWith('v_')) as string;
      await damage(name, field);
      expect(await search(cache)).toBeNull();
      await redis().ping();
      expect(await redis().exists(name)).toBe(0);
      expect(await cache.get(TENANT, key)).not.toBeNull();
      await cache.put(entry());
      expect(await search(cache)).not.toBeNull();
    });
    const blobOf = (cosine: number): Buffer => Buffer.from(vectorAt(cosine).values.buffer);

    it.each(['_scope', '_index', '_meta', '_hits', '_used', '_bytes'])(
      'somebody else\'s value under "%s", and goes on',
      async (what) => {
        const cache = gateway();
        await cache.put(entry());
        const name = await nameOf(`${what}:*`);
        await redis().pipeline().del(name).rpush(name, 'foreign').exec();
        await search(cache);
        await cache.get(TENANT, key);
        await cache.put(entry());
        await redis().ping();
        expect(await cache.put(entry())).toBe('kept');
        expect((await cache.stats(TENANT)).total_entries).toBe(1);
        expect(await search(cache)).not.toBeNull();
        expect(await cache.invalidate(TENANT, null)).toBe(1);
        expect(await cache.get(TENANT, key)).toBeNull();
      },
    );

    it('a view of an entry that cannot be read is shown to nobody, and can be invalidated', async () => {
      const cache = gateway();
      await cache.put(entry());
      await redis().hset(await nameOf('_meta:*'), key, '12 {"not": "ours"}');
      expect((await cache.entries({ tenant_id: TENANT, limit: 5 })).items).toEqual([]);
      expect(await cache.invalidate(TENANT, key)).toBe(1);
      expect(await cache.get(TENANT, key)).toBeNull();
    });

    it('an entry of an API that only a newer gateway knows: who invalidates by a name means it, too', async () => {
      const cache = gateway();
      await cache.put(entry());
      const meta = await nameOf('_meta:*');
      const view = (await redis().hget(meta, key)) ?? '';
      await redis().hset(meta, key, view.replace('openai-chat', 'of-tomorrow'));
      const pattern = `agent:${entry().agent_id}`;
      expect(await cache.invalidate(TENANT, pattern, true)).toBe(1);
      expect(await cache.invalidate(TENANT, pattern)).toBe(1);
      expect(await cache.get(TENANT, key)).toBeNull();
    });

    it('what an index that Redis has evicted knew: it is neither shown nor counted with what is stored then', async () => {
      const cache = gateway();
      await cache.put(entry({ key: hex('known before') }));
      const ofOne = await cache.stats(TENANT);
      await redis().unlink(await nameOf('_index:*'));
      await cache.put(entry());
      const { items } = await cache.entries({ tenant_id: TENANT, limit: 5 });
      expect(items.map((item) => item.key)).toEqual([key]);
      expect(await cache.stats(TENANT)).toEqual(ofOne);
    });

    it('an entry that the index does not know', async () => {
      const cache = gateway();
      await cache.put(entry());
      await redis().zrem(await nameOf('_index:*'), key);
      expect(await cache.get(TENANT, key)).toBeNull();
      await expect.poll(() => redis().keys('observatory:llm_cache:*')).toEqual([]);
    });
  });

  describe('fails open when Redis', () => {
    it('is away at the start, and serves once it is there', async () => {
      await server.kill();
      const cache = gateway();
      expect(await cache.get(TENANT, key)).toBeNull();
      expect(await cache.put(entry())).toBe('backend_away');
      expect(await search(cache)).toBeNull();
      const unavailable = { name: 'ObservatoryError', code: 'cache_unavailable' };
      await expect(cache.invalidate(TENANT, null)).rejects.toMatchObject(unavailable);
      await expect(cache.evict(TENANT, key)).rejects.toMatchObject(unavailable);
      expect(await cache.stats(TENANT)).toEqual({ total_entries: 0, total_bytes: 0 });
      expect(await cache.entries({ tenant_id: TENANT, limit: 5 })).toEqual({ items: [], next_cursor: null });
      expect(cache.isDegraded).toBe(true);
      await server.start();
      await ready();
      await servesAgain(cache);
      expect(cache.isDegraded).toBe(false);
    });

    it('is killed and started again in the middle of a load: no call fails, and hits come back', async () => {
      const cache = gateway({ waitMs: 20 });
      await cache.put(entry());
      await ready();
      let isOver = false;
      let [hits, misses] = [0, 0];
      const load = Array.from({ length: 4 }, async (_, worker) => {
        while (!isOver) {
          const served = (await cache.get(TENANT, key)) ?? (await search(cache));
          if (served === null) misses += 1;
          else hits += 1;
          if (served === null || worker === 0) await cache.put(entry());
          await turn();
        }
      });
      for (let round = 0; round < 2; round += 1) {
        await expect.poll(() => hits, { timeout: 20_000 }).toBeGreaterThan(100 * (round + 1));
        const before = misses;
        await server.kill();
        await expect.poll(() => misses, { timeout: 20_000 }).toBeGreaterThan(before + 20);
        await server.start();
      }
      const before = hits;
      await expect.poll(() => hits, { timeout: 20_000 }).toBeGreaterThan(before + 100);
      isOver = true;
      await Promise.all(load);
    });

    it('hangs: a miss in time that is told of, then at once, and back by itself when it thaws', async () => {
      const told: string[] = [];
      const cache = gateway({ waitMs: 20, onFailure: ({ reason }) => told.push(reason) });
      const patient = gateway();
      await patient.put(entry());
      await cache.get(TENANT, hex('warm'));
      server.freeze();
      const { result, ms } = await timed(cache.get(TENANT, key));
      expect(result).toBeNull();
      expect(ms).toBeGreaterThanOrEqual(15);
      expect(ms).toBeLessThan(FAST_MS);
      expect(told).toContain('timeout');
      const semantic = await timed(search(cache));
      expect(semantic.result).toBeNull();
      expect(semantic.ms).toBeLessThan(FAST_MS);
      await cache.get(TENANT, key);
      expect(cache.isDegraded).toBe(true);
      const many = await timed(Promise.all(Array.from({ length: 1_000 }, () => cache.get(TENANT, key))));
      expect(many.result.every((hit) => hit === null)).toBe(true);
      expect(many.ms).toBeLessThan(FAST_MS);
      expect(cache.failureCount).toBeLessThan(10);
      expect(await cache.put(entry())).toBe('backend_away');
      server.thaw();
      await ready(0);
      await servesAgain(cache);
    });

    it('is emptied in the middle', async () => {
      const cache = gateway();
      for (let round = 0; round < 3; round += 1) {
        await cache.put(entry());
        expect(await cache.get(TENANT, key)).not.toBeNull();
        expect(await search(cache)).not.toBeNull();
        await redis().flushall();
        expect(await cache.get(TENANT, key)).toBeNull();
        expect(await search(cache)).toBeNull();
        expect(await cache.stats(TENANT)).toEqual({ total_entries: 0, total_bytes: 0 });
      }
      expect(cache.isDegraded).toBe(false);
    });

    it('forgets its scripts', async () => {
      const cache = gateway();
      await cache.put(entry());
      await redis().script('FLUSH');
      expect(await cache.get(TENANT, key)).not.toBeNull();
    });

    it('[edge 5] has no memory left: says what failed, and misses what was not kept', async () => {
      const told: string[] = [];
      const cache = gateway({ onFailure: ({ message }) => told.push(message) });
      await cache.put(entry());
      expect(told).toEqual([]);
      await redis().config('SET', 'maxmemory', '1');
      expect(await cache.put(entry({ key: hex('other') }))).toBe('backend_away');
      expect(told).toContain('Redis answered with an error (OOM)');
      expect(await cache.get(TENANT, hex('other'))).toBeNull();
      await redis().config('SET', 'maxmemory', '0');
      expect(await cache.put(entry({ key: hex('other') }))).toBe('kept');
    });

    it('refuses the password, without telling it', async () => {
      await server.stop();
      server = await startRedis(['--requirepass', 'right']);
      const cache = gateway({}, `${server.socketPath}?password=wrong-canary`);
      expect(await cache.get(TENANT, key)).toBeNull();
      expect(await cache.put(entry())).toBe('backend_away');
      expect(cache.isDegraded).toBe(true);
    });
  });

  describe('for several gateways', () => {
    it('shares entries, hits and removals', async () => {
      const [one, other] = [gateway(), gateway()];
      await one.put(entry());
      expect((await other.get(TENANT, key))?.entry.answer.text).toBe('Paris.');
      expect((await search(other))?.entry.answer.text).toBe('Paris.');
      await connections[1]?.client.ping();
      expect((await one.entries({ tenant_id: TENANT, limit: 5 })).items[0]).toMatchObject({ hit_count: 2 });
      expect(await other.invalidate(TENANT, 'agent:agent-1')).toBe(1);
      expect(await one.get(TENANT, key)).toBeNull();
    });

    it('keeps one whole entry when both write one key at once', async () => {
      const [one, other] = [gateway(), gateway()];
      for (let round = 0; round < 20; round += 1) {
        const texts = ['from one', 'from the other'];
        const writes = [one, other].map((cache, index) =>
          cache.put(entry({ answer: { ...entry().answer, text: texts[index] as string } })),
        );
        expect(await Promise.all(writes)).toEqual(['kept', 'kept']);
        const hit = await one.get(TENANT, key);
        expect(texts).toContain(hit?.entry.answer.text);
        expect((await search(other))?.entry.answer.text).toBe(hit?.entry.answer.text);
        expect((await one.stats(TENANT)).total_entries).toBe(1);
      }
    });

    it('goes by the clock of Redis when that of a gateway is behind', async () => {
      await gateway().put(entry());
      const behind = gateway({ clock: new FakeClock(Date.now() - 3 * HOUR_MS) });
      expect((await behind.get(TENANT, key))?.age_ms).toBeLessThan(10_000);
      // As if two hours had passed.
      await redis().pexpire(await nameOf(':*'), 22 * HOUR_MS);
      expect(await behind.get(TENANT, key)).toBeNull();
      expect((await search(behind))?.age_ms).toBeGreaterThanOrEqual(2 * HOUR_MS);
    });

    it('serves nothing of which nobody knows how old it is, since the clocks of Redis and of a gateway were set back', async () => {
      await gateway().put(entry());
      const setBack = gateway({ clock: new FakeClock(Date.now() - 3 * HOUR_MS) });
      // It lives for a day at most: as if Redis were three hours earlier, too.
      await redis().pexpire(await nameOf(':*'), 27 * HOUR_MS);
      expect([await setBack.get(TENANT, key), await search(setBack)]).toEqual([null, null]);
    });

    it('serves nothing older than it may when a clock is ahead', async () => {
      await gateway().put(entry());
      const ahead = gateway({ clock: new FakeClock(Date.now() + 2 * HOUR_MS) });
      expect(await ahead.get(TENANT, key)).toBeNull();
      expect((await search(ahead))?.age_ms).toBeGreaterThanOrEqual(2 * HOUR_MS);
      expect(await gateway().get(TENANT, key)).not.toBeNull();
    });

    it('invalidates under load: what was stored before is gone, for all of them', async () => {
      const [one, other] = [gateway(), gateway()];
      const keys = Array.from({ length: 300 }, (_, index) => hex(`before ${index}`));
      for (const each of keys) await one.put(entry({ key: each, agent_id: 'before' }));
      let isOver = false;
      const load = [one, other].map(async (cache, worker) => {
        for (let index = 0; !isOver; index += 1) {
          await cache.put(entry({ key: hex(`during ${worker} ${index % 50}`), agent_id: 'during' }));
          await cache.get(TENANT, keys[index % keys.length] as string);
          await search(cache);
          await turn();
        }
      });
      expect(await other.invalidate(TENANT, 'agent:before')).toBe(300);
      isOver = true;
      await Promise.all(load);
      for (const each of keys) expect(await one.get(TENANT, each)).toBeNull();
      expect(await one.invalidate(TENANT, 'agent:before', true)).toBe(0);
      expect(await one.get(TENANT, hex('during 0 0'))).not.toBeNull();
    });

    it('keeps nothing that one had under way when the other threw answers out, and leaves nothing of it behind', async () => {
      const [one, other] = [gateway(), gateway()];
      const before = (await one.epoch(TENANT)) ?? expect.fail('no epoch');
      expect(await other.epoch(TENANT)).toBe(before);
      await other.invalidate(TENANT, null);
      expect(await one.put(entry(), before)).toBe('outdated');
      for (const cache of [one, other]) {
        expect(await cache.get(TENANT, key)).toBeNull();
        expect(await search(cache)).toBeNull();
      }
      await expect
        .poll(async () => (await redis().keys('*')).map((name) => /_([a-z]+):/.exec(name)?.[1]).sort())
        .toEqual(['epoch']);
      // An epoch that Redis has forgotten is over as well.
      const since = (await one.epoch(TENANT)) ?? expect.fail('no epoch');
      await redis().del(await nameOf('_epoch:*'));
      expect(await one.put(entry(), since)).toBe('outdated');
      expect(await one.epoch(TENANT)).not.toBe(since);
    });

    it('keeps nothing that one had under way when answers were thrown out, since the clock of Redis was set back', async () => {
      const cache = gateway();
      await cache.epoch(TENANT);
      // As if it had begun by a clock that was an hour ahead.
      const before = String((Date.now() + HOUR_MS) * 1_000);
      await redis().set(await nameOf('_epoch:*'), before, 'KEEPTTL');
      expect(await cache.epoch(TENANT)).toBe(before);
      await cache.invalidate(TENANT, null);
      expect(await cache.put(entry(), before)).toBe('outdated');
    });

    it('serves nothing older than an invalidation whose epoch Redis has evicted', async () => {
      const [one, other] = [gateway(), gateway()];
      const before = (await one.epoch(TENANT)) ?? expect.fail('no epoch');
      const kept = hex('kept before');
      expect(await one.put(entry({ key: kept }), before)).toBe('kept');
      await other.invalidate(TENANT, null);
      await redis().unlink(await nameOf('_epoch:*'));
      expect(await one.put(entry(), before)).toBe('outdated');
      // Nor in the epoch that begins anew.
      const since = (await other.epoch(TENANT)) ?? expect.fail('no epoch');
      expect(await one.put(entry(), before)).toBe('outdated');
      for (const cache of [one, other])
        expect([await cache.get(TENANT, key), await cache.get(TENANT, kept)]).toEqual([null, null]);
      expect(await search(one)).toBeNull();
      expect(await one.put(entry(), since)).toBe('kept');
      expect(await other.get(TENANT, key)).not.toBeNull();
    });

    it('serves nothing that was asked for before an invalidation, while both fill and throw out', async () => {
      const [one, other] = [gateway(), gateway()];
      const keys = Array.from({ length: 8 }, (_, index) => hex(`race ${index}`));
      /** An answer tells how many had begun when it was asked for, and must not be served once more than those have ended. */
      let [begunCount, endedCount] = [0, 0];
      let isOver = false;
      const outdated: string[] = [];
      const fill = async (cache: RedisLlmCache): Promise<void> => {
        for (let index = 0; !isOver; index += 1) {
          const each = keys[index % keys.length] as string;
          const atLookUp = endedCount;
          const hit = await cache.get(TENANT, each);
          if (hit !== null && Number(hit.entry.answer.text) < atLookUp)
            outdated.push(`${hit.entry.answer.text} < ${atLookUp}`);
          const epoch = (await cache.epoch(TENANT)) ?? expect.fail('no epoch');
          const text = String(begunCount);
          await turn();
          await cache.put(entry({ key: each, answer: { ...entry().answer, text } }), epoch);
        }
      };
      const load = [one, other, one, other].map(fill);
      for (let round = 0; round < 60; round += 1) {
        begunCount += 1;
        await (round % 2 === 0 ? one : other).invalidate(TENANT, null);
        endedCount += 1;
        await turn();
      }
      isOver = true;
      await Promise.all(load);
      expect(outdated).toEqual([]);
    });

    it('bounds what waits for a Redis that hangs', async () => {
      const cache = gateway({ waitMs: 20 });
      await cache.put(entry());
      server.freeze();
      const { result, ms } = await timed(
        Promise.all(Array.from({ length: 5_000 }, () => cache.get(TENANT, key))),
      );
      expect(result.every((hit) => hit === null)).toBe(true);
      expect(ms).toBeLessThan(5 * FAST_MS);
    });
  });
});
