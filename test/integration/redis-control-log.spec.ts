/** What gateways read of each other in the log that they keep in Redis: from where, how much, and what they have missed. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { connectRedis, RedisControlLog } from '#adapters/redis';
import { type RedisServer, redisMissing, startRedis } from './start-redis.js';

const KEY = 'observatory:control';

describe.skipIf(redisMissing !== null)('the log of control in Redis', () => {
  let redis: RedisServer;
  let connection: ReturnType<typeof connectRedis>;
  let log: RedisControlLog;

  beforeAll(async () => {
    redis = await startRedis();
    connection = connectRedis(redis.socketPath, { onError: (failure) => expect.fail(String(failure)) });
    await connection.open();
    log = new RedisControlLog(connection.client);
  });
  afterAll(async () => {
    await connection.quit();
    await redis.stop();
  });
  beforeEach(() => connection.client.del(KEY));

  const read = async (cursor: string | null, countMax = 10) => {
    const { entries, isBroken } = await log.readAfter(cursor, countMax);
    return { texts: entries.map(({ text }) => text), isBroken, last: entries.at(-1)?.cursor ?? null };
  };
  const append = async (...texts: string[]) => {
    for (const text of texts) await log.append(text);
  };

  it('is read in its order, so many at a time, each part from where the one before it ended', async () => {
    expect(await read(null)).toEqual({ texts: [], isBroken: false, last: null });
    await append('a', 'b', 'c');
    const first = await read(null, 2);
    expect(first).toMatchObject({ texts: ['a', 'b'], isBroken: false });
    const second = await read(first.last, 2);
    expect(second).toMatchObject({ texts: ['c'], isBroken: false });
    expect(await read(second.last)).toEqual({ texts: [], isBroken: false, last: null });
    await append('d');
    expect(await read(second.last)).toMatchObject({ texts: ['d'], isBroken: false });
  });

  it('says to one that it has missed something when what it read last is no longer there', async () => {
    await append('a', 'b', 'c');
    const { last } = await read(null, 1);
    await connection.client.xtrim(KEY, 'MAXLEN', 1);
    expect(await read(last)).toMatchObject({ texts: ['c'], isBroken: true });
  });

  it.each([
    ['later', '99999999999999-0'],
    ['in the same millisecond', '1000-7'],
  ])('begun anew, it is read from its start by one that has read something %s', async (_, cursor) => {
    await connection.client.xadd(KEY, '1000-1', 'text', 'a');
    await connection.client.xadd(KEY, '1000-2', 'text', 'b');
    expect(await read(cursor)).toMatchObject({ texts: ['a', 'b'], isBroken: true });
  });

  it('that is gone, or empty, has nothing new, whatever was read of it', async () => {
    const nothing = { texts: [], isBroken: false, last: null };
    expect(await read('1000-1')).toEqual(nothing);
    await append('a');
    await connection.client.xtrim(KEY, 'MAXLEN', 0);
    expect(await read('1000-1')).toEqual(nothing);
  });

  it('takes the place of a value that is no log, and of none that is', async () => {
    await connection.client.set(KEY, "somebody else's");
    expect(await read(null)).toMatchObject({ texts: [], isBroken: false });
    await append('a', 'b');
    expect((await read(null)).texts).toEqual(['a', 'b']);
  });

  it('forgets the oldest words when there are too many', async () => {
    const { client } = connection;
    const many = client.pipeline();
    for (let count = 0; count < 12_000; count += 1) many.xadd(KEY, '*', 'text', 'old');
    await many.exec();
    await append('new');
    expect(await client.xlen(KEY)).toBeLessThan(11_000);
    expect(await client.xlen(KEY)).toBeGreaterThanOrEqual(10_000);
  });

  it('has no word from the future, though the clock of Redis was set back', async () => {
    await connection.client.xadd(KEY, '99999999999999-0', 'text', 'a');
    expect((await log.readAfter(null, 1)).entries).toMatchObject([{ text: 'a', ageMs: 0 }]);
  });
});
