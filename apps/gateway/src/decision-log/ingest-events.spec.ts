import { pino } from 'pino';
import { Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { FakeClock } from '#testing';
import { IngestEvents } from './ingest-events.js';

test('steps taken are counted once by severity, however often the metrics are read', async () => {
  const registry = new Registry();
  const clock = new FakeClock();
  const gauges = { liveSessions: () => 0, windows: () => 0, storeQueue: () => 0 };
  const events = new IngestEvents(
    { steadyMs: () => clock.nowMs() },
    pino({ enabled: false }),
    registry,
    gauges,
  );
  const read = async () => {
    const text = await registry.getSingleMetricAsString('observatory_decision_logs_accepted_total');
    return text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  };
  expect(await read()).toEqual([]);
  for (const severity of ['normal', 'loop', 'normal'] as const) events.accepted(severity);
  await read();
  events.accepted('loop');
  expect(await read()).toEqual([
    'observatory_decision_logs_accepted_total{severity="normal"} 2',
    'observatory_decision_logs_accepted_total{severity="loop"} 2',
  ]);
});
