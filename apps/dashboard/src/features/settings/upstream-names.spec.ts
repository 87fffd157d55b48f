import { describe, expect, it } from 'vitest';
import { envName, proxyPathOf } from './upstream-names';

describe('the names of an upstream', () => {
  it('are those of the environment and of a base URL', () => {
    expect(envName('local-llm')).toBe('OBSERVATORY_UPSTREAM_LOCAL_LLM_URL');
    expect(proxyPathOf({ name: 'local-llm', kind: 'openai' })).toBe('/proxy/local-llm/v1');
    expect(proxyPathOf({ name: 'anthropic', kind: 'anthropic' })).toBe('/proxy/anthropic');
  });
});
