import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { duplicateKeyOf, findDuplicateKey } from './duplicate-key.js';

const withValue = (text: string) => duplicateKeyOf(Buffer.from(text), JSON.parse(text));

describe('findDuplicateKey', () => {
  test.each([
    ['{"a":1,"a":2}', 'a'],
    ['{"x":{"k":[1,{"b":1, "b" :2}]}}', 'b'],
    ['{"\\u0061":1,"a":2}', 'a'],
    ['{"a\\"":1,"a\\"":2}', 'a"'],
    ['{"a\\\\":1,"a\\\\":2}', 'a\\'],
    ['{"__proto__":1,"__proto__":2}', '__proto__'],
    // What one colon too many would show, one that is written as an escape hides.
    ['{"a":1,"a":"\\u003a"}', 'a'],
    ['{"a":":","a":":"}', 'a'],
    ['{"a":[{":":":"}],"b":{"c:":1,"c:":"\\u003A"}}', 'c:'],
  ])('finds the key named twice in %s', (text, key) => {
    expect(findDuplicateKey(text)).toBe(key);
    expect(withValue(text)).toBe(key);
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
    expect(withValue(text)).toBeNull();
  });

  test('is silent for everything JSON.stringify can write', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.constantFrom(undefined, 2), (value, indent) => {
        const text = JSON.stringify(value, null, indent);
        expect(findDuplicateKey(text)).toBeNull();
        expect(withValue(text)).toBeNull();
      }),
    );
  });

  test('takes a hundred thousand levels without growing the stack', () => {
    expect(findDuplicateKey(`${'['.repeat(100_000)}${']'.repeat(100_000)}`)).toBeNull();
  });
});
