import { expect, it } from 'vitest';
import { wholeEnd } from './whole-end.js';

it('cuts between characters, never within one', () => {
  const text = 'a👍b';
  expect([1, 2, 3, 4].map((end) => text.slice(0, wholeEnd(text, end)))).toEqual(['a', 'a', 'a👍', 'a👍b']);
});

it('leaves the whole text as it is, half a character at its end included', () => {
  expect(wholeEnd('a\ud83d', 2)).toBe(2);
  expect(wholeEnd('', 0)).toBe(0);
});
