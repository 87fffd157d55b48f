import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalJson } from './canonical-json.js';

/** The same value with every object's keys written in reverse. */
function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).reverse();
  return Object.fromEntries(entries.map(([key, member]) => [key, reversed(member)]));
}

describe('canonicalJson', () => {
  it('sorts keys at every level and keeps arrays in order', () => {
    expect(canonicalJson({ b: [2, 1, { d: null, c: 'x' }], a: true })).toBe(
      '{"a":true,"b":[2,1,{"c":"x","d":null}]}',
    );
  });

  it('drops undefined members and writes null for an undefined element, as JSON.stringify does', () => {
    expect(canonicalJson({ a: undefined, b: [undefined] })).toBe('{"b":[null]}');
    expect(canonicalJson(undefined)).toBe('null');
  });

  it('means the same as the value, and does not depend on the order of keys', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = canonicalJson(value);
        expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value)));
        expect(canonicalJson(reversed(value))).toBe(text);
      }),
    );
  });

  it('is different for different values', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (one, other) => {
        const isEqual = JSON.stringify(canonicalOf(one)) === JSON.stringify(canonicalOf(other));
        expect(canonicalJson(one) === canonicalJson(other)).toBe(isEqual);
      }),
    );
  });
});

/** Objects as sorted lists of entries, marked so that no array looks like one. */
function canonicalOf(value: unknown): unknown {
  if (Array.isArray(value)) return ['array', ...value.map(canonicalOf)];
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
  return ['object', ...entries.map(([key, member]) => [key, canonicalOf(member)])];
}
