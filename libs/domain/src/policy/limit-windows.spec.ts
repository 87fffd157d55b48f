import { describe, expect, it } from 'vitest';
import { type AgentLimits, agentScope, NO_LIMITS } from '#contracts';
import { FakeClock, lookAt } from '#testing';
import {
  budgetSeeds,
  budgetsSetSince,
  corrections,
  countAlike,
  LIMIT_NAMES,
  limitWindows,
} from './limit-windows.js';
import { MemoryRateLimiter } from './memory-rate-limiter.js';

const AGENT = agentScope('default', 'agent-1');
const LIMITS: AgentLimits = {
  ...NO_LIMITS,
  requests_per_minute: 60,
  tokens_per_minute: 10_000,
  budget_hour_usd: 0.5,
  budget_day_usd: 2,
  budget_month_usd: 30,
};
/** The upstream failed: everything goes back. */
const NOTHING_USED = { requests: 0, tokens: 0, costMicroUsd: 0 };
const ESTIMATE = { requests: 1, tokens: 1_200, costMicroUsd: 4_000 };
const LEAP_NOON = Date.UTC(2028, 1, 29, 12);

describe('limitWindows', () => {
  it('has no window for a policy without limits', () => {
    expect(limitWindows(AGENT, NO_LIMITS, ESTIMATE, LEAP_NOON)).toEqual([]);
  });

  it('has one window for each limit, named, with money in micro-dollars and days and months in UTC', () => {
    const windows = limitWindows(AGENT, LIMITS, ESTIMATE, LEAP_NOON);
    expect(
      windows.map(({ name, kind, limit, amount, windowMs, startMs }) => [
        name,
        kind,
        limit,
        amount,
        windowMs,
        startMs,
      ]),
    ).toEqual([
      ['requests_per_minute', 'sliding', 60, 1, 60_000, undefined],
      ['tokens_per_minute', 'sliding', 10_000, 1_200, 60_000, undefined],
      ['budget_hour', 'sliding', 500_000, 4_000, 3_600_000, undefined],
      ['budget_day', 'calendar', 2_000_000, 4_000, 86_400_000, Date.UTC(2028, 1, 29)],
      ['budget_month', 'calendar', 30_000_000, 4_000, 29 * 86_400_000, Date.UTC(2028, 1, 1)],
    ]);
    expect(windows.map(({ key }) => key)).toEqual(LIMIT_NAMES.map((name) => `default\0agent-1\0${name}`));
  });

  it('knows the next month from its first millisecond on', () => {
    const starts = [Date.UTC(2026, 0, 31, 23, 59, 59, 999), Date.UTC(2026, 1, 1), Date.UTC(2025, 11, 31)].map(
      (nowMs) => limitWindows(AGENT, LIMITS, ESTIMATE, nowMs)[4]?.startMs,
    );
    expect(starts).toEqual([Date.UTC(2026, 0, 1), Date.UTC(2026, 1, 1), Date.UTC(2025, 11, 1)]);
  });

  it('takes next to nothing from a budget where the cost is unknown, which a spent one has not, and still counts its tokens', () => {
    const windows = limitWindows(AGENT, LIMITS, { ...ESTIMATE, costMicroUsd: null }, LEAP_NOON);
    expect(windows.map(({ amount }) => amount)).toEqual([1, 1_200, 1, 1, 1]);
  });

  it('never lets two agents share a counter, whatever their ids hold', () => {
    const keys = [
      agentScope('a', 'b'),
      agentScope('a', 'b\0requests_per_minute'),
      agentScope('', 'ab'),
      agentScope('ab', ''),
    ].flatMap((agent) => limitWindows(agent, LIMITS, ESTIMATE, LEAP_NOON).map(({ key }) => key));
    expect(new Set(keys).size).toBe(keys.length);
  });
});

