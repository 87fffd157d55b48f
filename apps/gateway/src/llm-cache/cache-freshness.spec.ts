import { describe, expect, test } from 'vitest';
import { CacheFreshness } from './cache-freshness.js';

describe('CacheFreshness', () => {
  test('lets a call keep what it brings', () => {
    const freshness = new CacheFreshness();
    expect(freshness.claim(freshness.begin('t', 'k'))).toBe(true);
  });

  test('keeps nothing that was under way when its tenant threw answers out, and nothing of another tenant’s', () => {
    const freshness = new CacheFreshness();
    const [ours, theirs] = [freshness.begin('t', 'k'), freshness.begin('rival', 'k')];
    freshness.throwOut('t');
    expect(freshness.claim(ours)).toBe(false);
    expect(freshness.claim(theirs)).toBe(true);
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

  test('past its bound of tenants forgets whose answers were thrown out, and keeps nothing that was under way', () => {
    const freshness = new CacheFreshness(2);
    const calls = ['a', 'b', 'c', 'd'].map((tenant) => freshness.begin(tenant, 'k'));
    for (const tenant of ['a', 'b', 'c']) freshness.throwOut(tenant);
    expect(calls.map((call) => freshness.claim(call))).toEqual([false, false, false, false]);
    for (const tenant of ['a', 'b', 'c', 'd'])
      expect(freshness.claim(freshness.begin(tenant, 'k'))).toBe(true);
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
