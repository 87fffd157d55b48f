/** Whatever stands under the limiter's keys: no call fails for it, no limit holds for ever, and the count is right again by itself. */
import { describe, expect, it } from 'vitest';
import { RedisRateLimiter } from '#adapters/redis';
import type { LimitWindow } from '#contracts';
import { HOUR_MS, MINUTE_MS } from '#kernel';
import { FakeClock, lookAt } from '#testing';
import { connection, startOneRedis } from './start-one-redis.js';
import { redisMissing } from './start-redis.js';

const DAY_MS = 24 * HOUR_MS;
const NOON_MS = Date.UTC(2026, 5, 15, 12);
const LIMIT = 1_000;
/** Most that anybody takes in an hour of these tests. */
const TAKEN_MAX = 2 * 61;
const FAR_PART = `${NOON_MS + 10 * DAY_MS} 5000 0`;
const FAR_SLOT = `${NOON_MS + 10 * DAY_MS}:5000 `;
const HUGE = '9'.repeat(400);

const hour = (amount = 1): LimitWindow => ({
  key: 'default\0agent-1\0requests',
  kind: 'sliding',
  windowMs: HOUR_MS,
  limit: LIMIT,
  amount,
});
const day = (amount = 1): LimitWindow => ({
  key: 'default\0agent-1\0day',
  kind: 'calendar',
  windowMs: DAY_MS,
  startMs: NOON_MS - (NOON_MS % DAY_MS),
  limit: LIMIT,
  amount,
});

const client = () => connection.client;
const wrongType = (put: (key: string) => Promise<unknown>) => async (key: string) => {
  await client().del(key);
  await put(key);
};
const field = (name: string, text: (was: string) => string) => async (key: string) =>
  client().hset(key, name, text((await client().hget(key, name)) ?? ''));
const part = (text: string) => field('gateway-1', () => text);
const past = (text: string) => field('past gateway-1', () => text);

type Damage = [what: string, damage: (key: string) => Promise<unknown>];
const damages: Damage[] = [
  ['a text', wrongType((key) => client().set(key, 'foreign'))],
  ['a list', wrongType((key) => client().rpush(key, '1', '2'))],
  ['a set of scores', wrongType((key) => client().zadd(key, 1, 'gateway-1'))],
  ['a part cut short', field('gateway-1', (was) => was.slice(0, -2))],
  ['an empty part', part('')],
  ['a part that is no text', field('gateway-1', () => '\u0000\u00ff 5 ; return 1')],
  ['a negative part', part(`${NOON_MS} -5000 -5000`)],
  ['a part beyond every number', part(`${NOON_MS} ${HUGE} ${HUGE}`)],
  ['a part beyond whole numbers', part(`${NOON_MS} 9007199254740993 0`)],
  ['a part of a time that never comes', part(`${HUGE} 5000 0`)],
  ['a part of a far time', part(FAR_PART)],
  ['fields of nobody', async (key) => client().hset(key, 'x', 'y', '', '', 'past x', '1:1 ', 'past', '5')],
  ['a key without expiry', (key) => client().persist(key)],
  ['no fields but those of nobody', wrongType((key) => client().hset(key, 'x', 'y'))],
];
/** Of a sliding counter alone: a calendar one has no slots. */
const slidingDamages: Damage[] = [
  ['slots cut short', field('past gateway-1', (was) => was.slice(0, -4))],
  ['slots cut at the front', field('past gateway-1', (was) => was.slice(4))],
  ['slots that are no text', past('\u0000\u00ff;:;')],
  ['no slots', past('')],
  ['nonsense among the slots', field('past gateway-1', (was) => was.replace(' ', ' abc:7 1:x '))],
  ['negative slots', field('past gateway-1', (was) => was.replaceAll(':', ':-'))],
  ['slots beyond every number', past(`${NOON_MS - MINUTE_MS}:${HUGE} `)],
  ['a slot of a far time', past(FAR_SLOT)],
  ['a slot of a time that never comes', past(`${HUGE}:5000 `)],
  ['slots of which the part says far more', field('gateway-1', (was) => was.replace(/\d+$/, '5000'))],
  ['slots of which the part says more', field('gateway-1', (was) => was.replace(/\d+$/, '500'))],
  ['slots of which the part says nothing', field('gateway-1', (was) => was.replace(/\d+$/, '0'))],
  ['more slots than the part says', field('past gateway-1', (was) => `${was}${was}${was}`)],
  ['a part of a far time without slots', wrongType((key) => client().hset(key, 'gateway-2', FAR_PART))],
  ["another gateway's part of a far time", field('gateway-2', () => FAR_PART)],
  ["another gateway's slots of a far time", field('past gateway-2', () => FAR_SLOT)],
];

