import { describe, expect, test } from 'vitest';
import { carriedKeys, queryKey, withoutQueryKey } from './carried-keys.js';

test.each([
  ['', ''],
  ['?alt=sse', '?alt=sse'],
  ['?key=secret', ''],
  ['?alt=sse&key=secret', '?alt=sse'],
  ['?k%65y=secret&%6bey=secret&a=b', '?a=b'],
  ['?key=one&a=b&key=two', '?a=b'],
  // Names that only look alike, and encodings, are left as they came.
  ['?monkey=1&key=secret&q=a%20b+c%2F', '?monkey=1&q=a%20b+c%2F'],
  ['?key', ''],
  ['??key=kept', '??key=kept'],
])('of the query %o the upstream gets %o', (query, kept) => {
  expect(withoutQueryKey(query)).toBe(kept);
  expect(queryKey(kept)).toBeUndefined();
});

describe('keys are found', () => {
  test('in every header of a vendor, whatever its case and scheme, and however often', () => {
    const raw = ['Authorization', 'Bearer one', 'AUTHORIZATION', 'two', 'x-API-key', 'three', 'accept', 'no'];
    expect(carriedKeys([...raw, 'x-goog-api-key', 'four', 'api-key', 'five'], '')).toEqual([
      'one',
      'two',
      'three',
      'four',
      'five',
    ]);
  });

  test('in the query', () => {
    expect(carriedKeys([], '?a=b&k%65y=one&key=two')).toEqual(['one', 'two']);
  });
});
