import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { passedBound } from './json-bounds.js';

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

  it('are counted no further than the bound', () => {
    expect(holdsWithin(Buffer.from(`[${'{},'.repeat(1_000_000)}`), 1_000)).toBe(false);
  });
});
