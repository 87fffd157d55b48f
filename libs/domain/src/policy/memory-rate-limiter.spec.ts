import { describe, expect, it } from 'vitest';
import type { LimitWindow } from '#contracts';
import { FakeClock } from '#testing';
import { MemoryRateLimiter } from './memory-rate-limiter.js';

const minute = (key: string, limit = 1): LimitWindow => ({
  key,
  kind: 'sliding',
  windowMs: 60_000,
  limit,
  amount: 1,
});

describe('the counters in memory', () => {
  it('leave once no window counts them, while new ones come', () => {
    const clock = new FakeClock();
    const limiter = new MemoryRateLimiter({ clock });
    for (let agent = 0; agent < 1_000; agent += 1) limiter.takeNow([minute(`old-${agent}`)]);
    clock.advance(120_000);
    for (let agent = 0; agent < 400; agent += 1) limiter.takeNow([minute(`new-${agent}`)]);
    expect(limiter.counterCount).toBe(400);
    expect(limiter.evictedCount).toBe(0);
  });

  it('never exceed their bound; what had to go is counted, and budgets stay longest', () => {
    const clock = new FakeClock();
    const limiter = new MemoryRateLimiter({ clock, counterCountMax: 10 });
    const month: LimitWindow = {
      ...minute('month'),
      kind: 'calendar',
      startMs: Date.UTC(2026, 0, 1),
      windowMs: 31 * 86_400_000,
    };
    limiter.takeNow([month]);
    for (let agent = 0; agent < 100; agent += 1) limiter.takeNow([minute(`agent-${agent}`)]);
    expect(limiter.counterCount).toBe(10);
    expect(limiter.evictedCount).toBe(91);
    expect(limiter.takeNow([month]).allowed).toBe(false);
  });

  it('are not made by looking', async () => {
    const limiter = new MemoryRateLimiter({ clock: new FakeClock() });
    await limiter.look([minute('a')]);
    await limiter.correct([{ ...minute('b'), amount: -1 }]);
    expect(limiter.counterCount).toBe(0);
  });

  it('are decided upon in the calling turn', () => {
    const limiter = new MemoryRateLimiter({ clock: new FakeClock() });
    expect(limiter.takeNow([minute('a')]).allowed).toBe(true);
    expect(limiter.takeNow([minute('a')])).toMatchObject({
      allowed: false,
      refusedBy: 0,
      retryAfterMs: 120_000,
    });
    limiter.correctNow([{ ...minute('a'), amount: -1 }]);
    expect(limiter.takeNow([minute('a')]).allowed).toBe(true);
  });
});
