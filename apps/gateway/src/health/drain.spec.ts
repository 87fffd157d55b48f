import { describe, expect, it, vi } from 'vitest';
import { Drain } from './drain.js';

describe('a drain', () => {
  it('runs its steps one after another, in order, and says so from the start', async () => {
    const drain = new Drain({ timeoutMs: 1_000 });
    const seen: string[] = [];
    drain.onDrain('sockets', async () => {
      expect(drain.isDraining).toBe(true);
      await Promise.resolve();
      seen.push('sockets');
    });
    drain.onDrain('store', () => void seen.push('store'));
    expect(drain.isDraining).toBe(false);
    const drained = await drain.start();
    expect(seen).toEqual(['sockets', 'store']);
    expect(drained.map(({ outcome }) => outcome)).toEqual(['done', 'done']);
  });

  it('runs once, however often it is asked for', async () => {
    const drain = new Drain({ timeoutMs: 1_000 });
    const step = vi.fn();
    drain.onDrain('step', step);
    await Promise.all([drain.start(), drain.start()]);
    expect(step).toHaveBeenCalledTimes(1);
  });

  it('goes on after a step that fails or hangs, so that the store is closed in any case', async () => {
    vi.useFakeTimers();
    try {
      const drain = new Drain({ timeoutMs: 1_000 });
      const closed = vi.fn();
      drain.onDrain('fails', () => {
        throw new Error('x');
      });
      drain.onDrain('hangs', () => new Promise(() => {}));
      drain.onDrain('store', closed);
      const drained = drain.start();
      await vi.advanceTimersByTimeAsync(1_000);
      expect((await drained).map(({ name, outcome }) => `${name} ${outcome}`)).toEqual([
        'fails failed',
        'hangs late',
        'store done',
      ]);
      expect(closed).toHaveBeenCalled();
    } finally {
      vi.useRealTimers();
    }
  });
});
