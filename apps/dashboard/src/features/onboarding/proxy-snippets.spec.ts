import { describe, expect, it } from 'vitest';
import { PROXY_CLIENTS, proxyBaseUrls, proxySnippet } from './proxy-snippets';
import { KEY_PLACEHOLDER } from './snippets';

const input = { origin: 'http://localhost:4000', agentKey: 'obs_agent_x', keyOwner: 'caller' } as const;

describe('the snippets of the proxy', () => {
  it.each(PROXY_CLIENTS.caller)('%s is pointed at a base URL of the proxy', (client) => {
    const urls = proxyBaseUrls(input.origin).map(({ url }) => url);
    expect(urls.some((url) => proxySnippet(client, input).includes(url))).toBe(true);
  });

  it.each(PROXY_CLIENTS.caller)(
    "%s sends the agent key in a header beside the caller's own vendor key",
    (client) => {
      const text = proxySnippet(client, input);
      expect(text).toMatch(/x-observatory-key": ?"obs_agent_x|x-observatory-key: obs_agent_x/);
      expect(text).toContain('x-observatory-agent');
    },
  );

  it.each(PROXY_CLIENTS.ours)('%s sends the agent key as the API key where ours pays', (client) => {
    const text = proxySnippet(client, { ...input, keyOwner: 'ours' });
    expect(text).toContain('obs_agent_x');
    expect(text).not.toContain('x-observatory-key');
  });

  it('the environment names each vendor with the agent in the path, which it has no header for', () => {
    expect(proxySnippet('environment', { ...input, keyOwner: 'ours' }).split('\n\n')).toEqual([
      'export OPENAI_BASE_URL="http://localhost:4000/agents/my-agent/proxy/openai/v1"\nexport OPENAI_API_KEY="obs_agent_x"',
      'export ANTHROPIC_BASE_URL="http://localhost:4000/agents/my-agent/proxy/anthropic"\nexport ANTHROPIC_API_KEY="obs_agent_x"',
      'export GOOGLE_GEMINI_BASE_URL="http://localhost:4000/agents/my-agent/proxy/gemini"\nexport GEMINI_API_KEY="obs_agent_x"',
    ]);
  });

  it('show a placeholder where the key is not known', () => {
    expect(proxySnippet('curl', { ...input, agentKey: null })).toContain(KEY_PLACEHOLDER);
  });
});
