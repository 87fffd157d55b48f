/** What `/metrics` promises to whoever writes alert rules. */
import { expect, test } from 'vitest';
import { gateway, startOneGateway } from './start-one-gateway.js';

startOneGateway(() => ({ LLM_CACHE_BACKEND: 'memory' }));

const metrics = async (): Promise<string> => (await fetch(`${gateway.url}/metrics`)).text();

test('what counts up is a counter, and is called so', async () => {
  const types = [...(await metrics()).matchAll(/^# TYPE observatory_(\S+) (\S+)$/gm)]
    .map(([, name = '', type = '']) => ({ name, type }))
    .filter(({ name }) => !name.startsWith('nodejs_'));
  const counters = types.filter(({ type }) => type === 'counter').map(({ name }) => name);
  expect(types.filter(({ name }) => name.endsWith('_total')).map(({ name }) => name)).toEqual(counters);
  for (const name of ['cache_evicted', 'cache_refused', 'embedding_sidecar_restarts'])
    expect(counters).toContain(`${name}_total`);
});

test('what alert rules watch for its first time is 0 until then: Prometheus sees no increase in a series that begins', async () => {
  const zeroes = (await metrics()).match(/^\S+ 0$/gm);
  for (const series of [
    'store_refused_total{reason="store_full"}',
    'store_refused_total{reason="store_busy"}',
    'store_refused_total{reason="batch_failed"}',
    'alert_deliveries_finished_total{state="dead"}',
    'proxy_dropped_total{what="incidents"}',
    'fail_open_total{site="rate_limiter"}',
    'decision_logs_rejected_total{reason="agent_refused"}',
    'proxy_turned_away_total{reason="unauthorized"}',
  ])
    expect(zeroes).toContain(`observatory_${series} 0`);
});
