import { describe, expect, test } from 'vitest';
import { printBanner } from './banner.js';
import { readStartSettings } from './config/config.module.js';

const TOKEN = 'operator-canary-9f8e7d6c5b4a';
const KEY = 'agent-canary-0a1b2c3d4e5f';

function banner(
  environment: Record<string, string>,
  bootstrap: { operatorToken: string | null; agentKey: string | null },
  url = 'http://127.0.0.1:4000',
) {
  let printed = '';
  const gateway = { url, bootstrap, drain: async () => {} };
  printBanner(gateway, readStartSettings(environment, []), (text) => {
    printed += text;
  });
  return printed;
}

describe('the banner', () => {
  test('shows what this start has made: a login link and a curl line', () => {
    const printed = banner({}, { operatorToken: TOKEN, agentKey: KEY });
    expect(printed).toContain(`http://localhost:4000/login#token=${TOKEN}`);
    expect(printed).toContain(`"Authorization: Bearer ${KEY}"`);
    expect(printed).toContain('http://localhost:4000/proxy/openai/v1');
    expect(printed).toContain("the agent key is their API key; the vendor's goes under Settings > Upstreams");
  });

  test('names what the environment fixed, and never prints it', () => {
    const environment = { OBSERVATORY_OPERATOR_TOKEN: TOKEN, OBSERVATORY_AGENT_KEY: KEY };
    const printed = banner(environment, { operatorToken: TOKEN, agentKey: KEY });
    expect(printed).not.toContain(TOKEN);
    expect(printed).not.toContain(KEY);
    expect(printed).toContain('Bearer $OBSERVATORY_AGENT_KEY');
  });

  test('shows a token that a reset has made beside the one that the environment fixed, and that one never', () => {
    const environment = { OBSERVATORY_OPERATOR_TOKEN: TOKEN };
    const made = 'operator-made-5c4b3a291807';
    const printed = banner(environment, { operatorToken: made, agentKey: null });
    expect(printed).toContain(`/login#token=${made}`);
    expect(printed).not.toContain(TOKEN);
  });

  test('names an address that answers: the loopback of IPv6 is not what localhost means everywhere', () => {
    const made = { operatorToken: null, agentKey: KEY };
    expect(banner({ HOST: '::1' }, made)).toContain('http://[::1]:4000/v1/decision-logs');
    expect(banner({ HOST: '[::1]' }, made)).toContain('http://[::1]:4000/v1/decision-logs');
    expect(banner({ HOST: '::' }, made)).toContain('http://localhost:4000/v1/decision-logs');
  });

  test('names the port that is in use: a URL leaves 80 out, and whichever was free is known afterwards', () => {
    const made = { operatorToken: TOKEN, agentKey: KEY };
    expect(banner({ PORT: '80' }, made, 'http://127.0.0.1')).toContain('http://localhost:80/login');
    expect(banner({ PORT: '0' }, made, 'http://127.0.0.1:51234')).toContain('http://localhost:51234/login');
  });

  test('says how to get in again when nothing is known', () => {
    expect(banner({}, { operatorToken: null, agentKey: null })).toContain('--reset-operator-token');
  });
});
