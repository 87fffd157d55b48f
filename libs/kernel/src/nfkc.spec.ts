import { expect, it } from 'vitest';
import { nfkc } from './nfkc.js';

it('spells each text as Unicode does', () => {
  for (const text of [
    '',
    'plain',
    'Ünïcode ﬁne ＡＢＣ',
    'a\u0301\u0316',
    'ｶﾞ',
    `a${'\u0316\u0301'.repeat(15)}`,
  ])
    expect(nfkc(text)).toBe(text.normalize('NFKC'));
});

it.each([
  ['that fall apart', '\u0f73'],
  ['in the wrong order', '\u0301\u0316'],
  ['among those of katakana', `${'\u0301'.repeat(29)}\uff9e`],
])('takes a letter with ever so many marks %s', (_, marks) => {
  const letter = `a${marks.repeat(100_000 / marks.length)}`;
  expect(nfkc(letter).length).toBeGreaterThan(100_000);
});
