import { describe, expect, it } from 'vitest';
import { agentScope, allAgents, type BucketChange } from '#contracts';
import { defaultPolicy } from '#domain/policy';
import { FakeClock } from '#testing';
import type { TakenLimits } from '../limits/taken-limits.js';
import { AgentActivity } from './agent-activity.js';
import { AgentBudgets } from './agent-budgets.js';

const SCOPE = agentScope('default', 'bot');

/** Of an agent that has spent 5 of its day's budget. */
function owing() {
  const clock = new FakeClock(Date.UTC(2026, 0, 15, 12));
  const activity = new AgentActivity(clock);
  activity.restore(SCOPE, clock.nowMs(), 5);
  const policy = { ...defaultPolicy('bot'), budget_day_usd: 1 };
  const told: [what: string, amounts: number[]][] = [];
  const link = { isAway: false };
  const running: { scope: typeof SCOPE; taken: TakenLimits }[] = [];
  const tell = (what: string) => async (changes: readonly BucketChange[]) => {
    if (link.isAway) throw new Error('away');
    told.push([what, changes.map(({ amount }) => amount)]);
  };
  const budgets = new AgentBudgets({
    store: { spend: async () => [], spendByAgent: async () => [] },
    log: { flush: async () => {} },
    agents: { policy: () => policy, restriction: () => policy, withBudgets: () => [SCOPE].values() },
    activity,
    limits: {
      limiter: { take: () => expect.unreachable(), correct: tell('correct'), seed: tell('seed') },
      isShared: true,
      isConnected: async () => !link.isAway,
    },
    alerts: { note: () => {}, overBudget: () => new Set() },
    clock,
    running: () => running,
    onLimiterFailed: () => {},
  } as unknown as ConstructorParameters<typeof AgentBudgets>[0]);
  const owe = (amount: number) =>
    budgets.owe([
      { scope: SCOPE, key: SCOPE, name: 'budget_day_usd', kind: 'calendar', windowMs: 1, amount },
    ] as unknown as BucketChange[]);
  const call = (of: Partial<TakenLimits>) => {
    const nowMs = clock.nowMs();
    const taken = { policy, cappedKey: null, tokens: 1, costMicroUsd: 2, nowMs, takenAtMs: null, ...of };
    running.push({ scope: SCOPE, taken });
  };
  return { budgets, told, link, owe, call };
}

describe('what a limiter that was away is told when it is back', () => {
  it('is first what is given back, once, and then what was spent', async () => {
    const { budgets, told, owe } = owing();
    owe(-3);
    budgets.owe([]);
    await budgets.tellAll();
    await budgets.tellAll();
    expect(told).toEqual([
      ['correct', [-3]],
      ['seed', [5]],
      ['seed', [5]],
    ]);
  });

  it('is said again where it went away meanwhile', async () => {
    const { budgets, told, link, owe } = owing();
    owe(-3);
    link.isAway = true;
    await budgets.tellAll();
    link.isAway = false;
    await budgets.tellAll();
    expect(told).toEqual([
      ['correct', [-3]],
      ['seed', [5]],
    ]);
  });

  it('is with what was spent what calls have taken, and are asking for: that arrives first, and would be lost', async () => {
    const { budgets, told, call } = owing();
    for (const of of [{ takenAtMs: 1 }, { isAsked: true }, { isAsked: false }]) call(of);
    await budgets.tellAll();
    expect(told).toEqual([['seed', [5 + 2 + 2]]]);
  });

  it('is of the latest 10,000 calls, and the others are counted', async () => {
    const { budgets, told, owe } = owing();
    for (let call = 1; call <= 10_002; call += 1) owe(-call);
    expect(budgets.forgottenRefundCount).toBe(2);
    await budgets.tellAll();
    const givenBack = told.filter(([what]) => what === 'correct').map(([, [amount]]) => amount);
    expect([givenBack.length, givenBack[0], givenBack.at(-1)]).toEqual([10_000, -3, -10_002]);
  });
});

it('what all agents have spent together counts once, though the limiter is there before a start has read that', async () => {
  const clock = new FakeClock(Date.UTC(2026, 0, 15, 12));
  const activity = new AgentActivity(clock);
  const all = allAgents('default');
  const policy = { ...defaultPolicy('bot'), budget_day_usd: 1 };
  const spend = { cost_usd: 5e-6, unpriced_call_count: 0 };
  const seeds: number[] = [];
  const budgets = new AgentBudgets({
    store: {
      spend: async () => [{ ...spend, key: new Date(clock.nowMs()).toISOString() }],
      spendByAgent: async () => [{ ...spend, tenant_id: 'default', agent_id: 'bot', hour_ms: clock.nowMs() }],
    },
    log: { flush: async () => {} },
    agents: { policy: () => policy, restriction: () => null, withBudgets: () => [all].values() },
    activity,
    limits: {
      limiter: {
        seed: async (changes: readonly BucketChange[]) =>
          void seeds.push(...changes.map(({ amount }) => amount)),
      },
      isShared: true,
      isConnected: async () => true,
    },
    alerts: { note: () => {}, overBudget: () => new Set() },
    clock,
    running: () => [],
    onLimiterFailed: () => {},
  } as unknown as ConstructorParameters<typeof AgentBudgets>[0]);
  await budgets.tellAll();
  await budgets.recover();
  expect([activity.spent(all).day, seeds]).toEqual([5, [5]]);
});