describe('corrections', () => {
  const usedOf = async (limiter: MemoryRateLimiter, nowMs: number): Promise<number[]> =>
    (await lookAt(limiter, limitWindows(AGENT, LIMITS, ESTIMATE, nowMs))).map(({ used }) => used);

  it('put the real usage in the place of the estimate, and leave what is unknown', async () => {
    const clock = new FakeClock();
    const limiter = new MemoryRateLimiter({ clock });
    const windows = limitWindows(AGENT, LIMITS, ESTIMATE, clock.nowMs());
    const { atMs } = limiter.takeNow(windows);
    limiter.correctNow(corrections(windows, { tokens: 300, costMicroUsd: 9_000 }, atMs));
    expect(await usedOf(limiter, clock.nowMs())).toEqual([1, 300, 9_000, 9_000, 9_000]);
    expect(corrections(windows, { tokens: null })).toEqual([]);
    expect(corrections(windows, { ...ESTIMATE })).toEqual([]);
  });

  it('give everything back when the upstream failed', async () => {
    const clock = new FakeClock();
    const limiter = new MemoryRateLimiter({ clock });
    const windows = limitWindows(AGENT, LIMITS, ESTIMATE, clock.nowMs());
    const { atMs } = limiter.takeNow(windows);
    limiter.correctNow(corrections(windows, NOTHING_USED, atMs));
    expect(await usedOf(limiter, clock.nowMs())).toEqual([0, 0, 0, 0, 0]);
  });

  it('refund the day and the month a call began in, not those it ended in', async () => {
    const clock = new FakeClock(Date.UTC(2026, 0, 31, 23, 59));
    const limiter = new MemoryRateLimiter({ clock });
    const first = limitWindows(AGENT, LIMITS, ESTIMATE, clock.nowMs());
    const { atMs } = limiter.takeNow(first);
    clock.advance(90_000);
    limiter.takeNow(limitWindows(AGENT, LIMITS, ESTIMATE, clock.nowMs()));
    limiter.correctNow(corrections(first, NOTHING_USED, atMs));
    // The minute and the hour are given back what they held: only the second call is left anywhere.
    expect(await usedOf(limiter, clock.nowMs())).toEqual([1, 1_200, 4_000, 4_000, 4_000]);
  });
});

describe('budgetSeeds', () => {
  it('restore each budget from hourly sums, and ignore hours that no window counts', async () => {
    const clock = new FakeClock(Date.UTC(2026, 0, 31, 12, 30));
    const limiter = new MemoryRateLimiter({ clock });
    const hour = (day: number, at: number): number => Date.UTC(2026, 0, day, at);
    const seeds = budgetSeeds(
      AGENT,
      LIMITS,
      [
        { hourMs: hour(31, 12), costMicroUsd: 1 },
        { hourMs: hour(31, 11), costMicroUsd: 120 },
        { hourMs: hour(31, 0), costMicroUsd: 300 },
        { hourMs: hour(30, 23), costMicroUsd: 4_000 },
        { hourMs: hour(1, 0), costMicroUsd: 50_000 },
        { hourMs: hour(0, 23), costMicroUsd: 600_000 },
      ],
      clock.nowMs(),
    );
    expect(seeds.at(-1)).toMatchObject({ startMs: hour(1, 0), windowMs: 31 * 24 * 3_600_000 });
    await limiter.seed(seeds);
    const looks = await lookAt(limiter, limitWindows(AGENT, LIMITS, ESTIMATE, clock.nowMs()));
    expect(looks.map(({ used }) => used)).toEqual([0, 0, 1 + 60, 421, 54_421]);
  });

  it('have nothing to say of an agent that spent nothing', () => {
    expect(budgetSeeds(AGENT, LIMITS, [], LEAP_NOON)).toEqual([]);
  });

  it('say of each budget what was spent of it, and of what is none nothing', () => {
    const spent = [{ hourMs: LEAP_NOON, costMicroUsd: 1 }];
    const daily = { ...NO_LIMITS, budget_day_usd: 2 };
    expect(budgetSeeds(AGENT, daily, spent, LEAP_NOON).map(({ key }) => key)).toEqual([
      `${AGENT}\0budget_day`,
    ]);
    expect(budgetSeeds(AGENT, NO_LIMITS, spent, LEAP_NOON)).toEqual([]);
  });
});

describe('budgetsSetSince', () => {
  it('names each budget that is new, with its amount, and no other limit', () => {
    const { budget_hour_usd, budget_day_usd, budget_month_usd } = LIMITS;
    const budgets = { budget_hour_usd, budget_day_usd, budget_month_usd };
    expect(budgetsSetSince(NO_LIMITS, LIMITS)).toEqual({ ...NO_LIMITS, ...budgets });
    expect(budgetsSetSince({ ...NO_LIMITS, budget_day_usd: 1 }, LIMITS)).toEqual({
      ...NO_LIMITS,
      ...budgets,
      budget_day_usd: null,
    });
    expect(budgetsSetSince(LIMITS, { ...LIMITS, budget_hour_usd: 9 })).toEqual(NO_LIMITS);
  });
});

describe('countAlike', () => {
  it('is about what is counted: every limit and cap, and no hours or models', () => {
    const { allowed_hours, allowed_models, ...counted } = NO_LIMITS;
    for (const name of Object.keys(counted))
      expect([name, countAlike(NO_LIMITS, { ...NO_LIMITS, [name]: 1 })]).toEqual([name, false]);
    expect(countAlike(LIMITS, { ...LIMITS, allowed_models: ['m'] })).toBe(true);
  });
});
