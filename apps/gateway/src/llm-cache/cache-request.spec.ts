import { expect, test } from 'vitest';
import { ObservatoryError } from '#contracts';
import { cacheControlOf } from './cache-request.js';

test.each([
  [{}, null],
  [{ 'x-observatory-cache': 'Bypass ' }, 'bypass'],
  [{ 'x-observatory-cache': 'only' }, 'only'],
  [{ 'cache-control': 'private, no-store' }, 'bypass'],
  [{ 'cache-control': 'No-Cache' }, 'refresh'],
  [{ 'cache-control': 'max-age=0' }, null],
  [{ 'x-observatory-cache': 'refresh', 'cache-control': 'no-store' }, 'refresh'],
])('%j asks for %j', (headers, control) => {
  expect(cacheControlOf(headers)).toBe(control);
});

test('a word that means nothing is refused with those that do', () => {
  expect(() => cacheControlOf({ 'x-observatory-cache': 'never' })).toThrow(ObservatoryError);
  expect(() => cacheControlOf({ 'x-observatory-cache': 'never' })).toThrow(/bypass, refresh, only/);
});
