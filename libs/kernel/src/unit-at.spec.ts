import { expect, it } from 'vitest';
import { unitAt } from './unit-at.js';

it('reads the UTF-16 code unit at a place, and NaN beyond the end', () => {
  expect(['a', '€', '😀'].map((text) => unitAt(text, 0))).toEqual([0x61, 0x20ac, 0xd83d]);
  expect(unitAt('', 0)).toBeNaN();
});
