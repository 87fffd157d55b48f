import { expect, it } from 'vitest';
import { FakeClock } from '#testing';
import { LoginThrottle } from './login-throttle.js';

function start() {
  const clock = new FakeClock(0);
  clock.advance(3_600_000);
  const limits = { windowMs: 60_000, failuresPerAddressMax: 3, failuresOverallMax: 5 };
  const throttle = new LoginThrottle({ clock, limits });
  const fail = (address: string, count: number) => {
    for (let index = 0; index < count; index += 1) throttle.recordFailure(address);
  };
  return { clock, throttle, fail };
}

it('refuses an address from its last failure allowed until its window is over, in whole seconds and never 0', () => {
  const { clock, throttle, fail } = start();
  fail('a', 2);
  clock.advance(1);
  expect(throttle.retryAfterSeconds('a')).toBe(0);
  fail('a', 1);
  const waits = [0, 998, 1, 58_999, 1].map((ms) => {
    clock.advance(ms);
    return throttle.retryAfterSeconds('a');
  });
  expect(waits).toEqual([60, 60, 59, 1, 0]);
});

it('refuses who has failed at all once all have failed too often together, and nobody else', () => {
  const { clock, throttle, fail } = start();
  fail('a', 1);
  fail('b', 1);
  fail('c', 2);
  expect(throttle.retryAfterSeconds('a')).toBe(0);
  fail('d', 1);
  expect(['a', 'd', 'e'].map((address) => throttle.retryAfterSeconds(address))).toEqual([60, 60, 0]);
  clock.advance(60_000);
  fail('a', 1);
  expect(throttle.retryAfterSeconds('a')).toBe(0);
});

it('goes by the clock that nobody sets: one set back keeps nobody out for longer, one set forward lets nobody in', () => {
  const { clock, throttle, fail } = start();
  fail('a', 3);
  clock.set(-7_200_000);
  expect(throttle.retryAfterSeconds('a')).toBe(60);
  clock.set(7_200_000);
  expect(throttle.retryAfterSeconds('a')).toBe(60);
  clock.advance(60_000);
  expect(throttle.retryAfterSeconds('a')).toBe(0);
});
