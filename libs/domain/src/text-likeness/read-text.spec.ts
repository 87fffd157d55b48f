import { expect, it } from 'vitest';
import { readText } from './read-text.js';

it.each([
  ['one kind', '「'.repeat(1_900)],
  ['two kinds in turn', '「『x』'.repeat(400)],
])('takes what one mark closes for one quotation, however many marks of %s open before it', (_, opening) => {
  const text = `${opening}x」`.repeat(8);
  const quoted = readText(text).quotes.reduce((sum, { length }) => sum + length, 0);
  expect(quoted).toBeGreaterThan(text.length / 2);
  expect(quoted).toBeLessThan(text.length * 2);
});

it('reads on behind a quotation with one of another kind in it', () => {
  expect(readText('Say "a 『b』 c" to me, and "d" to him').quotes).toEqual(['a 『b』 c', 'b', 'd']);
});
