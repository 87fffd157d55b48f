import { describe, expect, it } from 'vitest';
import type { CanonicalRequest, LlmAnswer } from '#contracts';
import { buildLlmAnswer } from '#testing';
import { cacheability } from './cacheability.js';

const REQUEST: CanonicalRequest = {
  dialect: 'anthropic',
  model: 'm',
  system: [],
  messages: [],
  temperature: null,
  tools: null,
  tool_choice: null,
  max_tokens: null,
  rest: {},
};
const CALL = { id: 'c', name: 'f', arguments: '{}' };
const ANSWER = buildLlmAnswer({ model: 'm-1', text: 'hi', answer_id: 'msg_1' });
const stored = (more: Partial<LlmAnswer>, rest: CanonicalRequest['rest'] = {}) =>
  cacheability({ ...REQUEST, rest }, { ...ANSWER, ...more });

describe('what may be stored of an answer', () => {
  it('is all of one that is text, tool calls, or both', () => {
    expect(stored({})).toEqual({
      store: true,
      answer: {
        dialect: 'anthropic',
        answer_id: 'msg_1',
        model: 'm-1',
        text: 'hi',
        tool_calls: [],
        finish: 'stop',
        usage: null,
      },
    });
    expect(stored({ tool_calls: [CALL], finish: 'tool_calls' })).toMatchObject({
      store: true,
      answer: { text: 'hi', tool_calls: [CALL], finish: 'tool_calls' },
    });
    expect(stored({ text: '', tool_calls: [CALL], finish: 'tool_calls' })).toMatchObject({ store: true });
  });

  it.each<[string, Partial<LlmAnswer>]>([
    ['failed', { failed: true }],
    ['failed', { failed: true, finish: 'length' }],
    ['unfinished', { finish: null }],
    ['length', { finish: 'length' }],
    ['filtered', { finish: 'filtered' }],
    ['other_finish', { finish: 'other' }],
    ['lossy', { lossless: false }],
    ['lossy', { finish: 'tool_calls' }],
    ['lossy', { tool_calls: [CALL] }],
    ['empty', { text: '' }],
    ['empty', { text: ' \n' }],
  ])('is nothing, for the reason “%s”, of %j', (reason, more) => {
    expect(stored(more)).toEqual({ store: false, reason });
  });

  it('is all of a call that ended with `stop`, as forced ones of Chat Completions do', () => {
    const forced = { ...ANSWER, tool_calls: [CALL], finish: 'stop' as const };
    expect(cacheability({ ...REQUEST, dialect: 'openai-chat' }, forced)).toMatchObject({
      store: true,
      answer: { tool_calls: [CALL], finish: 'stop' },
    });
    const callLost = { ...ANSWER, finish: 'tool_calls' as const };
    expect(cacheability({ ...REQUEST, dialect: 'openai-chat' }, callLost)).toEqual({
      store: false,
      reason: 'lossy',
    });
  });

  it('is nothing of one that could not be read', () => {
    expect(cacheability(REQUEST, null)).toEqual({ store: false, reason: 'lossy' });
  });

  it.each([
    { 'openai-responses.background': true },
    { 'gemini-interactions.background': true },
    { 'gemini-interactions.agent': 'deep-research' },
    { 'gemini-interactions.environment': { type: 'remote' } },
    { 'gemini-interactions.continuation_token': 't' },
    { 'openai-responses.conversation': 'conv_1' },
    { 'openai-responses.prompt': { id: 'pmpt_1' } },
    { 'anthropic.thread': { type: 'create' } },
    { 'openai-chat.web_search_options': {} },
    { 'openai-chat.enable_search': true },
    { 'openai-chat.search_parameters': { mode: 'on', return_citations: false } },
  ])('is nothing where the call does more than answer, as with %j', (rest) => {
    expect(stored({}, rest)).toEqual({ store: false, reason: 'stateful' });
  });

  it.each([
    { 'openai-chat.plugins': [{ id: 'web' }] },
    { 'openai-chat.data_sources': [{ type: 'azure_search' }] },
    { path: '/openai/deployments/gpt-4o-search-preview' },
  ])('is nothing where the vendor searches, as with %j', (rest) => {
    expect(stored({}, rest)).toEqual({ store: false, reason: 'stateful' });
  });

  it.each([
    ...['gpt-4o-search-preview', 'gpt-5-search-api', 'o3-deep-research', 'sonar', 'perplexity/sonar-pro'],
    ...['llama-3.1-sonar-large-128k-online', 'openai/gpt-4o:online', 'groq/compound-mini'],
  ])('is nothing of %s, which searches by itself', (model) => {
    expect(cacheability({ ...REQUEST, model }, ANSWER)).toEqual({ store: false, reason: 'stateful' });
  });

  it.each(['gpt-4o', 'o3', 'claude-sonnet-4-5', 'gemini-2.5-flash', 'researcher-7b'])(
    'is all of %s, which does not',
    (model) => {
      expect(cacheability({ ...REQUEST, model }, ANSWER)).toMatchObject({ store: true });
    },
  );

  it('is not held up by such a field that is off', () => {
    expect(
      stored({}, { 'openai-responses.background': false, 'openai-responses.conversation': null }),
    ).toMatchObject({
      store: true,
    });
  });
});
