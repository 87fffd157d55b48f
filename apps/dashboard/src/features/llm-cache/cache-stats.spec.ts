import { describe, expect, it } from 'vitest';
import { type CacheStats, NOT_STORED_REASONS } from '#contracts';
import {
  formatLookupMs,
  hitRates,
  isUnused,
  modeAdvice,
  notStoredLines,
  vetoLines,
  wrongHitTone,
} from './cache-stats';

const NONE: CacheStats = {
  backend: 'memory',
  is_degraded: false,
  semantic_mode: 'shadow',
  embedding_model: 'm',
  hit_when_cosine_at_least: 0.92,
  total_entries: 0,
  total_bytes: 0,
  total_hits: 0,
  total_misses: 0,
  exact_hits: 0,
  semantic_hits: 0,
  shadow_hits: 0,
  shadow_agreed: 0,
  shadow_differed: 0,
  marked_right: 0,
  marked_wrong: 0,
  wrong_hit_rate: null,
  vetoes: {},
  coalesced: 0,
  not_stored: {},
  saved_usd: 0,
  unpriced_hit_count: 0,
  saved_ms: 0,
  lookup_p50_ms: null,
  lookup_p99_ms: null,
};

describe('hitRates', () => {
  it('are shares of all look-ups; a shadow hit is a miss that would not have been one', () => {
    const rates = hitRates({
      ...NONE,
      total_hits: 30,
      exact_hits: 25,
      semantic_hits: 5,
      total_misses: 70,
      shadow_hits: 10,
    });
    const shares = { total: 0.3, exact: 0.25, semantic: 0.05, shadow: 0.1 };
    expect(rates).toEqual({ lookupCount: 100, shares });
  });

  it('are unknown, and not zero, before the first look-up', () => {
    expect(hitRates(NONE)).toEqual({ lookupCount: 0, shares: null });
    expect(isUnused(NONE)).toBe(true);
    expect(isUnused({ ...NONE, total_misses: 1 })).toBe(false);
    expect(isUnused({ ...NONE, total_entries: 1 })).toBe(false);
  });
});

describe('what is said of semantic matches', () => {
  it('never calls a rate good that is unknown, or that few matches say', () => {
    const tones = (knownCount: number) =>
      [null, 0, 0.01, 0.011].map((rate) => wrongHitTone(rate, knownCount));
    expect(tones(100)).toEqual(['faint', 'success', 'success', 'danger']);
    expect(tones(99)).toEqual(['faint', 'faint', 'faint', 'danger']);
  });

  it('does not advise to switch on what was not measured or was found wrong', () => {
    const advice = (over: Partial<CacheStats>) => modeAdvice({ ...NONE, ...over });
    expect(advice({ semantic_mode: 'off' })).toContain('shadow first');
    expect(advice({})).toContain('No similar question');
    expect(advice({ shadow_hits: 4 })).toContain('judge');
    expect(advice({ shadow_hits: 40, wrong_hit_rate: 0.2 })).toContain('stay in shadow');
    expect(advice({ shadow_hits: 40, shadow_agreed: 99, wrong_hit_rate: 0 })).toContain('Too few');
    expect(advice({ shadow_hits: 140, shadow_agreed: 100, wrong_hit_rate: 0 })).toContain(
      'before you switch it on',
    );
    expect(advice({ semantic_mode: 'on', wrong_hit_rate: 0.2 })).toContain('go back to shadow');
    expect(advice({ embedding_model: null })).toContain('No embedder answers');
  });
});

describe('reasons', () => {
  it('come with the most frequent first, without those that never came', () => {
    expect(vetoLines({ numbers: 2, negation: 7, code: 0 }).map(({ key }) => key)).toEqual([
      'negation',
      'numbers',
    ]);
  });

  it('each have words of their own, and one of a newer gateway its name', () => {
    const counts = Object.fromEntries(NOT_STORED_REASONS.map((reason) => [reason, 1]));
    const lines = notStoredLines(counts);
    expect(lines.map(({ key }) => key).sort()).toEqual([...NOT_STORED_REASONS].sort());
    for (const { key, label } of lines) expect(label).not.toBe(key.replaceAll('_', ' '));
    const newer: object = { brand_new: 1, length: 3 };
    expect(notStoredLines(newer).map(({ label }) => label)).toEqual(['Cut off', 'brand new']);
  });
});

describe('formatLookupMs', () => {
  it('keeps hundredths of what takes less than a millisecond', () => {
    expect([0.034, 1.24, 17.6].map(formatLookupMs)).toEqual(['0.03 ms', '1.2 ms', '18 ms']);
  });
});
