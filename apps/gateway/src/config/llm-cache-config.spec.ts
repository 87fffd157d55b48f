import { expect, it } from 'vitest';
import { parseLlmCacheConfig } from './llm-cache-config.js';

const BASE_URL = 'http://xinference:9997/v1';

it.each([{ LLM_CACHE_EMBEDDING_MODEL: 'bge-m3' }, { LLM_CACHE_EMBEDDING_BASE_URL: BASE_URL }])(
  'does not leave %j aside for want of a provider',
  (variables) => {
    const [name] = Object.keys(variables);
    expect(() => parseLlmCacheConfig(variables)).toThrow(
      `${name} cannot be used: it is about an embeddings API, and the sidecar is asked: set ` +
        'LLM_CACHE_EMBEDDING_PROVIDER to xinference or openai too.',
    );
  },
);

it('asks whom it is told to ask, whatever else is set', () => {
  const variables = { LLM_CACHE_EMBEDDING_MODEL: 'bge-m3', LLM_CACHE_EMBEDDING_BASE_URL: BASE_URL };
  const providerOf = (provider: string) =>
    parseLlmCacheConfig({ ...variables, LLM_CACHE_EMBEDDING_PROVIDER: provider }).embedding.provider;
  expect(['local', 'Xinference', 'openai'].map(providerOf)).toEqual(['local', 'xinference', 'openai']);
});
