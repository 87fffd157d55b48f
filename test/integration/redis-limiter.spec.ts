/** What only a shared store must do: its own clock, expiry, several clients, and failing fast when it is away. */
import { once } from 'node:events';
import { type AddressInfo, createConnection, createServer, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  type ConnectRedisOptions,
  connectRedis,
  type RedisConnection,
  type RedisFailure,
  RedisRateLimiter,
} from '#adapters/redis';
import { agentScope, type LimitWindow, NO_LIMITS } from '#contracts';
import { budgetSeeds, limitWindows } from '#domain/policy';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '#kernel';
import { FakeClock, lookAt } from '#testing';
import { type RedisServer, redisMissing, startRedis } from './start-redis.js';

const PASSWORD = 'canary-redis-password-7f3a';
/** Far above the 50 ms of the limiter, far below any other timeout: a busy machine is no failure. */
const FAST_MS = 900;

/** All of this process stands still; others have its core meanwhile. */
const sleepInPlace = (ms: number): void =>
  void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);

const hour = (limit: number, amount = 1): LimitWindow => ({
  key: 'default\0agent-1\0requests',
  kind: 'sliding',
  windowMs: 3_600_000,
  limit,
  amount,
});

const month = (amount: number): LimitWindow => {
  const now = new Date();
  const startMs = Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), 1);
  const endMs = Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1);
  const windowMs = endMs - startMs;
  return { key: 'default\0agent-1\0month', kind: 'calendar', windowMs, startMs, limit: 1_000, amount };
};

