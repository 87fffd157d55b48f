import { expect, it } from 'vitest';
import { oneLine } from './one-line.js';

it.each([
  ['as it is', 'as it is'],
  ['a\r\nb\u2028c\u202ed', 'a b c d'],
  ['x'.repeat(10), 'xxxxxxxxxx'],
  ['x'.repeat(11), 'xxxxxxxxx…'],
  [`${'x'.repeat(8)}😀😀`, 'xxxxxxxx…'],
])('is one line, whole or cut: %#', (text, line) => {
  expect(oneLine(text, 10)).toBe(line);
});
