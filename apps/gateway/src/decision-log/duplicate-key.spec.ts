import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { findDuplicateKey } from './duplicate-key.js';

describe('findDuplicateKey', () => {
  test.each([
    ['{"a":1,"a":2}', 'a'],
    ['{"x":{"k":[1,{"b":1, "b" :2}]}}', 'b'],
    ['{"\\u0061":1,"a":2}', 'a'],
    ['{"a\\"":1,"a\\"":2}', 'a"'],
    ['{"a\\\\":1,"a\\\\":2}', 'a\\'],
    ['{"__proto__":1,"__proto__":2}', '__proto__'],
  ])('finds the key named twice in %s', (text, key) => {
    expect(findDuplicateKey(text)).toBe(key);
  });

  test.each([
    '{"a":{"a":{"a":1}}}',
    '[{"a":1},{"a":2}]',
    '{"a":"b","b":"a"}',
    '{"a":["a","a"],"b":"a"}',
    '{"a":"x\\",\\"a\\":1"}',
    '"a"',
    '[]',
  ])('finds nothing in %s', (text) => {
    expect(findDuplicateKey(text)).toBeNull();
  });

  test('is silent for everything JSON.stringify can write', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.constantFrom(undefined, 2), (value, indent) => {
        expect(findDuplicateKey(JSON.stringify(value, null, indent))).toBeNull();
      }),
    );
  });

  test('takes a hundred thousand levels without growing the stack', () => {
    expect(findDuplicateKey(`${'['.repeat(100_000)}${']'.repeat(100_000)}`)).toBeNull();
  });
});
