/** Both limiters are one: whatever is asked of them, at whatever time, they answer alike, and several gateways on one Redis as one. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RedisRateLimiter } from '#adapters/redis';
import type { LimitWindow, RateLimiter } from '#contracts';
import { MemoryRateLimiter } from '#domain/policy';
import { FakeClock, lookAt } from '#testing';
import { connection, startOneRedis } from './start-one-redis.js';
import { redisMissing } from './start-redis.js';

const DAY_MS = 86_400_000;

interface Asked {
  name: 'minute' | 'hour' | 'day';
  limit: number;
  amount: number;
}

const asked: fc.Arbitrary<Asked> = fc.record({
  name: fc.constantFrom('minute' as const, 'hour' as const, 'day' as const),
  limit: fc.constantFrom(1, 7, 100, 1_000_000_000_000),
  amount: fc.oneof(fc.nat(8), fc.constantFrom(333_333_333_333, 999_999_999_999)),
});

const toWindow = ({ name, limit, amount }: Asked, atMs: number): LimitWindow => ({
  key: `default\0agent\0${name}`,
  limit,
  amount,
  ...(name === 'day'
    ? { kind: 'calendar', windowMs: DAY_MS, startMs: atMs - (atMs % DAY_MS) }
    : { kind: 'sliding', windowMs: name === 'minute' ? 60_000 : 3_600_000 }),
});

type Operation = (limiter: RateLimiter, nowMs: number) => Promise<unknown>;

const operation: fc.Arbitrary<Operation> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc
      .array(asked, { minLength: 1, maxLength: 4 })
      .map<Operation>(
        (windows) => (limiter, nowMs) => limiter.take(windows.map((one) => toWindow(one, nowMs))),
      ),
  },
  {
    weight: 3,
    arbitrary: fc
      .tuple(asked, fc.constantFrom(-1, 1), fc.constantFrom(0, 45_000, 70_000, 4_000_000, DAY_MS / 2))
      .map<Operation>(([one, sign, agoMs]) => (limiter, nowMs) => {
        const { limit: _limit, ...place } = toWindow(one, nowMs - agoMs);
        return limiter.correct([{ ...place, amount: sign * one.amount, takenAtMs: nowMs - agoMs }]);
      }),
  },
  {
    weight: 1,
    arbitrary: asked.map<Operation>((one) => (limiter, nowMs) => {
      const { limit: _limit, ...place } = toWindow(one, nowMs);
      return limiter.seed([place], nowMs);
    }),
  },
);

const step = fc.record({
  operation,
  passMs: fc.oneof(fc.nat(70_000), fc.constantFrom(0, 1, 60_000, 120_000, 3_600_000, 7_200_000, DAY_MS / 2)),
});

describe.skipIf(redisMissing !== null)('the limiters in memory and in Redis', () => {
  startOneRedis();

  it('decide alike, wait alike and hold alike after any calls at any times', async () => {
    const looks = (nowMs: number): LimitWindow[] =>
      (['minute', 'hour', 'day'] as const).map((name) => toWindow({ name, limit: 100, amount: 0 }, nowMs));
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40, size: 'max' }), async (steps) => {
        await connection.client.flushall();
        const clock = new FakeClock();
        const memory = new MemoryRateLimiter({ clock });
        const redis = new RedisRateLimiter({
          client: connection.client,
          gatewayId: 'gateway-1',
          clock,
          replyTimeoutMs: 5_000,
        });
        for (const { operation: ask, passMs } of steps) {
          clock.advance(passMs);
          const nowMs = clock.nowMs();
          expect(await ask(redis, nowMs)).toEqual(await ask(memory, nowMs));
          expect(await lookAt(redis, looks(nowMs))).toEqual(await lookAt(memory, looks(nowMs)));
        }
      }),
      { numRuns: 20 },
    );
  });

  it('decide alike when several gateways take turns', async () => {
    const turn = fc.record({
      windows: fc.array(asked, { minLength: 1, maxLength: 3 }),
      gateway: fc.nat(2),
      passMs: fc.oneof(fc.nat(5_000), fc.nat(400_000)),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(turn, { maxLength: 60, size: 'max' }), async (turns) => {
        await connection.client.flushall();
        const clock = new FakeClock();
        const memory = new MemoryRateLimiter({ clock });
        const { client } = connection;
        const gateways = [0, 1, 2].map(
          (id) => new RedisRateLimiter({ client, gatewayId: `gateway-${id}`, clock, replyTimeoutMs: 5_000 }),
        );
        for (const { windows, gateway, passMs } of turns) {
          clock.advance(passMs);
          const ask = windows.map((one) => toWindow(one, clock.nowMs()));
          const { begun: _here, ...here } = memory.takeNow(ask);
          const { begun: _there, ...there } = await (gateways[gateway] as RedisRateLimiter).take(ask);
          expect(there).toEqual(here);
        }
      }),
      { numRuns: 20 },
    );
  });
});
