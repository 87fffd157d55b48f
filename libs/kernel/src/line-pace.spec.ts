import { expect, it } from 'vitest';
import { FakeClock } from '#testing';
import { LinePace } from './line-pace.js';

it('has a line a minute of each cause, which says how many had none', () => {
  const clock = new FakeClock();
  const lines = new LinePace<'delivery' | 'firing'>(clock);
  const thrice = () => [lines.untoldAt('delivery'), lines.untoldAt('delivery'), lines.untoldAt('delivery')];
  expect(thrice()).toEqual([0, null, null]);
  expect(lines.untoldAt('firing')).toBe(0);
  clock.advance(59_999);
  expect(lines.untoldAt('delivery')).toBeNull();
  clock.advance(1);
  expect(thrice()).toEqual([3, null, null]);
});
