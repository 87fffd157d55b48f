import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { passedBound } from './json-bounds.js';

const { POSITIVE_INFINITY } = Number;
const UNBOUND = { depthMax: POSITIVE_INFINITY, valuesMax: POSITIVE_INFINITY, namesMax: POSITIVE_INFINITY };
const nestsWithin = (bytes: Buffer, depthMax: number): boolean =>
  passedBound(bytes, { ...UNBOUND, depthMax }) === null;
const holdsWithin = (bytes: Buffer, valuesMax: number): boolean =>
  passedBound(bytes, { ...UNBOUND, valuesMax }) === null;

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

describe('the names of a JSON text', () => {
  const namesMax = 1_000;
  const members = (count: number, nameOf: (at: number) => string): string =>
    Array.from({ length: count }, (_, at) => `"${nameOf(at)}" : "a:${at}"`).join(', ');
  const passed = (text: string) => passedBound(Buffer.from(text), { ...UNBOUND, namesMax });

  it('are told apart up to their bound, in one object or in many', () => {
    const differing = (count: number) => members(count, (at) => `name ${at}`);
    expect(passed(`{${differing(namesMax)}}`)).toBeNull();
    expect(passed(`{${differing(namesMax + 1)}}`)).toBe('namesMax');
    expect(passed(`[{${differing(namesMax + 1).replaceAll(', ', '},{')}}]`)).toBe('namesMax');
  });

  it('count once however often they come, and texts that are no names do not', () => {
    expect(
      passed(`[{${members(namesMax * 2, (at) => `name ${at % 10}`).replaceAll(', ', '},{')}}]`),
    ).toBeNull();
    expect(passed(JSON.stringify(Array.from({ length: namesMax * 2 }, (_, at) => `text ${at}:`)))).toBeNull();
  });
});

describe('a line with a string that never ends', () => {
  it.each(['"', '{"a', '{"a":"\\"'])('hides nothing of the lines that follow: %j', (line) => {
    const wide = `{"a":[${'{},'.repeat(50)}{}],"b":"[[["}`;
    expect(holdsWithin(Buffer.from(`${line}\n${wide}`), 100)).toBe(false);
    expect(holdsWithin(Buffer.from(`${line}\n${wide}`), 110)).toBe(true);
    expect(nestsWithin(Buffer.from(`${line}\n[[[[[[]]]]]]`), 5)).toBe(false);
  });
});
