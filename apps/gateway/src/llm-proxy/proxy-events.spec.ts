import { pino } from 'pino';
import { Registry } from 'prom-client';
import { expect, it } from 'vitest';
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
