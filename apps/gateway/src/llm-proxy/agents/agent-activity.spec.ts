import { describe, expect, it } from 'vitest';
import { agentScope, allAgents } from '#contracts';
import { DAY_MS } from '#kernel';
import { FakeClock } from '#testing';
import { AgentActivity } from './agent-activity.js';

const NOON = Date.UTC(2026, 0, 15, 12);
const AGENT = agentScope('default', 'bot');
const WELL = { isError: false, refusal: null, costMicroUsd: 0, spentAtMs: NOON };
const NONE = { budget_hour_usd: null, budget_day_usd: null, budget_month_usd: null };

describe('what was spent of the budgets', () => {
  it('is told of those the policy sets, each by its own period, and of none where it sets none', () => {
    const activity = new AgentActivity(new FakeClock(NOON));
    activity.restore(AGENT, NOON - 86_400_000, 4_000_000);
    activity.end(AGENT, { ...WELL, costMicroUsd: 1_500_000 });
    expect(activity.budgets(AGENT, { ...NONE, budget_day_usd: 2, budget_month_usd: 10 })).toEqual([
      { period: 'day', spent_usd: 1.5, budget_usd: 2 },
      { period: 'month', spent_usd: 5.5, budget_usd: 10 },
    ]);
    expect(activity.budgets(AGENT, NONE)).toEqual([]);
  });

  it('counts in the hour it was spent in, and takes back there what was too much', () => {
    const clock = new FakeClock(NOON);
    const activity = new AgentActivity(clock);
    activity.end(AGENT, { ...WELL, costMicroUsd: 40 });
    clock.advance(3_600_000);
    activity.end(AGENT, { ...WELL, costMicroUsd: -30 });
    expect([...activity.hours(AGENT)]).toEqual([{ hourMs: NOON, costMicroUsd: 10 }]);
    expect(activity.spent(AGENT).day).toBe(10);
  });

  it('is of the last hour what was spent in 60 minutes, whatever the clock hour, and by its share what a start brought back', () => {
    const clock = new FakeClock(NOON - 60_000);
    const activity = new AgentActivity(clock);
    activity.end(AGENT, { ...WELL, costMicroUsd: 1_260_000, spentAtMs: clock.nowMs() });
    activity.end(AGENT, { ...WELL, costMicroUsd: null, spentAtMs: clock.nowMs() });
    clock.advance(6 * 60_000);
    expect(activity.spent(AGENT).hour).toBe(1_260_000);
    activity.restore(AGENT, NOON - 3_600_000, 1_260_000 + 600, 1);
    activity.restore(AGENT, NOON - 7_200_000, 5_000);
    activity.end(AGENT, { ...WELL, costMicroUsd: 7, spentAtMs: clock.nowMs() });
    expect(activity.spent(AGENT).hour).toBe(1_260_007 + 550);
    expect(activity.spentLately(AGENT).hourAtMost).toBe(1_260_007 + 600);
    clock.advance(54 * 60_000);
    expect(activity.spent(AGENT).hour).toBe(1_260_007 + 10);
    expect(activity.unpriced(AGENT).hour).toBe(1);
    clock.advance(60_000);
    expect(activity.spent(AGENT).hour).toBe(7);
    expect(activity.unpriced(AGENT).hour).toBe(0);
    clock.advance(6 * 60_000);
    expect(activity.spent(AGENT).hour).toBe(0);
  });

  it('is together what all agents of the tenant spent, those among them for whom there is no room any more', () => {
    const clock = new FakeClock(NOON);
    const activity = new AgentActivity(clock);
    activity.bringBackTogether('default', NOON - DAY_MS, 2_000, 1);
    activity.bringBackTogether('default', NOON - DAY_MS, 3_000, 0);
    for (let agent = 0; agent <= 20_000; agent += 1)
      activity.end(agentScope('default', `bot-${agent}`), { ...WELL, costMicroUsd: 1 });
    activity.end(agentScope('other', 'bot'), { ...WELL, costMicroUsd: 700 });
    expect(activity.hasForgotten).toBe(true);
    expect(activity.spentLately(allAgents('default'))).toEqual({
      hour: 20_001,
      day: 20_001,
      month: 25_001,
      hourAtMost: 20_001,
    });
    expect(activity.unpriced(allAgents('default'))).toEqual({ hour: 0, day: 0, month: 1 });
    expect(activity.spentLately(allAgents('other')).month).toBe(700);
    expect(activity.spentLately(allAgents('nobody')).month).toBe(0);
  });

  it('is as much as it was once a clock that was ahead for a while is set back', () => {
    const clock = new FakeClock(NOON);
    const activity = new AgentActivity(clock);
    activity.end(AGENT, { ...WELL, costMicroUsd: 40 });
    clock.set(Date.UTC(2026, 2, 1));
    activity.end(AGENT, { ...WELL, costMicroUsd: 1, spentAtMs: clock.nowMs() });
    expect(activity.spent(AGENT).month).toBe(1);
    clock.set(NOON);
    expect(activity.spent(AGENT).day).toBeGreaterThanOrEqual(40);
  });

  it('of a clock that was ahead is of the day to which it was set back, and of no later one', () => {
    const clock = new FakeClock(NOON + 2 * DAY_MS);
    const activity = new AgentActivity(clock);
    const spentAtMs = clock.nowMs();
    for (const costMicroUsd of [40, null]) activity.end(AGENT, { ...WELL, costMicroUsd, spentAtMs });
    clock.set(NOON);
    activity.end(AGENT, { ...WELL, costMicroUsd: -10, spentAtMs });
    expect([activity.spent(AGENT).day, activity.unpriced(AGENT).day]).toEqual([30, 1]);
    for (let day = 1; day <= 2; day += 1) {
      clock.advance(DAY_MS);
      expect([activity.spent(AGENT).day, activity.unpriced(AGENT).day]).toEqual([0, 0]);
    }
    expect(activity.spent(AGENT).month).toBe(30);
  });

  it('is of no day and no month before its own where a start brought it back', () => {
    const clock = new FakeClock(NOON);
    const activity = new AgentActivity(clock);
    activity.restore(AGENT, NOON + 3_600_000, 1);
    activity.restore(AGENT, NOON + DAY_MS, 20);
    activity.restore(AGENT, NOON + 31 * DAY_MS, 300);
    expect(activity.spent(AGENT)).toMatchObject({ day: 1, month: 21 });
    clock.advance(DAY_MS);
    expect(activity.spent(AGENT)).toMatchObject({ day: 20, month: 21 });
  });

  it('leaves the last hour when that is over, also where the clock was set back after it was spent', () => {
    const clock = new FakeClock(NOON);
    const activity = new AgentActivity(clock);
    for (const costMicroUsd of [40, null]) activity.end(AGENT, { ...WELL, costMicroUsd });
    clock.advance(60_000);
    activity.end(AGENT, { ...WELL, costMicroUsd: 2, spentAtMs: clock.nowMs() });
    clock.set(NOON - 2 * 3_600_000);
    activity.end(AGENT, { ...WELL, costMicroUsd: 1, spentAtMs: NOON });
    expect([activity.spent(AGENT).hour, activity.unpriced(AGENT).hour]).toEqual([43, 1]);
    clock.advance(60 * 60_000);
    expect(activity.spent(AGENT).hour).toBe(43);
    clock.advance(60_000);
    expect([activity.spent(AGENT).hour, activity.unpriced(AGENT).hour]).toEqual([0, 0]);
  });

  it('is kept for the hours of a month, the latest ones', () => {
    const clock = new FakeClock(NOON);
    const activity = new AgentActivity(clock);
    for (let hour = 0; hour < 1_000; hour += 1) {
      activity.end(AGENT, { ...WELL, costMicroUsd: 1, spentAtMs: clock.nowMs() });
      clock.advance(3_600_000);
    }
    const hours = [...activity.hours(AGENT)];
    expect(hours).toHaveLength(31 * 24 + 1);
    expect(hours[0]?.hourMs).toBe(NOON + (1_000 - hours.length) * 3_600_000);
  });

  it('leaves out what is of unknown cost, and counts it, also over a restart', () => {
    const activity = new AgentActivity(new FakeClock(NOON));
    activity.restore(AGENT, NOON - 86_400_000, 0, 3);
    activity.end(AGENT, { ...WELL, costMicroUsd: null });
    activity.end(AGENT, WELL);
    expect(activity.spent(AGENT)).toEqual({ hour: 0, day: 0, month: 0 });
    expect(activity.unpriced(AGENT)).toEqual({ hour: 1, day: 1, month: 4 });
    expect([...activity.hours(AGENT)]).toEqual([]);
  });
});

