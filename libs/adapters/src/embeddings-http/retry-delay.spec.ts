import { describe, expect, it } from 'vitest';
import { parseRetryAfter, retryDelayMs } from './retry-delay.js';

const nowMs = Date.UTC(2026, 0, 31, 12);

describe('the wait before a server is asked again', () => {
  it('doubles, up to a bound, and lies between half and all of it', () => {
    expect([1, 2, 3, 9].map((attempt) => retryDelayMs(attempt, null, 1))).toEqual([200, 400, 800, 5_000]);
    expect(retryDelayMs(1, null, 0)).toBe(100);
  });

  it('is as long as the server says, unless that is longer than texts can wait', () => {
    expect(retryDelayMs(1, 0, 1)).toBe(0);
    expect(retryDelayMs(3, 30_000, 0)).toBe(30_000);
    expect(retryDelayMs(1, 30_001, 0)).toBeNull();
  });
});

describe('Retry-After', () => {
  it.each([
    ['seconds', '7', 7_000],
    ['parts of a second', '0.25', 250],
    ['a date', 'Sat, 31 Jan 2026 12:00:09 GMT', 9_000],
    ['a date that is over', 'Sat, 31 Jan 2026 11:00:00 GMT', 0],
    ['nothing', undefined, null],
    ['nonsense', 'soon', null],
    ['less than nothing', '-1', null],
    ['a date as HTTP does not write it', '2026-01-31T12:00:09Z', null],
  ])('of %s is read', (_, value, expected) => {
    expect(parseRetryAfter(value, nowMs)).toBe(expected);
  });

  it('counts once where it comes twice', () => {
    expect(parseRetryAfter(['1', '9'], nowMs)).toBe(1_000);
  });
});
