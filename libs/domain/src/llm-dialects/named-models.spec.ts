import { describe, expect, it } from 'vitest';
import { namedModels } from './named-models.js';

describe('namedModels', () => {
  it.each([
    ['/chat/completions', { model: 'gpt-5' }, ['gpt-5']],
    ['/v1beta/models/gemini-2.5-pro:generateContent', {}, ['gemini-2.5-pro']],
    ['/v1beta/tunedModels/mine:generateContent', {}, ['mine']],
    [
      '/v1/projects/p/locations/l/publishers/anthropic/models/claude-opus-5@20260101:rawPredict',
      { anthropic_version: 'vertex-2023-10-16' },
      ['claude-opus-5@20260101'],
    ],
    ['/openai/deployments/large/chat/completions', { model: 'small' }, ['large', 'small']],
    ['/openai//Deployments/l%61rge/chat/completions', {}, ['large']],
    ['/engines/davinci/completions', {}, ['davinci']],
    ['/chat/completions', { model: 'a', models: ['b', 'a', 'c'] }, ['a', 'b', 'c']],
    [
      '/v1/messages',
      { model: 'a', tools: [{ type: 'advisor', model: 'b' }, { name: 'search' }, 'odd'] },
      ['a', 'b'],
    ],
    ['/chat/completions', { model: null, models: null, tools: null }, []],
    ['/batches', { input_file_id: 'file-1', endpoint: '/v1/chat/completions' }, []],
    ['/audio/transcriptions', undefined, []],
    ['/chat/completions', [{ model: 'a' }], []],
  ])('%s %j', (path, body, expected) => {
    expect(namedModels(path, body)).toEqual(expected);
  });

  it('names also what is no name, so that nobody can allow it', () => {
    expect(namedModels('/chat/completions', { model: { id: 'a' }, models: [5, ''] })).toEqual([
      '{"id":"a"}',
      '5',
      '',
    ]);
  });
});
