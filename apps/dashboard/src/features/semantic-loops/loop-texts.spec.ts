import { describe, expect, it } from 'vitest';
import { SEMANTIC_LOOP_ACTIONS, SEMANTIC_LOOP_POLICIES } from '#contracts';
import { actionText, againstThreshold, LOOP_POLICY_TEXTS, occurrenceText, repeatOf } from './loop-texts';

describe('a semantic loop, in words', () => {
  it('does not round a similarity down to the threshold it is above', () => {
    expect(againstThreshold({ similarity: 0.9512, threshold: 0.95 })).toBe('0.951, above 0.950');
  });

  it('counts as people do', () => {
    expect([1, 2, 3, 4, 11, 12, 13, 21, 112].map((count) => occurrenceText(count).split(' ')[0])).toEqual([
      '1st',
      '2nd',
      '3rd',
      '4th',
      '11th',
      '12th',
      '13th',
      '21st',
      '112th',
    ]);
  });

  it('says whether the model was told, and nothing about it where that was not kept', () => {
    expect(actionText({ action: 'noted', is_hinted: false })).toMatch(/^The request had no place for a hint/);
    expect(actionText({ action: 'alerted', is_hinted: true })).toBe(
      'A hint was added to the call: take a different approach. An alert was raised.',
    );
    expect(actionText({ action: 'paused', is_hinted: false })).toBe(
      'The request had no place for a hint and went on as it came. An alert was raised, and the session was paused for a person to look.',
    );
    expect(actionText({ action: 'alerted' })).toBe('An alert was raised.');
  });

  it('is in the same words where both texts are equal, and in others where they are not or may not be', () => {
    const repeat = (prompt: string, similar_prompt: string, similarity = 1) =>
      repeatOf({ prompt, similar_prompt, similarity });
    expect(repeat('Is 7 a number?', 'Is 7 a number?')).toBe('same_words');
    expect(repeat('Is 7 a number?\n', ' Is 7 a number?')).toBe('same_words');
    expect(repeat('Is seven a number?', 'Is 7 a number?', 0.96)).toBe('other_words');
    // Equal as far as they are shown: what they mean tells that one goes on differently.
    expect(repeat('x'.repeat(1_000), 'x'.repeat(1_000), 0.97)).toBe('other_words');
  });

  it('has words for every action and every policy', () => {
    for (const action of SEMANTIC_LOOP_ACTIONS) expect(actionText({ action })).not.toBe('');
    for (const policy of SEMANTIC_LOOP_POLICIES) expect(LOOP_POLICY_TEXTS[policy].label).not.toBe('');
  });
});
