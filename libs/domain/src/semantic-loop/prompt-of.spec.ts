import { expect, it } from 'vitest';
import type { LlmRequest, NewestTurn } from '#contracts';
import { promptOf } from './prompt-of.js';

const request = (
  newest: Partial<NewestTurn>,
): Pick<LlmRequest, 'newest' | 'system_text' | 'first_user_text'> => ({
  system_text: 'You are a careful assistant.',
  first_user_text: 'Hello.',
  newest: { user_text: '', tool_results: [], attachment_digests: [], ...newest },
});
const toolResult = { call: null, text: 'exit code 0', failed: false };

it('is the newly delivered user text, as it was written', () => {
  expect(promptOf(request({ user_text: '  Why does the build fail?\n' }))).toBe(
    '  Why does the build fail?\n',
  );
});

it('leaves tool results out of it', () => {
  expect(promptOf(request({ user_text: 'And now?', tool_results: [toolResult] }))).toBe('And now?');
});

it.each<[what: string, newest: Partial<NewestTurn>]>([
  ['only tool results', { tool_results: [toolResult] }],
  ['only an image', { attachment_digests: ['sha256:00'] }],
  ['only white space', { user_text: ' \n\t\u00a0' }],
  ['nothing', {}],
])('is null for a turn that brings %s', (_what, newest) => {
  expect(promptOf(request(newest))).toBeNull();
});
