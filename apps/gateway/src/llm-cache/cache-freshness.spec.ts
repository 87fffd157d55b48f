import { describe, expect, test } from 'vitest';
import { CacheFreshness } from './cache-freshness.js';

describe('CacheFreshness', () => {
  test('lets a call keep what it brings', () => {
    const freshness = new CacheFreshness();
    expect(freshness.claim(freshness.begin('t', 'k'))).toBe(true);
  });

  test('keeps the younger of two calls for one key, in whatever order they end', () => {
    const freshness = new CacheFreshness();
    const [older, younger] = [freshness.begin('t', 'k'), freshness.begin('t', 'k')];
    const elsewhere = freshness.begin('t', 'another');
    expect(freshness.claim(younger)).toBe(true);
    freshness.end(younger);
    expect(freshness.claim(older)).toBe(false);
    expect(freshness.claim(elsewhere)).toBe(true);
    const [first, second] = [freshness.begin('t', 'k'), freshness.begin('t', 'k')];
    expect(freshness.claim(first)).toBe(true);
    expect(freshness.claim(second)).toBe(true);
  });

  test('lets an older call keep its own where the answer of the younger was not kept after all', () => {
    const freshness = new CacheFreshness();
    const [oldest, older, younger] = [
      freshness.begin('t', 'k'),
      freshness.begin('t', 'k'),
      freshness.begin('t', 'k'),
    ];
    freshness.claim(older);
    freshness.claim(younger);
    freshness.disclaim(younger);
    expect(freshness.claim(oldest)).toBe(false);
    expect(freshness.claim(older)).toBe(true);
  });

  test('remembers no key of which no call is under way', () => {
    const freshness = new CacheFreshness();
    const calls = [freshness.begin('t', 'k'), freshness.begin('t', 'k'), freshness.begin('t', 'l')];
    expect(freshness.count).toBe(2);
    for (const call of calls) {
      freshness.claim(call);
      freshness.end(call);
    }
    expect(freshness.count).toBe(0);
  });
});
