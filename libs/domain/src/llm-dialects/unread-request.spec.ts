import { describe, expect, test } from 'vitest';
import { readUnreadRequest } from './unread-request.js';

/** What it may use; the models that it names are below. */
function usesOf(...request: Parameters<typeof readUnreadRequest>) {
  const { named_models: _, ...uses } = readUnreadRequest(...request);
  return uses;
}

const FREE = { model: null, output_tokens_max: 0, choice_count: 1, takes: 'nothing' };
const UPLOAD = Buffer.from('--x\r\n');

describe('a request on a path that no dialect reads', () => {
  test.each(['/embeddings', '/deployments/e/embeddings', '/v1//embeddings/'])(
    'for embeddings takes its input (%s)',
    (path) => {
      const read = usesOf('POST', path, { model: 'text-embedding-3-small', input: 'a' });
      expect(read).toEqual({
        model: 'text-embedding-3-small',
        output_tokens_max: 0,
        choice_count: 1,
        takes: 'tokens',
      });
    },
  );

  test('that has a text looked at for harm takes its input, and no output', () => {
    const read = usesOf('POST', '/moderations', { model: 'omni-moderation-latest', input: 'a' });
    expect(read).toEqual({
      model: 'omni-moderation-latest',
      output_tokens_max: 0,
      choice_count: 1,
      takes: 'tokens',
    });
  });

  test.each(['embedContent', 'batchEmbedContents'])("names Gemini's model in its path (%s)", (method) => {
    const path = `/v1beta/models/gemini-embedding-001:${method}`;
    const read = usesOf('POST', path, { requests: [] });
    expect(read).toEqual({
      model: 'gemini-embedding-001',
      output_tokens_max: 0,
      choice_count: 1,
      takes: 'tokens',
    });
  });

  test('of the older kind has a bound for all its choices', () => {
    const body = { model: 'davinci-002', prompt: 'Once', max_tokens: 50, n: 3 };
    const read = usesOf('POST', '/completions', body);
    expect(read).toEqual({
      model: 'davinci-002',
      output_tokens_max: 150,
      choice_count: 3,
      takes: 'tokens',
    });
    const compact = usesOf('POST', '/responses/compact', { model: 'gpt-5' });
    expect(compact).toEqual({ model: 'gpt-5', output_tokens_max: null, choice_count: 1, takes: 'tokens' });
  });

  test.each(['/decisions', '/v1beta/decisions'])('is of the model that decides (%s)', (path) => {
    expect(usesOf('POST', path, { model: 'gpt-6-luna', input: 'Hi' })).toMatchObject({
      model: 'gpt-6-luna',
      takes: 'tokens',
    });
  });

  test.each([
    [{ best_of: 20 }, 20],
    [{ n: 2, best_of: 5 }, 5],
    [{ n: 3 }, 3],
    [{ n: 3, best_of: 0 }, 3],
    [{ prompt: ['a', 'b', 'c'], best_of: 4 }, 12],
    [{ prompt: [[1, 2], [3]] }, 2],
    [{ prompt: [1, 2, 3] }, 1],
    [{ prompt: [] }, 1],
  ])('of the older kind counts what is tried for each of its prompts: %j', (asked, count) => {
    const read = (bound: object) => usesOf('POST', '/completions', { ...asked, ...bound });
    expect(read({ max_tokens: 10 })).toMatchObject({ output_tokens_max: 10 * count, choice_count: count });
    expect(read({})).toMatchObject({ output_tokens_max: null, choice_count: count });
  });

  test.each([
    ['GET', '/models', undefined],
    ['GET', '/responses/resp_1', undefined],
    ['POST', '/responses/resp_1/cancel', undefined],
    ['POST', '/files', UPLOAD],
    ['POST', '/v1/uploads/upload_1/parts', UPLOAD],
    ['POST', '/containers/c/files/', UPLOAD],
    ['POST', '/upload/v1beta/files', UPLOAD],
    ['POST', '/upload/v1beta/files', { file: { mimeType: 'application/json' } }],
    ['POST', '/upload/v1beta/files', null],
    ['POST', '/skills', UPLOAD],
    ['POST', '/skills/s/versions', UPLOAD],
    ['PUT', '/audio/transcriptions', UPLOAD],
    ['POST', '/v1/messages/count_tokens', { model: 'claude-sonnet-4-5' }],
    [
      'POST',
      '/v1/projects/p/publishers/anthropic/models/count-tokens:rawPredict',
      { model: 'claude-opus-5' },
    ],
    ['POST', '/v1beta/models/gemini-2.5-pro:countTokens', {}],
    ['POST', '/responses/input_tokens', { model: 'gpt-5' }],
  ])('takes no tokens: %s %s', (method, path, body) => {
    expect(usesOf(method, path, body)).toEqual(FREE);
  });

  test.each(['/audio/transcriptions', '/v1/images/edits', '/videos', '/listen', '/my-files', '/embeddings'])(
    'that brings no JSON is paid for, and not by its bytes (%s)',
    (path) => {
      const read = usesOf('POST', path, UPLOAD);
      expect(read).toEqual({ model: null, output_tokens_max: 0, choice_count: 1, takes: 'unknown' });
    },
  );

  test.each([UPLOAD, null, {}])(
    "that is a piece for Gemini's search is no JSON, whatever it is called",
    (body) => {
      const path = '/upload/v1beta/fileSearchStores/s:uploadToFileSearchStore';
      expect(usesOf('POST', path, body)).toMatchObject({ takes: 'unknown' });
    },
  );

  test.each([{}, [], null, { model: 7, max_tokens: -1 }])(
    'that is anything else costs nobody knows what',
    (body) => {
      for (const path of ['/images/generations', '/completions'])
        expect(usesOf('POST', path, body)).toEqual({
          model: null,
          output_tokens_max: null,
          choice_count: 1,
          takes: 'tokens',
        });
    },
  );
});

test('names the models of what is paid for, and none of what is free or no JSON', () => {
  const namedIn = (path: string, body: unknown) => readUnreadRequest('POST', path, body).named_models;
  expect(namedIn('/deployments/e/embeddings', { model: 'm' })).toEqual(['e', 'm']);
  expect(namedIn('/images/generations', { model: 'gpt-image-1' })).toEqual(['gpt-image-1']);
  expect(namedIn('/v1/messages/count_tokens', { model: 'm' })).toEqual([]);
  expect(namedIn('/audio/transcriptions', UPLOAD)).toEqual([]);
});
