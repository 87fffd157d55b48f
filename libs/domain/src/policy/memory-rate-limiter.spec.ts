import { describe, expect, it } from 'vitest';
import type { LimitWindow } from '#contracts';
import { FakeClock } from '#testing';
import { MemoryRateLimiter } from './memory-rate-limiter.js';
import { SLIDING_WINDOW_MS_MAX } from './slot-arithmetic.js';

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
    clock.advance(61_000);
    for (let agent = 0; agent < 400; agent += 1) limiter.takeNow([minute(`new-${agent}`)]);
    expect(limiter.counterCount).toBe(400);
    expect(limiter.evictedCount).toBe(0);
  });

  it('stay while they are used, and a budget until its period is over', () => {
    const clock = new FakeClock(0);
    const limiter = new MemoryRateLimiter({ clock });
    const day: LimitWindow = { ...minute('day'), kind: 'calendar', startMs: 0, windowMs: 86_400_000 };
    const others = (name: string) => {
      for (let agent = 0; agent < 20; agent += 1) limiter.takeNow([minute(`${name}-${agent}`)]);
    };
    limiter.takeNow([minute('used', 2)]);
    limiter.takeNow([day]);
    clock.advance(60_000);
    limiter.takeNow([minute('used', 2)]);
    clock.advance(2_000);
    others('soon');
    expect(limiter.takeNow([minute('used', 1)]).allowed).toBe(false);
    clock.set(86_399_999);
    others('late');
    expect(limiter.takeNow([day]).allowed).toBe(false);
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

  it('of one tenant stay, however many agents another has', () => {
    const limiter = new MemoryRateLimiter({ clock: new FakeClock(), counterCountMax: 100 });
    const names = Array.from({ length: 20 }, (_, agent) => minute(`quiet\0${agent}\0requests_per_minute`));
    for (const name of names) limiter.takeNow([name]);
    for (let agent = 0; agent < 1_000; agent += 1)
      limiter.takeNow([minute(`noisy\0${agent}\0requests_per_minute`)]);
    expect([limiter.counterCount, limiter.evictedCount]).toEqual([100, 920]);
    for (const name of names) expect(limiter.takeNow([name]).allowed).toBe(false);
    // Who comes later finds a place, too, and it is the noisy one's.
    const late = minute('late\0agent\0requests_per_minute');
    limiter.takeNow([late]);
    expect(limiter.takeNow([late]).allowed).toBe(false);
    for (const name of names) expect(limiter.takeNow([name]).allowed).toBe(false);
  });

  it('are not made by giving back', async () => {
    const limiter = new MemoryRateLimiter({ clock: new FakeClock() });
    await limiter.correct([{ ...minute('b'), amount: -1 }]);
    expect(limiter.counterCount).toBe(0);
  });

  it('are asked and changed by windows that can be counted only', () => {
    const limiter = new MemoryRateLimiter({ clock: new FakeClock() });
    for (const bad of [
      { ...minute('a'), windowMs: 0 },
      { ...minute('a'), windowMs: 1.5 },
      { ...minute('a'), windowMs: SLIDING_WINDOW_MS_MAX + 1 },
      { ...minute('a'), kind: 'calendar' as const },
    ]) {
      expect(() => limiter.takeNow([bad])).toThrow(RangeError);
      expect(() => limiter.correctNow([bad])).toThrow(RangeError);
    }
    expect(() => limiter.correctNow([{ ...minute('a'), amount: 0.5 }])).toThrow(RangeError);
    for (const windowMs of [1, SLIDING_WINDOW_MS_MAX])
      expect(limiter.takeNow([{ ...minute(`a ${windowMs}`), windowMs }]).allowed).toBe(true);
  });

  it('are not changed by a correction that comes after its bucket has gone', () => {
    const clock = new FakeClock(0);
    const limiter = new MemoryRateLimiter({ clock });
    limiter.takeNow([minute('a', 5)]);
    clock.advance(180_000);
    limiter.takeNow([minute('a', 5)]);
    limiter.correctNow([{ ...minute('a'), amount: 4, takenAtMs: 0 }]);
    expect(limiter.takeNow([minute('a', 5)]).windows[0]?.used).toBe(2);
  });

  it('say of a window that can never allow what was asked that waiting is no use, wherever it stands', () => {
    const limiter = new MemoryRateLimiter({ clock: new FakeClock(0) });
    limiter.takeNow([minute('full')]);
    const never = { ...minute('small', 3), amount: 5 };
    expect(limiter.takeNow([never, minute('full')])).toMatchObject({ refusedBy: 0, retryAfterMs: null });
    expect(limiter.takeNow([minute('full'), never])).toMatchObject({ refusedBy: 1, retryAfterMs: null });
    const full = minute('full');
    expect(limiter.takeNow([full, { ...full }])).toMatchObject({ refusedBy: 0, retryAfterMs: 61_000 });
    const half = { ...minute('half', 3), amount: 2 };
    expect(limiter.takeNow([half, { ...half }])).toMatchObject({ refusedBy: 1, retryAfterMs: 1 });
  });

  it('are empty at the end of a calendar period, to which a refusal of more than one points', () => {
    const clock = new FakeClock(0);
    const limiter = new MemoryRateLimiter({ clock });
    const day: LimitWindow = { ...minute('day', 4), kind: 'calendar', startMs: 0, windowMs: 86_400_000 };
    clock.advance(1_000);
    expect(limiter.takeNow([{ ...day, amount: 5 }]).windows[0]).toMatchObject({ used: 0, resetMs: 0 });
    limiter.takeNow([day]);
    expect(limiter.takeNow([{ ...day, amount: 4 }]).windows[0]).toMatchObject({
      used: 1,
      resetMs: 86_399_000,
    });
    clock.set(86_400_001);
    expect(limiter.takeNow([{ ...day, amount: 4 }]).windows[0]).toMatchObject({ used: 1, resetMs: 1 });
  });

  it('begin anew where a clock that was ahead at the start is set back, and say so once', () => {
    const dayMs = 86_400_000;
    const clock = new FakeClock(dayMs);
    const limiter = new MemoryRateLimiter({ clock });
    const day = (startMs: number, limit = 9): LimitWindow => ({
      ...minute('day', limit),
      kind: 'calendar',
      startMs,
      windowMs: dayMs,
    });
    expect(limiter.takeNow([day(dayMs)]).begun).toEqual([true]);
    clock.set(dayMs - 1);
    expect(limiter.takeNow([day(0, 1)]).allowed).toBe(false);
    expect(limiter.takeNow([day(0)]).begun).toEqual([true]);
    expect(limiter.takeNow([day(0)]).begun).toEqual([false]);
  });

  it('of a budget say that they were dropped also where a correction is the first that they hear', () => {
    const limiter = new MemoryRateLimiter({ clock: new FakeClock(0), counterCountMax: 1 });
    const day: LimitWindow = { ...minute('day', 1_000), kind: 'calendar', startMs: 0, windowMs: 86_400_000 };
    limiter.takeNow([{ ...day, amount: 900 }]);
    limiter.takeNow([minute('other')]);
    limiter.correctNow([{ ...day, amount: 20 }]);
    expect(limiter.takeNow([day])).toMatchObject({ begun: [true], windows: [{ used: 21 }] });
    expect(limiter.takeNow([day]).begun).toEqual([false]);
  });

  it('begin with each period anew, and say so once', () => {
    const clock = new FakeClock(0);
    const limiter = new MemoryRateLimiter({ clock });
    const day = (startMs: number): LimitWindow => ({
      ...minute('day', 9),
      kind: 'calendar',
      startMs,
      windowMs: 86_400_000,
    });
    for (const startMs of [0, 86_400_000]) {
      clock.set(startMs);
      expect(limiter.takeNow([day(startMs)]).begun).toEqual([true]);
      expect(limiter.takeNow([day(startMs)]).begun).toEqual([false]);
    }
  });

  it('are corrected for as long as what was taken then still counts', () => {
    const clock = new FakeClock(60_000);
    const limiter = new MemoryRateLimiter({ clock });
    limiter.takeNow([minute('a', 9)]);
    limiter.correctNow([{ ...minute('a'), amount: 4, takenAtMs: 0 }]);
    limiter.correctNow([{ ...minute('a'), amount: 2, takenAtMs: -1 }]);
    expect(limiter.takeNow([minute('a', 9)]).windows[0]?.used).toBe(6);
    clock.advance(1_000);
    expect(limiter.takeNow([minute('a', 9)]).windows[0]?.used).toBe(3);
  });

  it('are decided upon in the calling turn', () => {
    const limiter = new MemoryRateLimiter({ clock: new FakeClock() });
    expect(limiter.takeNow([minute('a')]).allowed).toBe(true);
    expect(limiter.takeNow([minute('a')])).toMatchObject({
      allowed: false,
      refusedBy: 0,
      retryAfterMs: 61_000,
    });
    limiter.correctNow([{ ...minute('a'), amount: -1 }]);
    expect(limiter.takeNow([minute('a')]).allowed).toBe(true);
  });
});
