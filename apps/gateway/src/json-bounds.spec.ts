import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { buildDecisionLog } from '#testing';
import { charsOf, holdsRoundedNumber, passedBound } from './json-bounds.js';

const nestsWithin = (bytes: Buffer, depthMax: number): boolean =>
  passedBound(bytes, { depthMax, valuesMax: Number.POSITIVE_INFINITY }) === null;
const holdsWithin = (bytes: Buffer, valuesMax: number): boolean =>
  passedBound(bytes, { depthMax: 256, valuesMax }) === null;

const depthOf = (value: unknown): number =>
  typeof value === 'object' && value !== null ? 1 + Math.max(0, ...Object.values(value).map(depthOf)) : 0;

describe('the depth of a JSON text', () => {
  it.each([
    ['{}', 1],
    ['[[[]]]', 3],
    ['{"a":"[[[[{{{{"}', 1],
    ['{"a":"\\"[[[","b":[1]}', 2],
    ['{"a":"\\\\","b":[[1]]}', 3],
    ['"[[["', 0],
  ])('%s is %i', (text, depth) => {
    expect(nestsWithin(Buffer.from(text), depth)).toBe(true);
    if (depth > 0) expect(nestsWithin(Buffer.from(text), depth - 1)).toBe(false);
  });

  it('is that of the value, whatever strings it holds', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const bytes = Buffer.from(JSON.stringify(value));
        const depth = depthOf(value);
        expect(nestsWithin(bytes, depth)).toBe(true);
        expect(depth === 0 || !nestsWithin(bytes, depth - 1)).toBe(true);
      }),
    );
  });

  it('is found in text that never ends', () => {
    expect(nestsWithin(Buffer.from('['.repeat(1_000_000)), 256)).toBe(false);
    expect(nestsWithin(Buffer.from('{"a":"never closed'), 256)).toBe(true);
  });
});

describe('the values of a JSON text', () => {
  it.each([
    ['[]', 1],
    ['[1,2,3]', 3],
    ['{"a":[{},{}],"b":",,,,[[["}', 6],
  ])('%s are about %i', (text, count) => {
    expect(holdsWithin(Buffer.from(text), count)).toBe(true);
    expect(holdsWithin(Buffer.from(text), count - 1)).toBe(false);
  });

  it('are counted no further than the bound, in text and in what is parsed', () => {
    expect(holdsWithin(Buffer.from(`[${'{},'.repeat(1_000_000)}`), 1_000)).toBe(false);
    expect(charsOf({ a: [1, { b: 2 }], c: 'text' }, 5)).not.toBeNull();
    expect(charsOf({ a: [1, { b: 2 }], c: 'text' }, 4)).toBeNull();
    for (const scalar of [null, undefined, 1, 'text']) expect(charsOf(scalar, 0)).not.toBeNull();
  });

  it('have about as many characters, parsed, as their text', () => {
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
