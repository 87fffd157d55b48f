import { describe, expect, test } from 'vitest';
import { readUnreadRequest } from './unread-request.js';

const FREE = { model: null, output_tokens_max: 0, isFree: true };

describe('a request on a path that no dialect reads', () => {
  test.each(['/embeddings', '/deployments/e/embeddings', '/v1//embeddings/'])(
    'for embeddings takes its input (%s)',
    (path) => {
      const read = readUnreadRequest('POST', path, { model: 'text-embedding-3-small', input: 'a' });
      expect(read).toEqual({ model: 'text-embedding-3-small', output_tokens_max: 0, isFree: false });
    },
  );

  test.each(['embedContent', 'batchEmbedContents'])("names Gemini's model in its path (%s)", (method) => {
    const path = `/v1beta/models/gemini-embedding-001:${method}`;
    const read = readUnreadRequest('POST', path, { requests: [] });
    expect(read).toEqual({ model: 'gemini-embedding-001', output_tokens_max: 0, isFree: false });
  });

  test('of the older kind has a bound for all its choices', () => {
    const body = { model: 'davinci-002', prompt: 'Once', max_tokens: 50, n: 3 };
    const read = readUnreadRequest('POST', '/completions', body);
    expect(read).toEqual({ model: 'davinci-002', output_tokens_max: 150, isFree: false });
    const compact = readUnreadRequest('POST', '/responses/compact', { model: 'gpt-5' });
    expect(compact).toEqual({ model: 'gpt-5', output_tokens_max: null, isFree: false });
  });

  test.each([
    ['GET', '/models', undefined],
    ['GET', '/responses/resp_1', undefined],
    ['POST', '/files', undefined],
    ['POST', '/v1/messages/count_tokens', { model: 'claude-sonnet-4-5' }],
    ['POST', '/v1beta/models/gemini-2.5-pro:countTokens', {}],
    ['POST', '/responses/input_tokens', { model: 'gpt-5' }],
  ])('takes no tokens: %s %s', (method, path, body) => {
    expect(readUnreadRequest(method, path, body)).toEqual(FREE);
  });

  test.each([{}, [], null, { model: 7, max_tokens: -1 }])(
    'that is anything else costs nobody knows what',
    (body) => {
      for (const path of ['/images/generations', '/completions'])
        expect(readUnreadRequest('POST', path, body)).toEqual({
          model: null,
          output_tokens_max: null,
          isFree: false,
        });
    },
  );
});
