import { describe, expect, it } from 'vitest';
import { cachedText, formatAgeS, formatCosine } from './cache-texts';

describe('how the cache answered, in words', () => {
  it('tells the same request from a similar question', () => {
    expect(cachedText({ match: 'exact', age_s: 240, cosine: null })).toBe(
      'Answered from the cache: the same request was answered 4 min before.',
    );
    expect(cachedText({ match: 'semantic', age_s: 0, cosine: 0.95312 })).toBe(
      'Answered from the cache: a question of the same meaning (cosine 0.953) was answered a moment before.',
    );
  });

  it('does not round a cosine up to the threshold', () => {
    expect(formatCosine(0.9194)).toBe('0.919');
  });

  it('keeps ages short', () => {
    expect([1, 59, 3_599, 7_300, 200_000].map(formatAgeS)).toEqual([
      'a moment',
      '59 s',
      '59 min',
      '2 h',
      '2 d',
    ]);
  });
});
