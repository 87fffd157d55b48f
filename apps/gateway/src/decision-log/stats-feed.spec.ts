import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { GatewayStats } from '#contracts';
import { FakeClock } from '#testing';
import { StatsFeed } from './stats-feed.js';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

it('tells each tenant its own numbers a second, by a clock that nobody sets', () => {
  const clock = new FakeClock();
  const published: [string, GatewayStats][] = [];
  const feed = new StatsFeed(clock, {
    publish: (tenantId, _topic, payload) => void published.push([tenantId, payload as GatewayStats]),
    watchedTenants: () => ['a'],
  });
  feed.start({
    latency: () => ({ p50: 2, p95: null }),
    liveSessionCounts: () => new Map([['a', 3]]),
    subscriberCount: () => 4,
    storeQueueCount: () => 5,
  });
  for (let log = 0; log < 10; log += 1) feed.countLog('a');
  feed.countViolation('b');
  clock.advance(1_000);
  clock.set(clock.nowMs() - 3_600_000);
  vi.advanceTimersByTime(1_000);
  const shared = { at_ms: clock.nowMs(), ingest_p50_ms: 2, ingest_p95_ms: null, subscriber_count: 4 };
  expect(published).toEqual([
    [
      'a',
      {
        ...shared,
        logs_per_second: 10,
        violations_per_second: 0,
        live_session_count: 3,
        store_queue_count: 5,
      },
    ],
    [
      'b',
      {
        ...shared,
        logs_per_second: 0,
        violations_per_second: 1,
        live_session_count: 0,
        store_queue_count: 5,
      },
    ],
  ]);
  feed.stop();
  vi.advanceTimersByTime(5_000);
  expect(published).toHaveLength(2);
});

it('tells a tenant of which nothing came as long as somebody looks: no log a second is a number, too', () => {
  const watched = new Set<string>();
  const published: [string, GatewayStats][] = [];
  const feed = new StatsFeed(new FakeClock(), {
    publish: (tenantId, _topic, payload) => void published.push([tenantId, payload as GatewayStats]),
    watchedTenants: () => watched,
  });
  feed.start({
    latency: () => ({ p50: null, p95: null }),
    liveSessionCounts: () => new Map([['looked-at', 2]]),
    subscriberCount: () => 1,
    storeQueueCount: () => 0,
  });
  vi.advanceTimersByTime(1_000);
  expect(published).toEqual([]);
  watched.add('looked-at');
  vi.advanceTimersByTime(1_000);
  watched.clear();
  vi.advanceTimersByTime(1_000);
  expect(published).toMatchObject([['looked-at', { logs_per_second: 0, live_session_count: 2 }]]);
  feed.stop();
});
