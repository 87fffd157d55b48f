import { describe, expect, it } from 'vitest';
import { formatLatency, formatRate, seriesOf } from './stats-series';

describe("the header's numbers", () => {
  it('read short', () => {
    expect([0, 0.42, 9.96, 1_204.4].map(formatRate)).toEqual(['0', '0.4', '10', '1,204']);
    expect([null, 0.44, 12.4, 1_240].map(formatLatency)).toEqual(['–', '0.4 ms', '12 ms', '1.2 s']);
  });

  it('come from the newest second', () => {
    const second = {
      at_ms: 1_000,
      logs_per_second: 1,
      violations_per_second: 0,
      ingest_p50_ms: null,
      ingest_p95_ms: null,
      live_session_count: 1,
      subscriber_count: 1,
      store_queue_count: 0,
    };
    const { times, column, latest } = seriesOf([second, { ...second, at_ms: 2_000, logs_per_second: 5 }]);
    expect(times).toEqual([1, 2]);
    expect(column('logs_per_second')).toEqual([1, 5]);
    expect(column('ingest_p50_ms')).toEqual([null, null]);
    expect(latest?.logs_per_second).toBe(5);
  });
});
