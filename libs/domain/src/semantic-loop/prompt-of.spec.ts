import { expect, it } from 'vitest';
import type { LlmRequest, NewestTurn } from '#contracts';
import { excerptOf } from './prompt-chars.js';
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
  const user_text = 'And what now?';
  expect(promptOf(request({ user_text, tool_results: [toolResult] }))).toBe(user_text);
});

it.each<[what: string, newest: Partial<NewestTurn>]>([
  ['only tool results', { tool_results: [toolResult] }],
  ['only an image', { attachment_digests: ['sha256:00'] }],
  ['only white space', { user_text: ' \n\t\u00a0' }],
  ['nothing', {}],
  ['one word', { user_text: 'Continue!' }],
  ['two words', { user_text: 'Yes, please…' }],
  ['two ideographs', { user_text: '继续。' }],
  ['signs', { user_text: '👍 👍 👍 ... ?! - 。' }],
])('is null for a turn that brings %s', (_what, newest) => {
  expect(promptOf(request(newest))).toBeNull();
});

it.each(['Why is that?', "don't do it", '请继续', 'ช่วยสรุปรายงานฉบับนี้ให้หน่อย', 'src/app.ts fails'])(
  'is a prompt: %s',
  (user_text) => {
    expect(promptOf(request({ user_text }))).toBe(user_text);
  },
);

it('is the excerpt of a long text', () => {
  const user_text = `Why? ${'a'.repeat(1_000_000)}`;
  expect(promptOf(request({ user_text }))).toBe(excerptOf(user_text));
});
