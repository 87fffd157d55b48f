import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseJsonExactly } from './exact-json.js';

const parse = (text: string): unknown => parseJsonExactly(Buffer.from(text));

describe('parseJsonExactly', () => {
  it('gives whole numbers that the parser would round as their digits', () => {
    const text = '{"id":1234567890123456789,"ids":[-9007199254740993 ,9007199254740991],"é\\"1":2}';
    expect(parse(text)).toEqual({
      id: '1234567890123456789',
      ids: ['-9007199254740993', 9007199254740991],
      'é"1': 2,
    });
    expect(parse('\ufeff18446744073709551615')).toBe('18446744073709551615');
  });

  it('leaves other numbers as they are, and all texts', () => {
    const text =
      '["1234567890123456789","\\"1234567890123456789",0.12345678901234567,1.5e300,9007199254740992]';
    expect(parse(text)).toEqual(JSON.parse(text));
  });

  it.each(['{1234567890123456789:1}', '[12345678901234567890x]', '', '[01234567890123456789]'])(
    'refuses what is no JSON: %s',
    (text) => {
      expect(() => parse(text)).toThrow(SyntaxError);
    },
  );

  it('is JSON.parse for everything that JSON.stringify writes without such a number', () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        const value = JSON.parse(text);
        fc.pre(!/\d{16}/.test(text.replace(/"(?:[^"\\]|\\.)*"/g, '')));
        expect(parse(text)).toEqual(value);
      }),
    );
  });
});