describe.skipIf(redisMissing !== null)('the limiter in Redis', () => {
  let server: RedisServer;
  let failures: RedisFailure[];
  let connections: RedisConnection[];

  const open = (url = server.socketPath, options: Partial<ConnectRedisOptions> = {}): RedisConnection => {
    const connection = connectRedis(url, {
      onError: (failure) => failures.push(failure),
      reconnectMaxMs: 100,
      ...options,
    });
    connections.push(connection);
    return connection;
  };
  const limiterOf = (
    { client }: RedisConnection,
    replyTimeoutMs?: number,
    gatewayId = 'gateway-1',
  ): RedisRateLimiter =>
    new RedisRateLimiter({ client, gatewayId, ...(replyTimeoutMs !== undefined && { replyTimeoutMs }) });
  /** Its Redis says what the clock says. */
  const inTime = async (nowMs: number) => {
    const connection = open();
    await connection.open();
    const clock = new FakeClock(nowMs);
    const limiter = new RedisRateLimiter({
      client: connection.client,
      gatewayId: 'gateway-1',
      replyTimeoutMs: 5_000,
      clock,
    });
    return { clock, limiter };
  };
  /** Milliseconds until it rejected, and with what. */
  const rejection = async (work: Promise<unknown>): Promise<{ failure: RedisFailure; afterMs: number }> => {
    const startMs = performance.now();
    const failure = await work.then(
      () => expect.fail('was not rejected'),
      (error: unknown) => error as RedisFailure,
    );
    return { failure, afterMs: performance.now() - startMs };
  };
  const ready = (connection: RedisConnection): Promise<void> =>
    connection.isReady
      ? Promise.resolve()
      : new Promise((settle) => connection.client.once('ready', () => settle()));

  beforeEach(async () => {
    failures = [];
    connections = [];
    server = await startRedis();
  });
  afterEach(async () => {
    server.thaw();
    await Promise.all(connections.map((connection) => connection.quit()));
    await server.stop();
  });

  it('counts by the clock of Redis, and every key expires', async () => {
    const connection = open();
    await connection.open();
    const beforeMs = Date.now();
    const { atMs } = await limiterOf(connection, 5_000).take([hour(5), month(3)]);
    expect(atMs).toBeGreaterThanOrEqual(beforeMs);
    expect(atMs).toBeLessThanOrEqual(Date.now());
    const keys = await connection.client.keys('*');
    expect(keys).toHaveLength(2);
    for (const key of keys) {
      expect(key).toMatch(/^observatory:limits:\{default%0agent-1\}:/);
      const ttlMs = await connection.client.pttl(key);
      expect(ttlMs).toBeGreaterThan(3_600_000);
      expect(ttlMs).toBeLessThanOrEqual(32 * 86_400_000);
    }
  });

  it('writes nothing when it refuses or gives back what nobody took', async () => {
    const connection = open();
    await connection.open();
    const limiter = limiterOf(connection, 5_000);
    await limiter.take([hour(5, 6)]);
    await limiter.correct([{ ...hour(0), amount: -5 }]);
    expect(await connection.client.dbsize()).toBe(0);
  });

  it('corrects and seeds the day of a gateway whose clock is hours behind that of Redis', async () => {
    const connection = open();
    await connection.open();
    const limiter = limiterOf(connection, 5_000);
    const windowMs = 24 * 3_600_000;
    // Over for two hours by the clock of Redis, and not by the gateway's.
    const startMs = Date.now() - windowMs - 2 * 3_600_000;
    const day = (amount: number): LimitWindow => ({ ...month(amount), windowMs, startMs });
    const used = async () => (await lookAt(limiter, [day(0)]))[0]?.used;
    await limiter.take([day(50)]);
    await limiter.correct([day(-20)]);
    expect(await used()).toBe(30);
    await limiter.seed([day(70)], startMs);
    expect(await used()).toBe(70);
    await connection.client.flushall();
    await limiter.seed([day(40)], startMs);
    expect(await used()).toBe(40);
    for (const key of await connection.client.keys('*'))
      expect(await connection.client.pttl(key)).toBeGreaterThan(3_500_000);
  });

  /** What is told was spent evenly, 100 a minute; of what is older than the two hours that are told nothing is known. */
  it.each([
    { minute: 20, ahead: 0, used: 6_000, later: 5_000 },
    { minute: 20, ahead: -90, used: 6_000, later: 5_000 },
    { minute: 20, ahead: 90, used: 6_000, later: 5_000 },
    { minute: 50, ahead: -90, used: 6_000, later: 5_000 },
    { minute: 50, ahead: 90, used: 6_000, later: 5_000 },
    { minute: 20, ahead: -5 * 60, used: 6_000, later: 5_000 },
    { minute: 20, ahead: 24 * 60, used: 6_000, later: 5_000 },
    { minute: 1, ahead: -2, used: 6_000, later: 5_000 },
  ])(
    'seeds the hour at minute $minute of Redis by a gateway whose clock is $ahead minutes ahead',
    async ({ minute, ahead, used, later }) => {
      const { clock, limiter } = await inTime(Date.UTC(2026, 5, 15, 12, minute));
      const agent = agentScope('default', 'agent-1');
      const limits = { ...NO_LIMITS, budget_hour_usd: 1 };
      const nowMs = clock.nowMs() + ahead * MINUTE_MS;
      const hourMs = nowMs - (nowMs % HOUR_MS);
      const spent = [
        { hourMs, costMicroUsd: (100 * (nowMs - hourMs)) / MINUTE_MS },
        { hourMs: hourMs - HOUR_MS, costMicroUsd: 6_000 },
        { hourMs: hourMs - 2 * HOUR_MS, costMicroUsd: 1_000_000 },
        { hourMs: hourMs - DAY_MS, costMicroUsd: 1_000_000 },
      ];
      const look = limitWindows(agent, limits, { requests: 0, tokens: 0, costMicroUsd: 0 }, nowMs);
      const usedOf = async () => (await lookAt(limiter, look))[0]?.used;
      for (let time = 0; time < 2; time += 1) {
        await limiter.seed(budgetSeeds(agent, limits, spent, nowMs), nowMs);
        expect(await usedOf()).toBe(used);
      }
      clock.advance(10 * MINUTE_MS);
      expect(await usedOf()).toBe(later);
    },
  );

  it.each([
    { minute: 7, spentAt: 0, used: 800 },
    { minute: 0, spentAt: -HOUR_MS, used: 800 + 50 },
  ])(
    'counts once what is seeded again, on its way for a few milliseconds more or less: at minute $minute',
    async ({ minute, spentAt, used }) => {
      const { clock, limiter } = await inTime(Date.UTC(2026, 5, 15, 12, minute, 20));
      const agent = agentScope('default', 'agent-1');
      const limits = { ...NO_LIMITS, budget_hour_usd: 1 };
      const look = limitWindows(agent, limits, { requests: 0, tokens: 0, costMicroUsd: 0 }, clock.nowMs());
      const hourMs = Date.UTC(2026, 5, 15, 12);
      const spent = [{ hourMs: hourMs + spentAt, costMicroUsd: 800 }];
      if (spentAt < 0) {
        await limiter.take(
          limitWindows(agent, limits, { requests: 1, tokens: 0, costMicroUsd: 50 }, clock.nowMs()),
        );
        spent.push({ hourMs, costMicroUsd: 50 });
      }
      for (const lateMs of [0, 6, 0, -3, 40]) {
        const nowMs = clock.nowMs() - lateMs;
        await limiter.seed(budgetSeeds(agent, limits, spent, nowMs), nowMs);
        expect((await lookAt(limiter, look))[0]?.used, `${lateMs} ms`).toBe(used);
        clock.advance(1_000);
      }
    },
  );

  it.each([-90, 90])(
    'corrects the hour in which a gateway took whose clock is %i minutes ahead, where that is told by its clock',
    async (ahead) => {
      const { clock, limiter } = await inTime(Date.UTC(2026, 5, 15, 12, 30));
      const nowMs = clock.nowMs() + ahead * MINUTE_MS;
      for (const minutesAgo of [10, 40, 100]) {
        const change = { ...hour(0, 100), takenAtMs: nowMs - minutesAgo * MINUTE_MS };
        await limiter.correct([change], nowMs);
      }
      expect((await lookAt(limiter, [hour(0)]))[0]?.used).toBe(100 + 100);
    },
  );

  it.each([-2, 2])(
    'says how long a day lasts by the clock of the gateway, which is %i hours ahead, and how long a sliding hour by its own',
    async (ahead) => {
      const midnightMs = Date.UTC(2026, 5, 16);
      // 01:00 by the clock of Redis where the gateway is behind, and 21:00 the day before where it is ahead: for it 23:00.
      const nowMs = midnightMs - HOUR_MS;
      const { limiter } = await inTime(nowMs - ahead * HOUR_MS);
      const day: LimitWindow = { ...month(1_000), windowMs: DAY_MS, startMs: midnightMs - DAY_MS };
      const { windows } = await limiter.take([day, hour(1)], nowMs);
      expect(windows).toMatchObject([{ resetMs: HOUR_MS }, { resetMs: HOUR_MS + MINUTE_MS }]);
      expect(await limiter.take([day], nowMs)).toMatchObject({
        retryAfterMs: HOUR_MS,
        windows: [{ resetMs: HOUR_MS }],
      });
      expect(await limiter.take([hour(1)], nowMs)).toMatchObject({ retryAfterMs: HOUR_MS + MINUTE_MS });
    },
  );

  it('is one round trip for all windows, and sends the script once for each connection', async () => {
    const connection = open();
    await connection.open();
    const limiter = limiterOf(connection, 5_000);
    await limiter.take([hour(5), month(1)]);
    await connection.client.config('RESETSTAT');
    for (let call = 0; call < 3; call += 1) await limiter.take([hour(5), month(1)]);
    const stats = await connection.client.info('commandstats');
    expect(stats).toMatch(/cmdstat_evalsha:calls=3,/);
    expect(stats).not.toMatch(/cmdstat_eval:/);
  });

  describe('keeps a part for each gateway', () => {
    const seed = (window: LimitWindow, amount: number) => ({ ...window, amount });
    const usedOf = async (limiter: RedisRateLimiter, window: LimitWindow) =>
      (await lookAt(limiter, [window]))[0]?.used;
    let one: RedisRateLimiter;
    let two: RedisRateLimiter;
    beforeEach(async () => {
      const connection = open();
      await connection.open();
      one = limiterOf(connection, 5_000, 'gateway-1');
      two = limiterOf(connection, 5_000, 'gateway-2');
    });

    it('so that what each of them seeds adds up, however often they do', async () => {
      const place = month(0);
      for (let time = 0; time < 2; time += 1) {
        await one.seed([seed(place, 300)], Date.now());
        await two.seed([seed(place, 200)], Date.now());
      }
      expect(await usedOf(one, place)).toBe(500);
      await two.take([month(50)]);
      await one.seed([seed(place, 310)], Date.now());
      await two.seed([seed(place, 250)], Date.now());
      expect(await usedOf(two, place)).toBe(560);
    });

    it('and gives back no more than its own', async () => {
      const place = month(0);
      await one.take([month(70)]);
      await two.correct([seed(place, -50)]);
      await two.take([month(20)]);
      await two.correct([seed(place, -50)]);
      expect(await usedOf(one, place)).toBe(70);
    });

    it('and says how long to wait by the minutes of all, and keeps no more than those that count', async () => {
      const connection = open();
      await connection.open();
      const clock = new FakeClock(Date.UTC(2026, 5, 15, 12));
      const of = (gatewayId: string) =>
        new RedisRateLimiter({ client: connection.client, gatewayId, replyTimeoutMs: 5_000, clock });
      const [here, there] = [of('gateway-1'), of('gateway-2')];
      await there.take([hour(3)]);
      clock.advance(10 * MINUTE_MS);
      await here.take([hour(3)]);
      clock.advance(10 * MINUTE_MS);
      await there.take([hour(3)]);
      const refused = { allowed: false, windows: [{ used: 3 }] };
      expect(await here.take([hour(3)])).toMatchObject({ ...refused, retryAfterMs: 41 * MINUTE_MS });
      expect(await here.take([hour(3, 2)])).toMatchObject({ ...refused, retryAfterMs: 51 * MINUTE_MS });
      expect(await there.take([hour(3, 3)])).toMatchObject({ ...refused, retryAfterMs: 61 * MINUTE_MS });
      for (let minute = 0; minute < 200; minute += 1) {
        clock.advance(MINUTE_MS);
        await here.take([hour(1_000)]);
        if (minute < 70) await there.take([hour(1_000)]);
      }
      expect(await usedOf(here, hour(0))).toBe(61);
      const [key = ''] = await connection.client.keys('*');
      const parts = await connection.client.hgetall(key);
      expect(Object.keys(parts).sort()).toEqual(['gateway-1', 'past gateway-1']);
      expect(parts['past gateway-1']?.split(' ').filter((slot) => slot !== '')).toHaveLength(60);
    });

    it('and says to each when it has forgotten what that one took', async () => {
      expect((await one.take([hour(5), month(3)])).begun).toEqual([true, true]);
      expect((await two.take([hour(5), month(3)])).begun).toEqual([true, true]);
      expect((await one.take([hour(5), month(3)])).begun).toEqual([false, false]);
      expect((await two.take([hour(2)])).allowed).toBe(false);
    });
  });

  it('says that it was emptied also where the first it hears is that a call took more than was estimated', async () => {
    const connection = open();
    await connection.open();
    const limiter = limiterOf(connection, 5_000);
    await limiter.take([month(900)]);
    await connection.client.flushall();
    await limiter.correct([month(20)]);
    // As gateways before this one read it, which may count beside it.
    for (const key of await connection.client.keys('*'))
      expect(await connection.client.hvals(key)).toEqual([expect.stringMatching(/^\d+ 20 0$/)]);
    expect((await limiter.take([month(10)])).begun).toEqual([true]);
    await limiter.seed([month(930)], Date.now());
    expect(await limiter.take([month(10)])).toMatchObject({ begun: [false], windows: [{ used: 940 }] });
  });

  it('counts beside the sliding counters of earlier builds, and on in the days that those have begun', async () => {
    const connection = open();
    await connection.open();
    const { client } = connection;
    const nowMs = Date.now();
    const nine = (startMs = 0) => ['gateway-0', `${startMs} 9 0`] as const;
    await client.hset('observatory:limits:{default%0agent-1}:requests', ...nine(nowMs - (nowMs % HOUR_MS)));
    const { startMs } = month(0);
    await client.hset(`observatory:limits:{default%0agent-1}:month:${startMs}`, ...nine(startMs));
    const { windows } = await limiterOf(connection, 5_000).take([hour(5), month(1)]);
    expect(windows).toMatchObject([{ used: 1 }, { used: 10 }]);
  });

  it('goes on when Redis has forgotten the script', async () => {
    const connection = open();
    await connection.open();
    const limiter = limiterOf(connection, 5_000);
    await limiter.take([hour(5)]);
    await connection.client.script('FLUSH');
    expect((await limiter.take([hour(5)])).windows[0]?.used).toBe(2);
  });

  it('lets exactly 100 of 200 at once through, over four connections', async () => {
    const limiters = await Promise.all(
      Array.from({ length: 4 }, async () => {
        const connection = open();
        await connection.open();
        return limiterOf(connection, 5_000);
      }),
    );
    const decisions = await Promise.all(
      Array.from({ length: 200 }, (_, index) => (limiters[index % 4] as RedisRateLimiter).take([hour(100)])),
    );
    expect(decisions.filter(({ allowed }) => allowed)).toHaveLength(100);
  });

  it('rejects fast while Redis is down, and comes back by itself', async () => {
    const connection = open();
    await connection.open();
    const limiter = limiterOf(connection);
    await ready(connection);
    await server.kill();
    for (let call = 0; call < 3; call += 1) {
      const { failure, afterMs } = await rejection(limiter.take([hour(5)]));
      expect(failure).toMatchObject({ name: 'RedisFailure' });
      expect(afterMs).toBeLessThan(FAST_MS);
    }
    const back = new Promise<void>((settle) => connection.client.once('ready', () => settle()));
    await server.start();
    await back;
    expect((await limiterOf(connection, 5_000).take([hour(5)])).allowed).toBe(true);
    expect(failures[0]?.reason).toBe('disconnected');
  });

  it('rejects what is under way when the connection breaks, and never sends it twice', async () => {
    const connection = open();
    await connection.open();
    const limiter = limiterOf(connection, 5_000);
    await limiter.take([hour(5)]);
    server.freeze();
    const waiting = rejection(limiter.take([hour(5)]));
    await server.kill();
    expect((await waiting).failure.reason).toBe('disconnected');
    await server.start();
    await ready(connection);
    expect((await lookAt(limiter, [hour(5)]))[0]?.used).toBe(0);
  });

  it('rejects fast while Redis hangs, gives the connection up, and comes back when it thaws', async () => {
    const connection = open();
    await connection.open();
    const limiter = limiterOf(connection);
    await limiterOf(connection, 5_000).take([hour(50)]);
    server.freeze();
    const closed = new Promise((settle) => connection.client.once('close', settle));
    const { failure, afterMs } = await rejection(limiter.take([hour(50)]));
    expect(failure.reason).toBe('timeout');
    expect(afterMs).toBeGreaterThanOrEqual(45);
    expect(afterMs).toBeLessThan(FAST_MS);
    await closed;
    // Not even the timeout's wait from here on.
    expect((await rejection(limiter.take([hour(50)]))).failure.reason).toBe('disconnected');
    expect(limiter.pendingCount).toBe(0);
    server.thaw();
    await ready(connection);
    expect((await limiterOf(connection, 5_000).take([hour(50)])).allowed).toBe(true);
  });

  it.each(['stays', 'is given up'])(
    'takes nothing for whom nobody waits any more, whether the connection %s',
    async (fate) => {
      const connection = open();
      await connection.open();
      const limiter = limiterOf(connection);
      // From its replies it knows what time it is there.
      await vi.waitFor(() => limiter.take([month(1)]));
      server.freeze();
      const closed = new Promise((settle) => connection.client.once('close', settle));
      expect((await rejection(limiter.take([month(500)]))).failure.reason).toBe('timeout');
      // Gone by with that: as long again.
      await rejection(limiter.take([month(0)]));
      if (fate === 'is given up') await closed;
      server.thaw();
      await ready(connection);
      const patient = limiterOf(connection, 5_000);
      expect((await lookAt(patient, [month(0)]))[0]?.used).toBe(1);
      expect((await patient.take([month(999)])).allowed).toBe(true);
    },
  );

  it('gives back what was taken in time where the reply comes too late', async () => {
    /** Replies on their way, while they are kept back. */
    let late: Buffer[] | null = null;
    let deliver: (bytes: Buffer) => unknown = () => {};
    const slow = createServer((client) => {
      const redis = createConnection(server.socketPath);
      client.on('error', () => redis.destroy()).pipe(redis);
      redis.on('error', () => client.destroy()).on('close', () => client.destroy());
      deliver = (bytes) => client.write(bytes);
      redis.on('data', (bytes) => late?.push(bytes) ?? deliver(bytes));
    }).listen(0, '127.0.0.1');
    await once(slow, 'listening');
    const patient = open();
    await patient.open();
    const usedByOthers = async (window: LimitWindow) =>
      (await lookAt(limiterOf(patient, 5_000), [window]))[0]?.used;
    const connection = open(`redis://127.0.0.1:${(slow.address() as AddressInfo).port}`);
    const limiter = limiterOf(connection);
    await vi.waitFor(() => limiter.take([month(1), hour(50)]));
    late = [];
    const { failure } = await rejection(limiter.take([month(500), hour(50, 7)]));
    expect(failure.reason).toBe('timeout');
    expect(await usedByOthers(month(0))).toBe(501);
    for (const bytes of late.splice(0)) deliver(bytes);
    late = null;
    await vi.waitFor(async () => {
      expect(await usedByOthers(month(0))).toBe(1);
      expect(await usedByOthers(hour(50))).toBe(1);
    });
    await connection.quit();
    slow.close();
  });

  it('takes a reply that lies there when this process was busy for longer than any wait, and stays connected', async () => {
    const connection = open();
    await connection.open();
    const limiter = limiterOf(connection);
    await limiterOf(connection, 5_000).take([hour(50)]);
    for (let round = 0; round < 2; round += 1) {
      const taken = limiter.take([hour(50)]);
      sleepInPlace(1_500);
      expect((await taken).allowed).toBe(true);
    }
    expect(failures).toEqual([]);
    expect(connection.isReady).toBe(true);
  });

  it('leaves a server that takes the connection and says nothing', async () => {
    const sockets: Socket[] = [];
    const mute = createServer((socket) => sockets.push(socket)).listen(0, '127.0.0.1');
    await once(mute, 'listening');
    const connection = open(`redis://127.0.0.1:${(mute.address() as AddressInfo).port}`);
    expect(await connection.open()).toBe(false);
    expect(failures[0]?.reason).toBe('timeout');
    await connection.quit();
    for (const socket of sockets) socket.destroy();
    mute.close();
  });

  it('bounds what waits for a Redis that hangs', async () => {
    const connection = open();
    await connection.open();
    const limiter = new RedisRateLimiter({
      client: connection.client,
      gatewayId: 'gateway-1',
      pendingCountMax: 3,
    });
    server.freeze();
    const rejections = await Promise.all(Array.from({ length: 5 }, () => rejection(limiter.take([hour(5)]))));
    expect(rejections.map(({ failure }) => failure.reason)).toEqual([
      'timeout',
      'timeout',
      'timeout',
      'busy',
      'busy',
    ]);
  });

  it('opens to nothing without rejecting, and can be closed while it tries', async () => {
    await server.kill();
    const connection = open();
    expect(await connection.open()).toBe(false);
    expect(failures[0]).toMatchObject({ reason: 'disconnected', code: 'ENOENT' });
    await connection.quit();
    await server.start();
    expect((await rejection(limiterOf(connection).take([hour(5)]))).failure.reason).toBe('disconnected');
  });

  it('tells no password: not in a failure, not of a bad URL', async () => {
    await server.kill();
    await server.stop();
    server = await startRedis(['--requirepass', PASSWORD]);
    const wrong = open(`${server.socketPath}?password=${PASSWORD}-wrong`);
    expect(await wrong.open()).toBe(false);
    const { failure } = await rejection(limiterOf(wrong).take([hour(5)]));
    const told = [...failures, failure].map((one) => `${one.stack} ${JSON.stringify(one)}`).join('\n');
    expect(failures[0]).toMatchObject({ reason: 'reply', code: 'WRONGPASS' });
    expect(told).not.toContain(PASSWORD);
    const right = open(`${server.socketPath}?password=${PASSWORD}`);
    expect(await right.open()).toBe(true);
    try {
      connectRedis(`redis://user:${PASSWORD}@[host`, { onError: () => {} });
      expect.fail('took a bad URL');
    } catch (error) {
      expect(JSON.stringify(error, Object.getOwnPropertyNames(error))).not.toContain(PASSWORD);
      expect(String(error)).toContain('redis://');
    }
  });

  it('counts nothing in another database than the one it was told of', async () => {
    const astray = open(`${server.socketPath}?db=99`);
    expect(await astray.open()).toBe(false);
    await rejection(limiterOf(astray).take([hour(5)]));
    expect(failures[0]).toMatchObject({ reason: 'reply', code: 'no such database' });
    expect(astray.isReady).toBe(false);
    const first = open();
    await first.open();
    expect(await first.client.dbsize()).toBe(0);
  });

  it('hangs up when a goodbye is not heard', async () => {
    const connection = open();
    await connection.open();
    server.freeze();
    await connection.quit();
    expect(connection.isReady).toBe(false);
  });
});
