import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { RUNTIME_CONFIG_DEFAULTS, type RuntimeConfigSource } from '#contracts';
import { steadyClock, systemClock } from '#kernel';
import { Retention } from './retention.js';

const config = { get: (key: keyof typeof RUNTIME_CONFIG_DEFAULTS) => RUNTIME_CONFIG_DEFAULTS[key] };

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

test('a run that takes longer than a minute is not joined by others', async () => {
  let finish = () => {};
  const enforceRetention = vi.fn(
    () => new Promise<{ deleted_count: number }>((settle) => (finish = () => settle({ deleted_count: 0 }))),
  );
  const events = { storeFailed: vi.fn(), warn: vi.fn() };
  const retention = new Retention(
    { ...systemClock, ...steadyClock },
    config as RuntimeConfigSource,
    { enforceRetention },
    events,
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
