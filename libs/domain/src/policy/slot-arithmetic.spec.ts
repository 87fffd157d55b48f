import { expect, it } from 'vitest';
import { describeDecision } from './slot-arithmetic.js';

it('counts sliding windows by the time of the decision, and calendar windows by the clock of their starts', () => {
  const shape = { key: 'k', limit: 10, amount: 1, windowMs: 60_000 };
  const windows = [
    { ...shape, kind: 'sliding' as const },
    { ...shape, kind: 'calendar' as const, startMs: 5_000_000 },
  ];
  const counted = [
    { used: 10, slots: [1_000_000, 10] },
    { used: 10, slots: [] },
  ];
  const decide = (refused: boolean[]) =>
    describeDecision(windows, counted, [false, false], refused, 1_020_000, 5_010_000).retryAfterMs;
  expect(decide([true, false])).toBe(41_000);
  expect(decide([false, true])).toBe(50_000);
});
