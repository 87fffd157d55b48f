import { describe, expect, test } from 'vitest';
import { sessionKey } from '#contracts';
import { FakeClock } from '#testing';
import { RetryClaims } from './retry-claims.js';

const ONE = sessionKey('default', 'one');
const TWO = sessionKey('default', 'two');

const asked = (attempts: readonly number[], claims = new RetryClaims(new FakeClock())) =>
  attempts.map((attempt) => claims.isRetry(ONE, attempt));

describe('a retry', () => {
  test('is an attempt with a higher number than the one before', () => {
    expect(asked([0, 1, 2, 0, 1, 0])).toEqual([false, true, true, false, true, false]);
  });

  test('may be the first that is seen of its call: the others broke on their way', () => {
    expect(asked([2, 5, 0])).toEqual([true, true, false]);
  });

  test('is none when every call says that it is the same attempt', () => {
    expect(asked([1, 1, 1, 1])).toEqual([true, false, false, false]);
    expect(asked([0, 1, 1, 0, 1])).toEqual([false, true, false, false, true]);
  });

  test('is none after more attempts than anybody makes', () => {
    const attempts = Array.from({ length: 40 }, (_, index) => index);
    expect(asked(attempts).lastIndexOf(true)).toBe(32);
  });

  test('of one tenant is known, however many another claims', () => {
    const claims = new RetryClaims(new FakeClock());
    claims.isRetry(ONE, 1);
    for (let n = 0; n < 20_000; n += 1) claims.isRetry(sessionKey('noisy', `${n}`), 1);
    expect(claims.isRetry(ONE, 1)).toBe(false);
  });

  test('is told by session, and an old attempt is forgotten', () => {
    const clock = new FakeClock();
    const claims = new RetryClaims(clock);
    expect([claims.isRetry(ONE, 1), claims.isRetry(TWO, 1), claims.isRetry(ONE, 1)]).toEqual([
      true,
      true,
      false,
    ]);
    clock.advance(10 * 60_000 + 1);
    expect(claims.isRetry(ONE, 1)).toBe(true);
  });
});
