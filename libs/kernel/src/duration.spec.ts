import { describe, expect, it } from 'vitest';
import { parseDurationMs } from './duration.js';

describe('parseDurationMs', () => {
  it.each([
    ['50ms', 50],
    ['50', 50],
    [' 2 s ', 2_000],
    ['1.5m', 90_000],
    ['1H', 3_600_000],
    ['0', 0],
  ])('reads %j as %d ms', (text, ms) => {
    expect(parseDurationMs(text)).toBe(ms);
  });

  it('counts a plain number in the unit of its setting', () => {
    expect(parseDurationMs('3600', 's')).toBe(3_600_000);
    expect(parseDurationMs('50ms', 's')).toBe(50);
  });

  it.each(['', 'soon', '-1', '50 msec', '1e3', '1.', 'ms', '5d', '1s 5ms'])('refuses %j', (text) => {
    expect(parseDurationMs(text)).toBeNull();
  });
});
