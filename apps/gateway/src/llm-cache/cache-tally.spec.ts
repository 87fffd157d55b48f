import { Registry } from 'prom-client';
import { describe, expect, test } from 'vitest';
import { FakeClock } from '#testing';
import { CacheTally } from './cache-tally.js';

const makeTally = () => new CacheTally(new FakeClock(), new Registry());

describe('CacheTally', () => {
  test('counts each tenant by itself', () => {
    const tally = makeTally();
    tally.hit('a', 'exact', { microUsd: 1_500, ms: 800 });
    tally.hit('a', 'semantic', { microUsd: null, ms: -3 });
    tally.miss('b');
    expect(tally.counts('a')).toMatchObject({
      total_hits: 2,
      exact_hits: 1,
      semantic_hits: 1,
      total_misses: 0,
      saved_usd: 0.0015,
      unpriced_hit_count: 1,
      saved_ms: 800,
    });
    expect(tally.counts('b')).toMatchObject({ total_hits: 0, total_misses: 1 });
  });

  test('knows no wrong-hit rate before anything was compared or judged', () => {
    const tally = makeTally();
    tally.shadowHit('a');
    expect(tally.counts('a')).toMatchObject({ shadow_hits: 1, wrong_hit_rate: null });
  });

  test('takes a person’s word over the comparison’s, and a second thought over the first', () => {
    const tally = makeTally();
    tally.compared('a', true);
    tally.compared('a', false);
    expect(tally.counts('a').wrong_hit_rate).toBe(0.5);
    tally.judged('a', 'right', { verdict: null, agreed: false });
    expect(tally.counts('a')).toMatchObject({ wrong_hit_rate: 0, shadow_differed: 1, marked_right: 1 });
    tally.judged('a', 'wrong', { verdict: 'right', agreed: false });
    tally.judged('a', 'wrong', { verdict: 'wrong', agreed: false });
    expect(tally.counts('a')).toMatchObject({ wrong_hit_rate: 0.5, marked_right: 0, marked_wrong: 1 });
    tally.judged('a', 'wrong', { verdict: null, agreed: null });
    expect(tally.counts('a').wrong_hit_rate).toBeCloseTo(2 / 3);
  });

  test('gives Prometheus the wrong hits beside the hits', async () => {
    const metrics = new Registry();
    const tally = new CacheTally(new FakeClock(), metrics);
    tally.compared('a', true);
    tally.compared('b', false);
    tally.judged('b', 'wrong', { verdict: null, agreed: false });
    tally.judged('b', 'wrong', { verdict: 'wrong', agreed: false });
    const counted = await metrics.getSingleMetric('observatory_cache_match_verdicts_total')?.get();
    expect(counted?.values.map(({ labels, value }) => [labels.verdict, value])).toEqual([
      ['agreed', 1],
      ['differed', 1],
      ['wrong', 1],
    ]);
  });

  test('keeps what it counted of a tenant, however many others are looked at of which there is nothing', () => {
    const tally = makeTally();
    tally.miss('a');
    for (let at = 0; at < 1_000; at += 1) tally.counts(`named-${at}`);
    expect(tally.counts('a').total_misses).toBe(1);
  });

  test('tells median and tail of the look-ups, and nothing without any', () => {
    const tally = makeTally();
    expect(tally.counts('a')).toMatchObject({ lookup_p50_ms: null, lookup_p99_ms: null });
    for (let ms = 1; ms <= 100; ms += 1) tally.lookedUp('a', ms);
    expect(tally.counts('a')).toMatchObject({ lookup_p50_ms: 51, lookup_p99_ms: 100 });
  });
});
