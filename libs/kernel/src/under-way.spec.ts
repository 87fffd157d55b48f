import { expect, it } from 'vitest';
import { UnderWay } from './under-way.js';

it('has a key until the last of it has ended, however often an end is told', () => {
  const underWay = new UnderWay<string>();
  const ends = [underWay.begin('a'), underWay.begin('a')] as const;
  underWay.begin('b');
  ends[0]();
  ends[0]();
  expect([underWay.has('a'), underWay.has('b'), underWay.has('c')]).toEqual([true, true, false]);
  ends[1]();
  expect(underWay.has('a')).toBe(false);
});
