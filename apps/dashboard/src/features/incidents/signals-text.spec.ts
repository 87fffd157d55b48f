import { expect, it } from 'vitest';
import { signalsText } from './signals-text';

it('names the signals that there were, and none that there were none of', () => {
  const breakdown = { score: 4, similar_prompts: 1, similar_responses: 2, repeated_tool_calls: 0 };
  expect(signalsText(breakdown)).toBe('1 similar prompt · 2 similar answers');
});
