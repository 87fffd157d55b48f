import { describe, expect, it } from 'vitest';
import { formatCheckMs, latencyBars, timeoutText } from './latency-bars';

const buckets = [
  { below_ms: 10, count: 40 },
  { below_ms: 50, count: 10 },
  { below_ms: 100, count: 2 },
  { below_ms: null, count: 0 },
];

describe('latencyBars', () => {
  it('measures each bar against the tallest and says what it holds', () => {
    const bars = latencyBars(buckets, 50);
    expect(bars.map(({ label }) => label)).toEqual(['10', '50', '100', 'more']);
    expect(bars.map(({ text }) => text)).toEqual([
      '0 to 10 ms',
      '10 to 50 ms',
      '50 to 100 ms',
      'over 100 ms',
    ]);
    expect(bars.map(({ height }) => height)).toEqual([1, 0.25, 0.05, 0]);
  });

  it('sets apart what lies wholly beyond the timeout', () => {
    const past = (timeoutMs: number) => latencyBars(buckets, timeoutMs).map((bar) => bar.isPastTimeout);
    expect(past(50)).toEqual([false, false, true, true]);
    expect(past(60)).toEqual([false, false, false, true]);
  });

  it('bears a gateway that has checked nothing', () => {
    expect(latencyBars([{ below_ms: null, count: 0 }], 50)).toMatchObject([{ height: 0, text: 'over 0 ms' }]);
    expect(latencyBars([], 50)).toEqual([]);
  });
});

describe('formatCheckMs', () => {
  it('keeps the tenths of short checks', () => {
    expect([0.084, 0.84, 3.24, 48.4].map(formatCheckMs)).toEqual(['0.08 ms', '0.84 ms', '3.2 ms', '48 ms']);
  });
});

describe('timeoutText', () => {
  it('tells checks that took longer than they may from those that come close', () => {
    expect(timeoutText(67, 50)).toMatch(/^The slowest checks take longer than the 50 ms/);
    expect(timeoutText(45, 50)).toMatch(/^The slowest checks come close to the 50 ms/);
    expect(timeoutText(20, 50)).toMatch(/^A check that takes longer than 50 ms/);
    expect(timeoutText(null, 50)).toMatch(/^A check that takes longer than 50 ms/);
  });
});
