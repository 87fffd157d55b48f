import { describe, expect, it } from 'vitest';
import { embeddingsUrl } from './embeddings-url.js';

describe('the address of an embeddings server', () => {
  it.each([
    ['http://127.0.0.1:9997', 'http://127.0.0.1:9997/v1/embeddings'],
    ['http://127.0.0.1:9997/', 'http://127.0.0.1:9997/v1/embeddings'],
    ['https://api.openai.com/v1', 'https://api.openai.com/v1/embeddings'],
    ['https://api.openai.com/v1/', 'https://api.openai.com/v1/embeddings'],
    ['https://tei.test/v1/embeddings', 'https://tei.test/v1/embeddings'],
    ['https://host.test/x/v3?api-version=2#y', 'https://host.test/x/v3/embeddings?api-version=2'],
  ])('%s is asked at %s', (given, expected) => {
    expect(embeddingsUrl(given).href).toBe(expected);
  });

  it.each([
    ['no URL', 'bge-m3 sk-secret'],
    ['another protocol', 'file:///etc/sk-secret'],
    ['a key inside', 'https://user:sk-secret@host.test/v1'],
  ])('with %s is refused without being quoted', (_, given) => {
    expect(() => embeddingsUrl(given)).toThrow(/^the base URL of the embeddings (?!.*sk-secret)/);
  });
});
