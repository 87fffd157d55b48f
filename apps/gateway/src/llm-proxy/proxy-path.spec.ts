import { describe, expect, it } from 'vitest';
import { parseProxyUrl } from './proxy-path.js';

describe('parseProxyUrl', () => {
  it("takes a path apart and leaves what is the upstream's as it was encoded", () => {
    expect(parseProxyUrl('/agents/a%2Fb/proxy/OpenAI/v1/files/x%20y?a=%31')).toEqual({
      upstream: 'openai',
      agentId: 'a/b',
      path: '/v1/files/x%20y',
      query: '?a=%31',
    });
  });

  it.each([
    '/proxy/openai/v1/../admin',
    '/proxy/openai/v1/%2e%2E/admin',
    '/proxy/openai/v1/..%2fadmin',
    '/proxy/openai/v1/..%5cadmin',
    '/proxy/openai/v1\\..\\admin',
    '/proxy/openai/v1/%c3%28',
    '/proxy/openai/v1/x\tx',
    // Servers that know parameters of a segment drop them before they resolve its dots.
    '/proxy/openai/v1/..;/admin',
    '/proxy/openai/v1/..;v=1/admin',
    '/proxy/openai/v1/..%3B/admin',
  ])("refuses %s, which leaves the upstream's base", (url) => {
    expect(parseProxyUrl(url)).toBeNull();
  });

  it.each([
    '/proxy/openai/v1/chat/completions#',
    '/proxy/openai/v1/chat/completions#/x',
    '/proxy/openai/v1/%2e%2e#',
    '/proxy/openai/v1/chat/completions?a#b',
    '/agents/a#b/proxy/openai/v1/models',
  ])('refuses %s: what an upstream would cut off must not decide which guards see the call', (url) => {
    expect(parseProxyUrl(url)).toBeNull();
  });
});
