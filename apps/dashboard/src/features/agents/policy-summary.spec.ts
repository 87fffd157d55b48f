import { describe, expect, it } from 'vitest';
import { buildAgent } from './agent.fixture';
import { policySummary } from './policy-summary';

const { policy } = buildAgent('a');

describe('policySummary', () => {
  it('says nothing of an agent that is not limited, nor of its budgets, which the list shows beside what is spent', () => {
    expect(policySummary(policy)).toBe('');
    expect(policySummary({ ...policy, budget_day_usd: 5 })).toBe('');
  });

  it('names every other limit, and what is not as it is for all', () => {
    const summary = policySummary({
      ...policy,
      requests_per_minute: 60,
      tokens_per_minute: 50_000,
      session_calls_max: 1_200,
      session_cost_usd_max: 2,
      session_minutes_max: 30,
      allowed_hours: { time_zone: 'Europe/Zurich', days: [1, 2, 3, 4, 5], from: '08:00', to: '18:00' },
      allowed_models: ['gpt-5-mini', 'gpt-5-nano', 'o5'],
      unknown_cost: 'refuse',
      semantic_loop: 'pause',
      cache: 'exact_only',
    });
    expect(summary).toMatch(
      /^60 calls\/min · 50\.0k tokens\/min · a session 1,200 calls, \$2\.00, 30 min · /,
    );
    expect(summary).toContain('08:00');
    expect(summary).toMatch(
      / · gpt-5-mini and 2 other models only · no unknown cost · semantic loop: pause · cache: exact only$/,
    );
    expect(policySummary({ ...policy, allowed_models: ['o5'] })).toBe('o5 only');
  });
});
