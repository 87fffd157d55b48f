import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { RUNTIME_CONFIG_DEFAULTS, type RuntimeConfigSource } from '#contracts';
import { steadyClock, systemClock } from '#kernel';
import { Retention } from './retention.js';

const config = { get: (key: keyof typeof RUNTIME_CONFIG_DEFAULTS) => RUNTIME_CONFIG_DEFAULTS[key] };
const sessions = { forget: () => {} };

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

test('a run that takes longer than a minute is not joined by others', async () => {
  let finish = () => {};
  const enforceRetention = vi.fn(
    () =>
      new Promise<{ deleted_count: number; is_over_bytes: boolean }>(
        (settle) => (finish = () => settle({ deleted_count: 0, is_over_bytes: false })),
      ),
  );
  const events = { storeFailed: vi.fn(), warn: vi.fn() };
  const retention = new Retention(
    { ...systemClock, ...steadyClock },
    config as RuntimeConfigSource,
    { enforceRetention },
    events,
    sessions,
  );
  retention.start(null);
  await vi.advanceTimersByTimeAsync(3 * 60_000);
  expect(enforceRetention).toHaveBeenCalledTimes(1);
  finish();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(enforceRetention).toHaveBeenCalledTimes(2);
  enforceRetention.mockRejectedValue(new Error('no'));
  finish();
  await vi.advanceTimersByTimeAsync(2 * 60_000);
  expect(events.storeFailed).toHaveBeenCalledTimes(2);
  retention.stop();
});

test('a run that is at work for ten minutes is told of, once', async () => {
  const warnings: string[] = [];
  const events = { storeFailed: vi.fn(), warn: (message: string) => void warnings.push(message) };
  const store = { enforceRetention: () => new Promise<never>(() => {}) };
  const clock = { ...systemClock, ...steadyClock };
  const retention = new Retention(clock, config as RuntimeConfigSource, store, events, sessions);
  retention.start(null);
  await vi.advanceTimersByTimeAsync(10 * 60_000);
  expect(warnings).toEqual([]);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(warnings).toEqual([expect.stringContaining('10 minutes')]);
  await vi.advanceTimersByTimeAsync(60 * 60_000);
  expect(warnings).toHaveLength(1);
  retention.stop();
});

test('a bound that everything deletable is beyond is told of once, until it holds again', async () => {
  const warnings: string[] = [];
  const events = { storeFailed: vi.fn(), warn: (message: string) => void warnings.push(message) };
  let is_over_bytes = true;
  const store = { enforceRetention: async () => ({ deleted_count: 0, is_over_bytes }) };
  const clock = { ...systemClock, ...steadyClock };
  const retention = new Retention(clock, config as RuntimeConfigSource, store, events, sessions);
  await retention.enforce();
  await retention.enforce();
  expect(warnings).toEqual([expect.stringContaining('raise retention_bytes')]);
  is_over_bytes = false;
  await retention.enforce();
  is_over_bytes = true;
  await retention.enforce();
  expect(warnings).toHaveLength(2);
});
