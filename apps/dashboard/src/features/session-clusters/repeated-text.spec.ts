import { describe, expect, it } from 'vitest';
import { type AlertGroup, PROXY_SOURCE } from '#contracts';
import { repeatedText } from './repeated-text';

const group = { latest: { repeated_pattern: { intent: 'Is # a number?' } } } as AlertGroup;
const textOf = (source_app: string, last_intent: string) => repeatedText(group, { source_app, last_intent });

describe('what a session repeats', () => {
  it('is in the words of its last step, numbers included, where that is one of them', () => {
    expect(textOf(PROXY_SOURCE, 'Is 7 a number?')).toBe('Is 7 a number?');
    expect(textOf(PROXY_SOURCE, 'Something else')).toBe('Is # a number?');
  });

  it('is the pattern where an agent told its own steps, or no row is known yet', () => {
    expect(textOf('my-app', 'Is 7 a number?')).toBe('Is # a number?');
    expect(repeatedText(group, undefined)).toBe('Is # a number?');
  });
});
