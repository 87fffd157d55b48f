import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Deadlines } from './deadlines.js';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

test('each expires when its time is up, and not before', () => {
  const expired: string[] = [];
  const deadlines = new Deadlines(1_000);
  deadlines.add(() => expired.push('one'));
  vi.advanceTimersByTime(600);
  deadlines.add(() => expired.push('two'));
  vi.advanceTimersByTime(399);
  expect(expired).toEqual([]);
  vi.advanceTimersByTime(2);
  expect(expired).toEqual(['one']);
  vi.advanceTimersByTime(600);
  expect(expired).toEqual(['one', 'two']);
});

test('one that was met stays silent, and leaves no timer for ever', () => {
  const deadlines = new Deadlines(1_000);
  const expire = vi.fn();
  deadlines.delete(deadlines.add(expire));
  vi.advanceTimersByTime(5_000);
  expect(expire).not.toHaveBeenCalled();
  expect(vi.getTimerCount()).toBe(0);
});
