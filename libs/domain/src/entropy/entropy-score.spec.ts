import { describe, expect, it } from 'vitest';
import type { EntropyTuple } from '#contracts';
import { scoreWindow } from './entropy-score.fixture.js';
import { decideSeverity, mostFrequent, roundScore } from './index.js';

const tuples = (intents: string): EntropyTuple[] =>
  intents
    .split(' ')
    .filter(Boolean)
    .map((intent) => ({ intent, tool_call: 'list_files', action_status: 'failure' }));

describe('roundScore', () => {
  it.each([
    ['a a a a a', 0.2],
    ['a a b', 0.6667],
    ['a a a', 0.3333],
    ['a b c d e', 1],
    ['', 1],
  ])('gives the score of "%s" to 4 decimals: %d', (intents, score) => {
    expect(scoreWindow(tuples(intents)).score).toBe(score);
  });

  it('rounds a half up', () => {
    expect(roundScore(0.00005)).toBe(0.0001);
  });
});

describe('decideSeverity', () => {
  it.each([
    [0.2, 'loop'],
    [0.249_99, 'loop'],
    [0.25, 'warning'],
    [0.499_99, 'warning'],
    [0.5, 'normal'],
    [1, 'normal'],
  ])('makes %d a %s at the default thresholds', (ratio, severity) => {
    expect(decideSeverity(ratio, 0.25, 0.5)).toBe(severity);
  });
});

describe('mostFrequent', () => {
  it('[FR-9.7+] finds four of five', () => {
    expect(mostFrequent(tuples('a a b a a'))).toEqual({ tuple: tuples('a')[0], count: 4 });
  });

  it('prefers the most recent of equally frequent ones', () => {
    expect(mostFrequent(tuples('a b'))?.tuple.intent).toBe('b');
  });

  it('is nothing for an empty window', () => {
    expect(mostFrequent([])).toBeUndefined();
  });
});
