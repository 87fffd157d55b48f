import { expect, it } from 'vitest';
import { FakeClock } from '#testing';
import { RecentLatencies } from './recent-latencies.js';

it('has the percentiles of its window, and none of what came before it', () => {
  const clock = new FakeClock();
  const latencies = new RecentLatencies(clock, 10_000);
  expect(latencies.quantiles(0.5, 0.95)).toEqual([null, null]);
  latencies.add(1_000);
  clock.advance(1);
  for (let tookMs = 100; tookMs >= 1; tookMs -= 1) latencies.add(tookMs);
  clock.advance(10_000);
  expect(latencies.quantiles(0.5, 0.95, 1)).toEqual([51, 96, 100]);
  clock.advance(1);
  expect(latencies.quantiles(0.5)).toEqual([null]);
});
