import { expect, it } from 'vitest';
import { stepRate } from './step-rate';

it('has no steps per minute once it has been silent for one', () => {
  const session = { perMinute: 53.4, lastSeenMs: 1_000 };
  expect(stepRate(session, 60_999)).toBe(53);
  expect(stepRate(session, 61_000)).toBe(0);
});
