import { describe, expect, it } from 'vitest';
import { DIALECTS, type UpstreamKind } from '#contracts';
import { DIALECT_BY_NAME, defaultDialect, dialectFor } from './index.js';

const GEMINI = '/v1beta/models/gemini-2.5-flash';
const VERTEX = '/v1/projects/p/locations/global/publishers';

describe('dialectFor', () => {
  it.each<[UpstreamKind, string, string]>([
    ['openai', '/chat/completions', 'openai-chat'],
    ['openai', '/v1/chat/completions', 'openai-chat'],
    ['openai', '/openai/v1/chat/completions/', 'openai-chat'],
    ['openai', '//chat//completions', 'openai-chat'],
    ['openai', '/chat/%63ompletions', 'openai-chat'],
    ['openai', '/responses', 'openai-responses'],
    ['openai', '/v1/responses', 'openai-responses'],
    ['openai', '/v1/messages', 'anthropic'],
    ['openai', '/messages', 'anthropic'],
    ['openai', '/chat/Completions', 'openai-chat'],
    ['openai', '/chat/completions;v=1', 'openai-chat'],
    ['openai', '/chat;v=1/completions/;', 'openai-chat'],
    ['openai', '/chat/completions%3Bv=1', 'openai-chat'],
    ['anthropic', '/v1/messages', 'anthropic'],
    ['anthropic', '/messages', 'anthropic'],
    ['anthropic', '/Messages/', 'anthropic'],
    ['anthropic', '/v1/chat/completions', 'openai-chat'],
    ['gemini', `${GEMINI}:generateContent`, 'gemini'],
    ['gemini', `${GEMINI}:streamGenerateContent`, 'gemini'],
    ['gemini', '/v1alpha/models/x:generateContent', 'gemini'],
    ['gemini', `${GEMINI}:generateContent;v=1`, 'gemini'],
    ['gemini', '/v1beta/interactions', 'gemini-interactions'],
    ['gemini', '/v1beta1/projects/p/locations/global/interactions', 'gemini-interactions'],
    ['gemini', '/v1beta1%2Fprojects%2Fp%2Flocations%2Fglobal/interactions', 'gemini-interactions'],
    ['gemini', '/v1beta/openai/chat/completions', 'openai-chat'],
    ['gemini', `${VERTEX}/google/models/gemini-2.5-flash:streamGenerateContent`, 'gemini'],
    ['gemini', '/v1/projects/p/locations/global/endpoints/openapi/chat/completions', 'openai-chat'],
    ['gemini', `${VERTEX}/anthropic/models/claude-opus-4-5@20251101:streamRawPredict`, 'anthropic'],
    ['anthropic', `${VERTEX}/anthropic/models/claude-opus-4-5@20251101:rawPredict`, 'anthropic'],
    [
      'anthropic',
      '/projects/p/locations/eu/publishers/anthropic/models/claude-opus-5%3ArawPredict',
      'anthropic',
    ],
  ])('knows what an upstream of kind %s speaks at %s', (kind, path, name) => {
    expect(dialectFor(kind, 'POST', path)?.name).toBe(name);
    expect(dialectFor(kind, 'GET', path)).toBeNull();
  });

  it.each<[UpstreamKind, string]>([
    ['openai', '/completions'],
    ['openai', '/xchat/completions'],
    ['openai', '/chat/completions/chatcmpl-1'],
    ['openai', '/responses/resp_1/cancel'],
    ['openai', '/responses/input_tokens'],
    ['openai', '/threads/t/messages'],
    ['openai', '/%zz'],
    ['openai', ''],
    ['anthropic', '/v1/messages/count_tokens'],
    ['anthropic', '/v1/messages/batches'],
    ['anthropic', '/messages/batches'],
    ['anthropic', `${VERTEX}/anthropic/models/count-tokens:rawPredict`],
    ['anthropic', `${VERTEX}/mistralai/models/mistral-medium-3:rawPredict`],
    ['gemini', `${GEMINI}:countTokens`],
    ['gemini', `${GEMINI}:generateContent/x`],
    ['gemini', '/v1beta/interactions/v1_abc'],
    ['gemini', '/v1beta/interactions/v1_abc/cancel'],
  ])('passes through what an upstream of kind %s has at %s', (kind, path) => {
    expect(dialectFor(kind, 'POST', path)).toBeNull();
  });

  it('has every dialect under its name, and one for the errors of each kind', () => {
    expect(DIALECTS.map((name) => DIALECT_BY_NAME[name].name)).toEqual([...DIALECTS]);
    expect(defaultDialect('openai').name).toBe('openai-chat');
    expect(defaultDialect('anthropic').name).toBe('anthropic');
    expect(defaultDialect('gemini').name).toBe('gemini');
  });
});
