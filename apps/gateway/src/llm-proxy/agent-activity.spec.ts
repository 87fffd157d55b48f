import { describe, expect, it } from 'vitest';
import { agentScope } from '#contracts';
import { FakeClock } from '#testing';
import { AgentActivity } from './agent-activity.js';

const NOON = Date.UTC(2026, 0, 15, 12);
const AGENT = agentScope('default', 'bot');
const NONE = { budget_hour_usd: null, budget_day_usd: null, budget_month_usd: null };

describe('what was spent of the budgets', () => {
  it('is told of those the policy sets, each by its own period, and of none where it sets none', () => {
    const activity = new AgentActivity(new FakeClock(NOON));
    activity.restore(AGENT, NOON - 86_400_000, 4_000_000);
    activity.end(AGENT, false, 1_500_000);
    expect(activity.budgets(AGENT, { ...NONE, budget_day_usd: 2, budget_month_usd: 10 })).toEqual([
      { period: 'day', spent_usd: 1.5, budget_usd: 2 },
      { period: 'month', spent_usd: 5.5, budget_usd: 10 },
    ]);
    expect(activity.budgets(AGENT, NONE)).toEqual([]);
  });
});
