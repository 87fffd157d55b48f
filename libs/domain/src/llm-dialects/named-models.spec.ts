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
    [
      '/v1/messages',
      { model: 'a', fallbacks: [{ model: 'b', max_tokens: 9 }, { model: 'c' }] },
      ['a', 'b', 'c'],
    ],
    ['/v1/messages', { model: 'a', fallbacks: 'default' }, ['a', 'default']],
    [
      '/chat/completions',
      { model: 'a', fallbacks: ['b'], context_window_fallbacks: [{ a: ['c'] }] },
      ['a', 'b', '{"a":["c"]}'],
    ],
    [
      '/chat/completions',
      { model: 'a', plugins: [{ id: 'fusion', model: 'b', analysis_models: ['c'] }] },
      ['a', 'b', 'c'],
    ],
    [
      '/chat/completions',
      { model: 'a', tools: [{ type: 'openrouter:advisor', parameters: { model: 'b', name: 'reviewer' } }] },
      ['a', 'b'],
    ],
    [
      '/chat/completions',
      { model: 'a', providerOptions: { gateway: { models: ['b'] }, openai: {} } },
      ['a', 'b'],
    ],
    [
      '/v1/models/a:generateContent',
      { generationConfig: { routingConfig: { manualMode: { modelName: 'b' } } } },
      ['a', 'b'],
    ],
    [
      '/v1/models/a:generateContent',
      { generation_config: { routing_config: { manual_mode: { model_name: 'b' } } } },
      ['a', 'b'],
    ],
    [
      '/chat/completions',
      {
        model: 'a',
        metadata: { model: 'b' },
        fallback_credit_token: 'c',
        tools: [
          {
            type: 'function',
            function: { name: 'sell', parameters: { properties: { model: { const: 'd' } } } },
          },
          {
            type: 'function',
            name: 'sell',
            parameters: { properties: { model: { type: 'string' } }, required: ['model'] },
          },
        ],
      },
      ['a'],
    ],
    ['/v1beta/models/a:embedContent', { model: 'models/a', content: {} }, ['a']],
    ['/v1beta/cachedContents', { model: 'models/a' }, ['a']],
    ['/cachedContents', { model: 'projects/p/locations/l/publishers/google/models/a' }, ['a']],
    ['/chat/completions', { model: 'accounts/fireworks/models/a' }, ['accounts/fireworks/models/a']],
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
