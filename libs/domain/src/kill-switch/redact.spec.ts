import { describe, expect, it } from 'vitest';
import { redact, redactedStart } from './index.js';

describe('redact', () => {
  it.each([
    ['write to jane.doe+x@mail.example.co.uk now', 'write to [e-mail] now'],
    ['sk-proj-abcDEF123456 and sk-ant-api03-abcdefgh', '[key] and [key]'],
    ['OPENAI_API_KEY=sk-abcdefghijklmnop', 'OPENAI_API_KEY=[secret]'],
    ['DB_PASSWORD=hunter22 next', 'DB_PASSWORD=[secret] next'],
    ['AKIAIOSFODNN7EXAMPLE', '[key]'],
    ['ASIAIOSFODNN7EXAMPLE', '[key]'],
    ['AIDAIOSFODNN7EXAMPLE and AROAIOSFODNN7EXAMPLE', '[key] and [key]'],
    ['xai-abcdefghijkl', '[key]'],
    ['ACCESS_TOKEN=abcd1234, authToken: abcd1234', 'ACCESS_TOKEN=[secret], authToken: [secret]'],
    ['passwd=hunter22', 'passwd=[secret]'],
    ['AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG next', 'AWS_SECRET_ACCESS_KEY=[secret] next'],
    ['"secretAccessKey": "wJalrXUtnFEMI"', '"secretAccessKey": "[secret]"'],
    ["SECRET_KEY = 'django-insecure-x1'", "SECRET_KEY = '[secret]'"],
    ['"private_key": "abcdefgh", "n": 1', '"private_key": "[secret]", "n": 1'],
    [
      String.raw`{"env": "{\"password\": \"hunter22\"}"}`,
      String.raw`{"env": "{\"password\": \"[secret]\"}"}`,
    ],
    ['redis://:s3cr!t@cache:6379', 'redis://:[secret]@cache:6379'],
    ['ghp_abcdefghijklmnopqrstuvwxyz0123456789', '[key]'],
    ['github_pat_11ABCDEFG0abcdefghij', '[key]'],
    ['xoxb-1234-5678-abcdefgh', '[key]'],
    ['AIzaSyA-abcdefghijklmnopqrstuvwxyz012', '[key]'],
    ['obs_agent_AbCdEfGhIjKlMnOpQrStUvWxYz012345', '[key]'],
    ['obs_op_AbCdEfGhIjKlMnOpQrStUvWxYz012345', '[key]'],
    ['Authorization: Bearer abc.def-ghi_jkl', 'Authorization: Bearer [token]'],
    ['eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.dozjgNryP4J3jVmNHl0w5N', '[token]'],
    ['cut off: eyJhbGciOiJIUzI1N', 'cut off: [token]'],
    ['{"password": "hunter22", "user": "jane"}', '{"password": "[secret]", "user": "jane"}'],
    ['postgres://app:s3cret@db:5432/x', 'postgres://app:[secret]@db:5432/x'],
    ['redis://:one1@a amqp://u:two2@b', 'redis://:[secret]@a amqp://u:[secret]@b'],
    ['card 4111 1111 1111 1111, thanks', 'card [card], thanks'],
    ['card 4111-1111-1111-1111', 'card [card]'],
    ['card 4111111111111111.', 'card [card].'],
    ['card 1234 5678 9012 3456', 'card [card]'],
    ['card 5555555555554444', 'card [card]'],
    ['card 4000000000000069', 'card [card]'],
    ['cards 5555555555554444 and 4000000000000069', 'cards [card] and [card]'],
    ['amex 3782 822463 10005', 'amex [card]'],
    ['amex 3782 822463 10006', 'amex [card]'],
    ['amex 37828-22463-10005', 'amex [card]'],
    ['-----BEGIN RSA PRIVATE KEY-----\nMIIabc\n-----END RSA PRIVATE KEY-----\nafter', '[private key]\nafter'],
    ['-----BEGIN PRIVATE KEY-----\nMIIabc', '[private key]'],
  ])('masks %j', (text, masked) => {
    expect(redact(text)).toBe(masked);
  });

  it.each([
    'the disk-usage task is risk-free, the disk-utilisation is low',
    'retry at 2026-01-31T12:00:00.123Z, order 1234567',
    'parcel 4111111111111112, parcel 41111 11111 1111 12',
    'id 550e8400-e29b-41d4-a716-446655440000',
    'the secret of good bread; a password is needed',
    'decorators such as @Injectable()',
    'a bearer of bad news',
    '',
  ])('leaves %j alone', (text) => {
    expect(redact(text)).toBe(text);
  });

  it('is linear: the worst texts of one excerpt take no time', () => {
    for (const text of [
      'a'.repeat(1_000),
      'a@'.repeat(500),
      '1 '.repeat(500),
      '//a:'.repeat(250),
      'eyJ.'.repeat(250),
      '-----BEGIN '.repeat(90),
      'secret\\\\\\'.repeat(110),
    ])
      expect(redact(text).length).toBeLessThanOrEqual(8_000);
  });
});

describe('the redacted beginning of a text', () => {
  it.each([
    ['a short text', 'a short text'],
    ['at postgres://app:s3cret@db', 'at postgres://app:'],
    ['the card 4111111111111111', 'the card '],
    ['the mail is jane.doe@example.org', 'the mail is '],
    ['-----BEGIN PRIVATE KEY-----\nMIIabc', ''],
    ['twenty-one letters 🙂', 'twenty-one letters '],
  ])('of %j shows nothing that the cut makes of a secret', (text, shown) => {
    expect(redactedStart(text, 20)).toBe(shown);
  });

  it('ends where the text was cut, though masks make room for more', () => {
    const key = `-----BEGIN PRIVATE KEY-----${'x'.repeat(500)}-----END PRIVATE KEY-----`;
    const text = `${key} ${'a '.repeat(1_000)}`;
    expect(redactedStart(text, key.length + 10)).toBe(`[private key] ${'a '.repeat(4)}a`);
  });
});
