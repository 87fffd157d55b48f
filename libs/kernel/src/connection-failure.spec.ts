import { describe, expect, it } from 'vitest';
import { connectionFailure } from './connection-failure.js';

const failed = (more: object) => Object.assign(new Error('https://token@host'), more);

describe('connectionFailure', () => {
  it.each([
    ['of its own', failed({ code: 'ECONNREFUSED' })],
    ['of what caused it', failed({ cause: failed({ code: 'ECONNREFUSED' }) })],
    ['of the first of several addresses', failed({ errors: [{ code: 'ECONNREFUSED' }, { code: 'EPIPE' }] })],
  ])('has words for a code %s', (_, error) => {
    expect(connectionFailure(error)).toEqual({ code: 'ECONNREFUSED', words: 'the connection was refused' });
  });

  it('shows a code that it has no words for, and nothing that may be no code', () => {
    expect(connectionFailure(failed({ code: 'EMFILE' }))).toEqual({ code: 'EMFILE', words: null });
    for (const error of [failed({ code: 'https://token@host' }), failed({}), 'token', null, undefined])
      expect(connectionFailure(error)).toEqual({ code: null, words: null });
  });
});
