import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { countPunctuation } from './json-punctuation.js';

const countIn = (text: string, signs: string): number =>
  [...text].filter((sign) => signs.includes(sign)).length;

describe('the punctuation of a text', () => {
  it.each([
    ['', 0, 0],
    ['{"a":[1,2],"b":{}}', 5, 2],
    ['",,[[::"', 4, 2],
    ['}]}]', 0, 0],
  ])('of %s', (text, values, members) => {
    expect(countPunctuation(Buffer.from(text))).toEqual({ values, members });
  });

  it('is counted to the last byte, whatever was counted before', () => {
    const text = fc.string({
      unit: fc.constantFrom(',', '[', '{', ':', 'x', '"', '}'),
      maxLength: 100,
      size: 'max',
    });
    fc.assert(
      fc.property(text, text, (before, now) => {
        countPunctuation(Buffer.from(before));
        expect(countPunctuation(Buffer.from(now))).toEqual({
          values: countIn(now, ',[{'),
          members: countIn(now, ':'),
        });
      }),
    );
  });

  it.each([32 * 1024 - 1, 32 * 1024, 32 * 1024 + 1, 100_000])(
    'is counted in %i bytes of nothing else',
    (length) => {
      expect(countPunctuation(Buffer.alloc(length, ','))).toEqual({ values: length, members: 0 });
      expect(countPunctuation(Buffer.alloc(length, ':'))).toEqual({ values: 0, members: length });
    },
  );
});
