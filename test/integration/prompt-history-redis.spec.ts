/**
 * What only a shared store must do: one step in Redis, expiry there, several sidecars, and failing fast when the server
 * is away. Against a real redis-server; where a search is needed, its query engine is stood in for.
 */
import { Redis } from 'ioredis';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  type ConnectRedisOptions,
  connectRedis,
  type RedisConnection,
  RedisPromptHistory,
  type RedisPromptHistoryOptions,
} from '#adapters/redis';
import { promptEntry, vectorAt } from '../../libs/testing/src/prompt-history.conformance.js';
import { PATIENT_MS } from './prompt-history-place.js';
import { type StandIn, startStandIn } from './stand-in-query-engine.js';
import { type RedisServer, redisMissing, startRedis } from './start-redis.js';

const SCOPE = { tenant_id: 'canary-tenant', session_id: 'canary-session' };
const HOUR_MS = 3_600_000;
/** Far above the 40 ms of the history, far below any other timeout: a busy machine is no failure. */
const FAST_MS = 900;
const unavailable = { name: 'PromptHistoryFailure', reason: 'unavailable' };

describe.skipIf(redisMissing !== null)('the prompt history in Redis', () => {
  let connections: RedisConnection[];

  const connect = (url: string, options: Partial<ConnectRedisOptions> = {}): RedisConnection => {
    const connection = connectRedis(url, { onError: () => {}, reconnectMaxMs: 50, ...options });
    connections.push(connection);
    return connection;
  };
  const historyOn = (
    connection: RedisConnection,
    options: Partial<RedisPromptHistoryOptions> = {},
  ): RedisPromptHistory =>
    new RedisPromptHistory({
      connection,
      model: { model_id: 'test/model', dimension: 8 },
      replyTimeoutMs: PATIENT_MS,
      ...options,
    });
  const recordUntilDone = (history: RedisPromptHistory, requestId: string): Promise<void> =>
    expect
      .poll(
        () =>
          history.record(SCOPE, promptEntry(requestId)).then(
            () => 'recorded',
            () => 'not yet',
          ),
        { timeout: PATIENT_MS },
      )
      .toBe('recorded');

  beforeEach(() => {
    connections = [];
  });
  afterEach(async () => {
    await Promise.all(connections.map((connection) => connection.quit()));
  });

  describe('on a server without a query engine', () => {
    let server: RedisServer;
    let connection: RedisConnection;
    let history: RedisPromptHistory;
    let backend: Redis;
    const entryKeys = (): Promise<string[]> => backend.keys('*:entry:*');
    const requestIds = async (): Promise<string[]> => {
      const found = await Promise.all((await entryKeys()).map((key) => backend.hget(key, 'request_id')));
      return found.map(String).sort();
    };

    beforeEach(async () => {
      server = await startRedis();
      backend = new Redis(server.socketPath);
      backend.on('error', () => {});
      connection = connect(server.socketPath);
      await connection.open();
      history = historyOn(connection);
    });
    afterEach(async () => {
      server.thaw();
      backend.disconnect();
      await server.stop();
    });

    it('says that there is none, and what to do about it', async () => {
      const failure = {
        name: 'PromptHistoryFailure',
        reason: 'no_query_engine',
        message: expect.stringMatching(/Redis 8.*Redis Stack.*memory/),
      };
      await expect(history.open()).rejects.toMatchObject(failure);
      await expect(history.probe()).rejects.toMatchObject(failure);
      await expect(history.similar(SCOPE, vectorAt(0), 'r')).rejects.toMatchObject(failure);
    });

    it('keeps the last five in one step, each with a time of its own', async () => {
      for (let index = 1; index <= 7; index += 1) {
        await history.record(SCOPE, promptEntry(`r${index}`));
        for (const key of await entryKeys())
          await backend.pexpire(key, (await backend.pttl(key)) - HOUR_MS / 10);
      }
      expect(await requestIds()).toEqual(['r3', 'r4', 'r5', 'r6', 'r7']);
      const [order] = await backend.keys('*:order:*');
      expect(await backend.zcard(String(order))).toBe(5);
      for (const key of await entryKeys()) {
        const passed = 8 - Number((await backend.hget(key, 'request_id'))?.slice(1));
        const ttlMs = await backend.pttl(key);
        expect(ttlMs).toBeLessThanOrEqual(HOUR_MS - (passed * HOUR_MS) / 10);
        expect(ttlMs).toBeGreaterThan(HOUR_MS - (passed * HOUR_MS) / 10 - 30_000);
        expect(ttlMs).toBeLessThanOrEqual(await backend.pttl(String(order)));
      }
      expect(await backend.dbsize()).toBe(6);
    });

    it('replaces a request that comes again, as the newest, with a full time', async () => {
      for (const id of ['again', 'b', 'c', 'd', 'e']) await history.record(SCOPE, promptEntry(id));
      for (const key of await entryKeys()) await backend.pexpire(key, 60_000);
      await history.record(SCOPE, promptEntry('again', 45, 'in other words'));
      await history.record(SCOPE, promptEntry('f'));
      expect(await requestIds()).toEqual(['again', 'c', 'd', 'e', 'f']);
      const ttls = await Promise.all((await entryKeys()).map((key) => backend.pttl(key)));
      expect(ttls.filter((ttlMs) => ttlMs > 60_000)).toHaveLength(2);
      const hashes = await Promise.all((await entryKeys()).map((key) => backend.hgetallBuffer(key)));
      const again = hashes.find((hash) => String(hash.request_id) === 'again');
      expect(String(again?.prompt)).toBe('in other words');
      expect(again?.vec).toEqual(Buffer.from(vectorAt(45).buffer));
    });

    it.each<[string, (key: string) => Promise<unknown>]>([
      ['a text', (key) => backend.set(key, 'foreign')],
      ['a list', (key) => backend.rpush(key, '1', '2')],
      ['a set', (key) => backend.sadd(key, '1')],
      ['a hash', (key) => backend.hset(key, 'x', 'y')],
      ['an order without an end', (key) => backend.zadd(key, 'inf', 'foreign')],
      ['an order from below every number', (key) => backend.zadd(key, '-inf', 'foreign')],
      ['an order beyond whole numbers', (key) => backend.zadd(key, '9007199254740993', 'foreign')],
    ])('records on where %s stands in place of the order', async (_what, put) => {
      await history.record(SCOPE, promptEntry('before'));
      const [order] = await backend.keys('*:order:*');
      await backend.del(String(order));
      await put(String(order));
      for (const id of ['a', 'b', 'c', 'd', 'e', 'f']) await history.record(SCOPE, promptEntry(id));
      // What was recorded before is in no order any more, and expires.
      expect(await requestIds()).toEqual(['b', 'before', 'c', 'd', 'e', 'f']);
      expect(await backend.zcard(String(order))).toBe(5);
      expect(await backend.pttl(String(order))).toBeGreaterThan(0);
    });

    it.each<[string, (key: string) => Promise<unknown>]>([
      ['a text', (key) => backend.set(key, 'foreign')],
      ['a set of scores', (key) => backend.zadd(key, 1, 'foreign')],
    ])('records on where %s stands in place of the entry', async (_what, put) => {
      await history.record(SCOPE, promptEntry('a'));
      const [entry] = await entryKeys();
      await backend.del(String(entry));
      await put(String(entry));
      await history.record(SCOPE, promptEntry('a'));
      expect(await requestIds()).toEqual(['a']);
      expect(await backend.pttl(String(entry))).toBeGreaterThan(0);
    });

    it('loses the count of nothing when fewer are to be kept from now on', async () => {
      for (const id of ['a', 'b', 'c', 'd', 'e']) await history.record(SCOPE, promptEntry(id));
      await historyOn(connection, { countMax: 2 }).record(SCOPE, promptEntry('f'));
      expect(await requestIds()).toEqual(['e', 'f']);
    });

    it('keeps exactly five of 200 at once over four connections', async () => {
      const histories = await Promise.all(
        Array.from({ length: 4 }, async () => {
          const own = connect(server.socketPath);
          await own.open();
          return historyOn(own);
        }),
      );
      await Promise.all(
        Array.from({ length: 200 }, (_, index) =>
          (histories[index % 4] as RedisPromptHistory).record(SCOPE, promptEntry(`r${index}`)),
        ),
      );
      expect(await requestIds()).toHaveLength(5);
      expect(await backend.dbsize()).toBe(6);
    });

    it('stays as small however long 100 tenants go on', async () => {
      for (let round = 0; round < 8; round += 1)
        await Promise.all(
          Array.from({ length: 100 }, (_, tenant) =>
            history.record({ ...SCOPE, tenant_id: `t${tenant}` }, promptEntry(`r${round}`)),
          ),
        );
      expect(await backend.dbsize()).toBe(600);
    });

    it('writes no id and no prompt into the names of keys', async () => {
      await history.record(SCOPE, promptEntry('canary-request', 0, 'canary-prompt'));
      const keys = await backend.keys('*');
      expect(keys).toHaveLength(2);
      expect(keys.join('\n')).not.toContain('canary');
    });

    it('is one round trip, and goes on when Redis has forgotten the script', async () => {
      await history.record(SCOPE, promptEntry('a'));
      await backend.config('RESETSTAT');
      for (const id of ['b', 'c']) await history.record(SCOPE, promptEntry(id));
      expect(await backend.info('commandstats')).toMatch(/cmdstat_evalsha:calls=2,/);
      await backend.script('FLUSH');
      await history.record(SCOPE, promptEntry('d'));
      expect(await requestIds()).toEqual(['a', 'b', 'c', 'd']);
    });

    it('rejects fast while Redis is down, and comes back by itself', async () => {
      await server.kill();
      const startMs = performance.now();
      await expect(history.record(SCOPE, promptEntry('a'))).rejects.toMatchObject(unavailable);
      await expect(history.similar(SCOPE, vectorAt(0), 'a')).rejects.toMatchObject(unavailable);
      expect(performance.now() - startMs).toBeLessThan(FAST_MS);
      await server.start();
      await recordUntilDone(history, 'b');
      await expect.poll(requestIds, { timeout: PATIENT_MS }).toEqual(['b']);
    });

    it('rejects fast while Redis hangs, and comes back when it thaws', async () => {
      const impatient = historyOn(connection, { replyTimeoutMs: 40 });
      server.freeze();
      const startMs = performance.now();
      await expect(impatient.record(SCOPE, promptEntry('a'))).rejects.toMatchObject(unavailable);
      expect(performance.now() - startMs).toBeLessThan(FAST_MS);
      expect(impatient.counts().timeouts).toBe(1);
      server.thaw();
      await recordUntilDone(history, 'b');
      expect(await requestIds()).toContain('b');
    });

    it('takes a new connection when the master has become a replica, and records once it finds a master', async () => {
      await history.record(SCOPE, promptEntry('a'));
      await backend.replicaof('127.0.0.1', 1);
      const closed = new Promise((settle) => connection.client.once('close', settle));
      await expect(history.record(SCOPE, promptEntry('b'))).rejects.toMatchObject({
        ...unavailable,
        message: 'Redis is a read-only replica',
      });
      await closed;
      await backend.replicaof('NO', 'ONE');
      await recordUntilDone(history, 'c');
      expect(await requestIds()).toEqual(['a', 'c']);
    });
  });

  describe('with its query engine stood in for', () => {
    let standIn: StandIn;
    const open = async (options: Partial<RedisPromptHistoryOptions> = {}): Promise<RedisPromptHistory> => {
      const history = historyOn(connect(standIn.redis.url), options);
      await history.open();
      return history;
    };
    const idsIn = async (history: RedisPromptHistory, dimension = 8): Promise<string[]> =>
      (await history.similar(SCOPE, vectorAt(0, dimension), 'asking')).map(({ request_id }) => request_id);

    beforeEach(async () => {
      standIn = await startStandIn(3);
    });
    afterEach(() => standIn.stop());

    it('is shared by several sidecars', async () => {
      const [one, other] = [await open(), await open()];
      await one.record(SCOPE, promptEntry('of one', 10));
      await other.record(SCOPE, promptEntry('of the other', 20));
      expect(await idsIn(one)).toEqual(['of one', 'of the other']);
      expect(await idsIn(other)).toEqual(['of one', 'of the other']);
    });

    it('never compares vectors of two models, or of two dimensions', async () => {
      const [one, other, wide] = [
        await open(),
        await open({ model: { model_id: 'test-model', dimension: 8 } }),
        await open({ model: { model_id: 'test/model', dimension: 80 } }),
      ];
      await one.record(SCOPE, promptEntry('r'));
      await wide.record(SCOPE, { ...promptEntry('w'), vector: vectorAt(0, 80) });
      expect([await idsIn(one), await idsIn(other), await idsIn(wide, 80)]).toEqual([['r'], [], ['w']]);
    });

    it('has its index again at the first search after a FLUSHALL', async () => {
      const history = await open();
      await history.record(SCOPE, promptEntry('before'));
      await connections[0]?.client.flushall();
      await history.record(SCOPE, promptEntry('between'));
      expect(await idsIn(history)).toEqual(['between']);
      await history.record(SCOPE, promptEntry('after', 10));
      expect(await idsIn(history)).toEqual(['between', 'after']);
      expect(history.counts().indexes_created).toBe(2);
    });

    it('finds its way back after the connection was cut', async () => {
      const history = await open();
      await history.record(SCOPE, promptEntry('r'));
      standIn.redis.hangUp();
      await expect.poll(() => idsIn(history).catch(() => []), { timeout: PATIENT_MS }).toEqual(['r']);
      await history.probe();
    });
  });
});
