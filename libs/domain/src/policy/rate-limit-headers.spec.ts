import { expect, it } from 'vitest';
import { type AgentLimits, agentScope, NO_LIMITS } from '#contracts';
import { FakeClock } from '#testing';
import { limitWindows } from './limit-windows.js';
import { MemoryRateLimiter } from './memory-rate-limiter.js';
import { rateLimitHeaders } from './rate-limit-headers.js';

const limiterWith = (limits: Partial<AgentLimits>) => {
  const clock = new FakeClock();
  const limiter = new MemoryRateLimiter({ clock });
  return (tokens: number, costMicroUsd = 0): Record<string, string> => {
    const scope = agentScope('default', 'agent-1');
    const estimate = { requests: 1, tokens, costMicroUsd };
    const windows = limitWindows(scope, { ...NO_LIMITS, ...limits }, estimate, clock.nowMs());
    return rateLimitHeaders(windows, limiter.takeNow(windows));
  };
};

it('tells requests and tokens by name, and requests once more without one', () => {
  const take = limiterWith({ requests_per_minute: 2, tokens_per_minute: 1_000 });
  expect(take(400)).toEqual({
    'x-ratelimit-limit-requests': '2',
    'x-ratelimit-remaining-requests': '1',
    'x-ratelimit-reset-requests': '0',
    'x-ratelimit-limit-tokens': '1000',
    'x-ratelimit-remaining-tokens': '600',
    'x-ratelimit-reset-tokens': '0',
    'x-ratelimit-limit': '2',
    'x-ratelimit-remaining': '1',
    'x-ratelimit-reset': '0',
  });
});

it('speaks of the window that refused, with a Retry-After in whole seconds, rounded up', () => {
  const take = limiterWith({ requests_per_minute: 20, tokens_per_minute: 1_000 });
  take(900);
  expect(take(101)).toMatchObject({
    'x-ratelimit-limit': '1000',
    'x-ratelimit-remaining': '100',
    'x-ratelimit-reset': '61',
    'retry-after': '61',
  });
});

it('has no Retry-After when waiting does not help', () => {
  const headers = limiterWith({ tokens_per_minute: 1_000 })(1_001);
  expect(headers).not.toHaveProperty('retry-after');
  expect(headers['x-ratelimit-remaining']).toBe('1000');
});

it('keeps budgets to itself but for when to come back, and says nothing without limits', () => {
  const take = limiterWith({ budget_day_usd: 1 });
  expect(take(0, 1_000_000)).toEqual({});
  expect(take(0, 1)).toEqual({ 'retry-after': String(12 * 3_600) });
  expect(limiterWith({})(5)).toEqual({});
});
