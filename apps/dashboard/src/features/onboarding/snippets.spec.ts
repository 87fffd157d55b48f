import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { decisionLogSchema } from '#contracts';
import { KEY_PLACEHOLDER, SNIPPET_LANGUAGES, snippet } from './snippets';

const input = {
  ingestUrl: 'http://localhost:4000/v1/decision-logs',
  agentKey: 'obs_agent_x',
  suffix: 'k3f9',
  timestamp: '2026-01-01T00:00:00.000Z',
};

describe('the snippets of the empty page', () => {
  it.each(SNIPPET_LANGUAGES)('%s sends a valid DecisionLog with the real key', (language) => {
    const text = snippet(language, input);
    const body = text.slice(text.indexOf('{\n  "meta"'), text.indexOf('\n}') + 2);
    expect(decisionLogSchema.safeParse(JSON.parse(body)).error).toBeUndefined();
    expect(text).toContain('Bearer obs_agent_x');
    expect(text).toContain(input.ingestUrl);
  });

  it('names an agent that the key may speak for, whatever its id means to a shell', () => {
    const agentId = `it's "mine", ":" $HOME \\`;
    const line = snippet('curl', { ...input, agentId }).replace(/^curl/, "printf '%s\\0'");
    const said = execFileSync('sh', ['-c', line], { encoding: 'utf8' }).split('\0').at(-2);
    expect(JSON.parse(said ?? '')).toMatchObject({ identity: { agent_id: agentId } });
  });

  it('show a placeholder where the key is not known', () => {
    expect(snippet('curl', { ...input, agentKey: null })).toContain(KEY_PLACEHOLDER);
  });
});
