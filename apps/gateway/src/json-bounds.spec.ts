import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { buildDecisionLog } from '#testing';
import { charsOf, holdsRoundedNumber } from './json-bounds.js';

describe('the characters of what is parsed', () => {
  it('are counted no further than the bound of its values', () => {
    expect(charsOf({ a: [1, { b: 2 }], c: 'text' }, 5)).not.toBeNull();
    expect(charsOf({ a: [1, { b: 2 }], c: 'text' }, 4)).toBeNull();
    for (const scalar of [null, undefined, 1, 'text']) expect(charsOf(scalar, 0)).not.toBeNull();
  });

  it('are about as many as its text has', () => {
    const log = buildDecisionLog({
      cognition: { intent: 'look', reasoning_chain: ['x'.repeat(5_000), 'y'] },
    });
    const { length } = JSON.stringify(log);
    expect(charsOf(log, 1_000)).toBeGreaterThan(length * 0.9);
    expect(charsOf(log, 1_000)).toBeLessThan(length * 1.1);
    expect(charsOf('text', 1)).toBe(4);
  });
});

describe('a number that JSON.parse rounds', () => {
  const isRounded = (text: string) => holdsRoundedNumber(Buffer.from(text));

  it.each([
    '{"id":1234567890123456789}',
    '[0.12345678901234567891]',
    '[-1.00000000000000000001]',
    '[9007199254740990.5]',
    '{"a":"\\"","b":[1e-400]}',
    '1E400',
  ])('is found in %s', (text) => {
    expect(isRounded(text)).toBe(true);
  });

  it.each([
    '{"id":"1234567890123456789"}',
    '"\\"1234567890123456789"',
    '[0.30000000000000004,1.50,1700000000000,-0.0,1E2,5e-324,1.7976931348623157e+308]',
    '[100000000000000000000000,0.00000000000000000000001,1.0000000000000000000]',
    '{"a":"1234567890123456789',
  ])('is not in %s', (text) => {
    expect(isRounded(text)).toBe(false);
  });

  it.each([
    ['1', '1', true],
    ['0.', '1', true],
    ['1', '', true],
    ['1.', '', false],
  ])('is told in no time, though 4 million zeros stand between %j and %j', (head, tail, rounded) => {
    expect(isRounded(`[${head}${'0'.repeat(4_000_000)}${tail}]`)).toBe(rounded);
  });

  it('is none that was written from a number', () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(fc.double(), fc.maxSafeInteger())), (numbers) => {
        expect(isRounded(JSON.stringify(numbers))).toBe(false);
      }),
    );
  });

  it('is one of any two that are written apart and read the same', () => {
    const digits = fc.stringMatching(/^[1-9][0-9]{14,18}$/);
    fc.assert(
      fc.property(digits, fc.nat(9), fc.nat(9), fc.nat(13), (head, one, other, point) => {
        fc.pre(one !== other);
        const [first, second] = [one, other].map((last) => {
          const all = `${head}${last}`;
          return `[${all.slice(0, point + 1)}.${all.slice(point + 1)}]`;
        }) as [string, string];
        fc.pre(JSON.parse(first)[0] === JSON.parse(second)[0]);
        expect(isRounded(first) || isRounded(second)).toBe(true);
      }),
      { numRuns: 500 },
    );
  });
});