describe.skipIf(redisMissing !== null)('a counter in Redis that is damaged', () => {
  startOneRedis();

  async function damaged(window: () => LimitWindow, damage: Damage[1]) {
    await client().flushall();
    const clock = new FakeClock(NOON_MS - 5 * MINUTE_MS);
    const of = (gatewayId: string) =>
      new RedisRateLimiter({ client: client(), gatewayId, clock, replyTimeoutMs: 5_000 });
    const [one, two] = [of('gateway-1'), of('gateway-2')];
    for (let minute = 0; minute < 5; minute += 1) {
      for (const limiter of [one, two]) await limiter.take([window()]);
      clock.advance(MINUTE_MS);
    }
    const [key = ''] = await client().keys('*');
    await damage(key);
    return { clock, limiters: [one, two], key };
  }
  const expectSound = ({ windows, retryAfterMs }: Awaited<ReturnType<RedisRateLimiter['take']>>) => {
    for (const told of [retryAfterMs ?? 0, windows[0]?.used, windows[0]?.resetMs]) {
      expect(Number.isSafeInteger(told)).toBe(true);
      expect(told).toBeGreaterThanOrEqual(0);
    }
  };

  it.each([...damages, ...slidingDamages])(
    '%s: an hour is right again when it is over',
    async (_, damage) => {
      const { clock, limiters, key } = await damaged(hour, damage);
      for (let minute = 0; minute < 2 * 61; minute += 1) {
        for (const limiter of limiters) expectSound(await limiter.take([hour()]));
        clock.advance(MINUTE_MS);
      }
      const [state] = await lookAt(limiters[0] as RedisRateLimiter, [hour()]);
      // Of each gateway a minute's one in those 60 that still count.
      expect(state).toMatchObject({ used: 2 * 60, resetMs: 0 });
      expect(await client().pttl(key)).toBeGreaterThan(0);
    },
  );

  it.each([...damages, ...slidingDamages])(
    '%s: who is refused waits no longer than the hour',
    async (_, damage) => {
      const { clock, limiters } = await damaged(hour, damage);
      const [limiter] = limiters as [RedisRateLimiter];
      const all = hour(LIMIT);
      const refused = await limiter.take([all]);
      expectSound(refused);
      expect(refused.retryAfterMs).toBeLessThanOrEqual(HOUR_MS + MINUTE_MS);
      // Asked for again and again, which must not lengthen it.
      for (let minute = 0; minute < 61; minute += 1) {
        clock.advance(MINUTE_MS);
        const again = await limiter.take([all]);
        if (again.allowed) return;
        expectSound(again);
      }
      expect.fail('the limit holds on');
    },
  );

  it.each(damages)('%s: a day goes on, and counts no more than was taken', async (_, damage) => {
    const { limiters } = await damaged(day, damage);
    for (let round = 0; round < 3; round += 1)
      for (const limiter of limiters) {
        const decision = await limiter.take([day()]);
        expectSound(decision);
        expect(decision.allowed).toBe(true);
      }
    const [state] = await lookAt(limiters[0] as RedisRateLimiter, [day()]);
    expect(state?.used).toBeGreaterThanOrEqual(6);
    expect(state?.used).toBeLessThanOrEqual(TAKEN_MAX);
  });
});
