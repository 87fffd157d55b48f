import { expect, test } from 'vitest';
import { begun, ended } from './under-way';

test('guidance that is not answered stays under way when a pause sent after it is', () => {
  const both = begun(begun([], 'inject'), 'pause');
  expect(both).toEqual(['inject', 'pause']);
  expect(ended(both, 'pause')).toEqual(['inject']);
  expect(ended(both, 'inject')).toEqual(['pause']);
});

test('of two of a kind one ends with each answer', () => {
  expect(ended(['pause', 'pause'], 'pause')).toEqual(['pause']);
  expect(ended(['pause'], 'pause')).toEqual([]);
});
