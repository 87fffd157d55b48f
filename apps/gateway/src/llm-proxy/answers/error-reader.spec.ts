import { describe, expect, it } from 'vitest';
import { ERROR_BYTES_READ_MAX, ErrorReader } from './error-reader.js';

/** Each byte by itself, as nobody promises that they come together. */
function read(body: unknown): string | null {
  const reader = new ErrorReader();
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  for (const byte of Buffer.from(text)) reader.push(Buffer.of(byte));
  return reader.finish();
}

describe('ErrorReader', () => {
  it.each([
    [
      'OpenAI',
      { error: { message: 'Too many', type: 'tokens', code: 'rate_limit_exceeded' } },
      'rate_limit_exceeded',
    ],
    ['OpenAI without a code', { error: { type: 'server_error', code: null } }, 'server_error'],
    [
      'Anthropic',
      { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } },
      'overloaded_error',
    ],
    ['Gemini', { error: { code: 429, status: 'RESOURCE_EXHAUSTED' } }, 'RESOURCE_EXHAUSTED'],
    ['Gemini, streaming', [{ error: { code: 503, status: 'UNAVAILABLE' } }], 'UNAVAILABLE'],
  ])('reads what %s calls its error', (_vendor, body, name) => {
    expect(read(body)).toBe(name);
  });

  it.each([
    ['words', { error: { message: 'Dear Ada', code: 'Dear Ada, your order' } }],
    ['a key', { error: { code: 'sk-live-4711aBc' } }],
    ['what is too long for a name', { error: { code: 'a'.repeat(65) } }],
    ['text beside an error', { error: 'Dear Ada' }],
    ['no JSON', '<html>Bad gateway</html>'],
    ['nothing', ''],
    ['null', 'null'],
  ])('keeps %s to itself', (_what, body) => {
    expect(read(body)).toBeNull();
  });

  it('leaves what is too long unread', () => {
    const error = { code: 'server_error', message: 'x'.repeat(ERROR_BYTES_READ_MAX) };
    expect(read({ error })).toBeNull();
  });
});
