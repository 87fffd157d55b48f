import { randomBytes } from 'node:crypto';
import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { readStartSettings } from './config.module.js';

const strong = randomBytes(24).toString('base64url');
const read = (source: Record<string, string>) => readStartSettings(source, []).secrets;

describe('secrets', () => {
  it('show nothing of themselves in JSON, in text and under inspection', () => {
    const secrets = read({ OBSERVATORY_OPERATOR_TOKEN: strong, OBSERVATORY_AGENT_KEY: `${strong}2` });
    expect(secrets.operatorToken).toBe(strong);
    const shown = [
      JSON.stringify({ secrets }),
      `${secrets}`,
      inspect(secrets, { depth: 9, showHidden: true }),
      inspect({ a: [secrets] }),
      JSON.stringify(Object.entries(secrets)),
      JSON.stringify({ ...secrets }),
    ];
    expect(shown.join('\n')).not.toContain(strong);
  });

  it('are all known to the log, the vendor keys and the password in an address among them', () => {
    const secrets = read({
      OBSERVATORY_OPERATOR_TOKEN: `${strong}1`,
      OBSERVATORY_AGENT_KEY: `${strong}2`,
      OBSERVATORY_SECRET_KEY: `${strong}3`,
      OBSERVATORY_UPSTREAM_OPENAI_KEY: `${strong}4`,
      LLM_CACHE_EMBEDDING_API_KEY: `${strong}5`,
      REDIS_URL: `redis://:${strong}6@redis`,
    });
    const all = [1, 2, 3, 4, 5, 6].map((digit) => `${strong}${digit}`);
    expect(secrets.values()).toEqual(expect.arrayContaining([...all, `redis://:${strong}6@redis`]));
  });

  it('are refused below 8 characters, without being repeated', () => {
    const short = 'Xq7-pl2';
    expect(() => read({ OBSERVATORY_AGENT_KEY: short })).toThrow(
      expect.objectContaining({
        variable: 'OBSERVATORY_AGENT_KEY',
        message: expect.not.stringContaining(short),
      }),
    );
  });

  it('are refused where every agent would be an operator', () => {
    const both = { OBSERVATORY_AGENT_KEY: strong, OBSERVATORY_OPERATOR_TOKEN: strong };
    expect(() => read(both)).toThrow(expect.objectContaining({ variable: 'OBSERVATORY_AGENT_KEY' }));
  });

  it('may be short on loopback', () => {
    expect(read({ OBSERVATORY_OPERATOR_TOKEN: 'test-token' }).operatorToken).toBe('test-token');
  });

  it.each([
    'test-token',
    'a'.repeat(40),
    'observatory-operator-token-example',
    'change-me-change-me-change-me',
    'my-secret-password-1234567890',
  ])('such as %s are refused where others can connect', (secret) => {
    const start = () => read({ HOST: '0.0.0.0', OBSERVATORY_OPERATOR_TOKEN: secret });
    expect(start).toThrow(
      expect.objectContaining({
        variable: 'OBSERVATORY_OPERATOR_TOKEN',
        message: expect.stringMatching(/HOST lets others connect.*make one with/),
      }),
    );
  });

  it('that seal the database are refused on loopback too, with a remedy that helps there', () => {
    for (const secret of ['seventeen-letters', 'a'.repeat(40)])
      expect(() => read({ OBSERVATORY_SECRET_KEY: secret })).toThrow(
        expect.objectContaining({
          variable: 'OBSERVATORY_SECRET_KEY',
          message: expect.stringMatching(/^(?!.*(HOST|127\.0\.0\.1)).*copies the database.*make one with/),
        }),
      );
  });

  it('that nobody can guess are fine everywhere, and so is having none', () => {
    for (let count = 0; count < 200; count += 1) {
      const secret = randomBytes(24).toString(count % 2 ? 'base64url' : 'hex');
      expect(read({ HOST: '::', OBSERVATORY_OPERATOR_TOKEN: secret }).operatorToken).toBe(secret);
    }
    expect(read({ HOST: '0.0.0.0' }).operatorToken).toBeNull();
  });
});
