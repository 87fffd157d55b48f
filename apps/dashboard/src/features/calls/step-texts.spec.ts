import { describe, expect, it } from 'vitest';
import { isFailedOpen, isPlainOutcome, outcomeText, stepName } from './step-texts';

describe('the steps of a call, in words', () => {
  it('says what came of the semantic loop and the cache', () => {
    expect(stepName('semantic_loop')).toBe('semantic loop');
    expect(outcomeText('semantic_loop', 'paused')).toContain('session paused');
    expect(outcomeText('cache', 'cached')).toContain('upstream was not asked');
  });

  it('tells a check that failed open from one that found something', () => {
    expect(isFailedOpen('semantic_loop', 'timeout')).toBe(true);
    expect(isFailedOpen('semantic_loop', 'hinted')).toBe(false);
    expect(isFailedOpen('policy', 'timeout')).toBe(false);
  });

  it('shows what it does not know as it came', () => {
    expect(stepName('new_guard')).toBe('new guard');
    expect(outcomeText('policy', 'rate_limited')).toBe('rate limited');
    expect(isPlainOutcome('passed')).toBe(true);
    expect(isPlainOutcome('cached')).toBe(false);
  });
});