describe('what became of its calls', () => {
  it('tells refusals from errors over five minutes, and keeps the latest one with its reason', () => {
    const clock = new FakeClock(NOON);
    const activity = new AgentActivity(clock);
    const refusal = { decision: 'over_budget', detail: 'This agent has used up its budget.' } as const;
    activity.end(AGENT, { ...WELL, refusal });
    clock.advance(60_000);
    activity.end(AGENT, { ...WELL, isError: true });
    activity.end(AGENT, WELL);
    activity.end(AGENT, WELL);
    const latestRefusal = { ...refusal, at_ms: NOON };
    expect(activity.view(AGENT)).toMatchObject({ errorRate: 0.25, refusalRate: 0.25, latestRefusal });
    clock.advance(5 * 60_000);
    expect(activity.view(AGENT)).toMatchObject({ errorRate: null, refusalRate: null, latestRefusal });
  });
});

it('counts no call of before a clock was set back as one of the minute for longer than a minute, nor as an error for longer than five', () => {
  const clock = new FakeClock(NOON);
  const activity = new AgentActivity(clock);
  activity.end(AGENT, { ...WELL, isError: true });
  clock.set(NOON - 2 * 3_600_000);
  expect(activity.view(AGENT)).toMatchObject({ callsPerMinute: 1, errorRate: 1 });
  clock.advance(60_000);
  expect(activity.view(AGENT)).toMatchObject({ callsPerMinute: 0, errorRate: 1 });
  clock.advance(4 * 60_000);
  expect(activity.view(AGENT)).toMatchObject({ callsPerMinute: 0, errorRate: null });
});

it('what an agent has spent is still known when another tenant has more agents than are remembered', () => {
  const activity = new AgentActivity(new FakeClock(NOON));
  const end = (tenantId: string, agentId: string, costMicroUsd: number) =>
    activity.end(agentScope(tenantId, agentId), { ...WELL, costMicroUsd });
  end('small', 'bot', 7);
  for (let n = 0; n < 25_000; n += 1) end('noisy', `agent-${n}`, 0);
  expect(activity.spent(agentScope('small', 'bot')).month).toBe(7);
  expect([[...activity.known('small')], [...activity.known('noisy')].length]).toEqual([['bot'], 19_999]);
});

it('knows how many calls are under way, and when the last one ended', () => {
  const clock = new FakeClock(NOON);
  const activity = new AgentActivity(clock);
  activity.begin(AGENT);
  activity.begin(AGENT);
  expect(activity.view(AGENT)).toMatchObject({ runningCount: 2, lastCallMs: null });
  clock.advance(1_000);
  activity.end(AGENT, WELL);
  expect(activity.view(AGENT)).toMatchObject({ runningCount: 1, lastCallMs: NOON + 1_000 });
});
