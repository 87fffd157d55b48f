import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { nestsWithin } from './json-depth.js';

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
