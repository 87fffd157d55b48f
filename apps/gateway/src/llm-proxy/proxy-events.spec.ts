import { pino } from 'pino';
import { Registry } from 'prom-client';
import { expect, it } from 'vitest';
import { RedisFailure } from '#adapters/redis';
import { MINUTE_MS } from '#kernel';
import { FakeClock } from '#testing';
import type { ProxyCall } from './proxy-call.js';
import { ProxyEvents } from './proxy-events.js';

it('tells how often a guard forgot what it knew for want of room, by guard', async () => {
  const metrics = new Registry();
  const none = () => 0;
  const forgotten = { kill_switch_windows: 0, session_caps: 0 };
  new ProxyEvents(new FakeClock(0), pino({ level: 'silent' }), metrics, {
    held: none,
    windows: none,
    waitingRows: none,
    bodyBytes: none,
    split: none,
    forgotten: () => forgotten,
  });
  const told = async () =>
    (await metrics.metrics())
      .split('\n')
      .filter((line) => line.startsWith('observatory_proxy_forgotten_total'));
  expect(await told()).toEqual([
    'observatory_proxy_forgotten_total{what="kill_switch_windows"} 0',
    'observatory_proxy_forgotten_total{what="session_caps"} 0',
  ]);
  forgotten.kill_switch_windows = 7;
  await told();
  expect(await told()).toContain('observatory_proxy_forgotten_total{what="kill_switch_windows"} 7');
});

it('counts calls by the upstreams that every tenant knows, and what tenants have added together', async () => {
  const metrics = new Registry();
  const none = () => 0;
  const events = new ProxyEvents(new FakeClock(0), pino({ level: 'silent' }), metrics, {
    held: none,
    windows: none,
    waitingRows: none,
    bodyBytes: none,
    split: none,
    forgotten: () => ({}),
  });
  for (const upstream of [
    { name: 'openai', source: 'settings' },
    { name: 'vllm', source: 'environment' },
    { name: 'of-red', source: 'settings' },
    { name: 'of-blue', source: 'settings' },
  ])
    events.ended({ upstream, durationMs: 1, firstByteMs: null, answer: null } as ProxyCall, 'forwarded');
  const told = (await metrics.metrics())
    .split('\n')
    .filter((line) => line.startsWith('observatory_proxy_calls_total'));
  expect(told).toEqual([
    'observatory_proxy_calls_total{upstream="openai",decision="forwarded"} 1',
    'observatory_proxy_calls_total{upstream="vllm",decision="forwarded"} 1',
    'observatory_proxy_calls_total{upstream="(settings)",decision="forwarded"} 2',
  ]);
});

it('[6-] tells why limits were not enforced, each reason once a minute, an error of Redis as an error', () => {
  const none = () => 0;
  const clock = new FakeClock(0);
  const lines: Record<string, unknown>[] = [];
  const logger = pino({}, { write: (line: string) => lines.push(JSON.parse(line)) });
  const events = new ProxyEvents(clock, logger, new Registry(), {
    held: none,
    windows: none,
    waitingRows: none,
    bodyBytes: none,
    split: none,
    forgotten: () => ({}),
  });
  const fail = () => {
    events.limiterFailedOpen(new RedisFailure('timeout'));
    events.limiterFailedOpen(new RedisFailure('reply', 'WRONGTYPE'));
    events.limiterFailedOpen(new Error('no such column'));
  };
  fail();
  fail();
  clock.advance(MINUTE_MS);
  events.limiterFailedOpen(new RedisFailure('reply', 'OOM'));
  expect(lines.map(({ site, reason, untold_count, msg }) => [site, reason, untold_count, msg])).toEqual([
    ['rate_limiter', 'timeout', 0, expect.stringMatching(/did not answer the limiter in time/)],
    ['rate_limiter', 'reply', 0, expect.stringMatching(/answered the limiter with an error/)],
    ['rate_limiter', 'error', 0, expect.not.stringMatching(/Redis/)],
    ['rate_limiter', 'reply', 1, expect.stringMatching(/answered the limiter with an error/)],
  ]);
  expect(events.failOpenCounts()).toEqual({ rate_limiter: 7 });
  expect(events.limiterFailureCounts()).toEqual({ timeout: 2, reply: 3, error: 2 });
});
