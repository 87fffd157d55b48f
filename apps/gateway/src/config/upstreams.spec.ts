import { describe, expect, it } from 'vitest';
import { readEnvironment } from './env.js';
import { parseUpstreams } from './upstreams.js';

const parse = (source: Record<string, string>) => parseUpstreams(readEnvironment(source).upstreams);

describe('upstreams from the environment', () => {
  it('need no address for a vendor we know', () => {
    expect(parse({ OBSERVATORY_UPSTREAM_OPENAI_KEY: 'sk-1' })).toEqual([
      { name: 'openai', baseUrl: 'https://api.openai.com/v1', apiKey: 'sk-1', kind: null },
    ]);
  });

  it('are one from all their variables', () => {
    const source = {
      OBSERVATORY_UPSTREAM_MY_VLLM_KEY: 'sk-1',
      OBSERVATORY_UPSTREAM_MY_VLLM_URL: 'http://vllm:8000/v1/',
      OBSERVATORY_UPSTREAM_MY_VLLM_KIND: 'OpenAI',
    };
    expect(parse(source)).toEqual([
      { name: 'my-vllm', baseUrl: 'http://vllm:8000/v1', apiKey: 'sk-1', kind: 'openai' },
    ]);
  });

  it.each([
    ['OBSERVATORY_UPSTREAM_OPENAI_API_KEY', 'OBSERVATORY_UPSTREAM_OPENAI_KEY instead'],
    ['OBSERVATORY_UPSTREAM_FOO_KEY', 'set OBSERVATORY_UPSTREAM_FOO_URL too.'],
    ['OBSERVATORY_UPSTREAM_FOO_KIND', 'set OBSERVATORY_UPSTREAM_FOO_URL too.'],
  ])('without an address are refused: %s', (variable, remedy) => {
    const value = variable.endsWith('KIND') ? 'openai' : 'sk-not-to-be-shown';
    expect(() => parse({ [variable]: value })).toThrow(
      expect.objectContaining({ variable, message: expect.stringContaining(remedy) }),
    );
    expect(() => parse({ [variable]: value })).toThrow(
      expect.objectContaining({ message: expect.not.stringContaining('sk-not-to-be-shown') }),
    );
  });
});
