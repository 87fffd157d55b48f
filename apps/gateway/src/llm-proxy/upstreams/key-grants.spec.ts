import { describe, expect, it } from 'vitest';
import { grantsKey } from './key-grants.js';

describe('grantsKey', () => {
  it.each([
    '/realtime/client_secrets',
    '/realtime/sessions',
    '/realtime/transcription_sessions',
    '/realtime/calls',
    '/chatkit/sessions',
    '/organization/admin_api_keys',
    '/organization/projects/proj_1/service_accounts',
    '/organization/projects/proj_1/service_accounts/sa_1/api_keys',
    '/organization/invites',
    '/v1/realtime/client_secrets/',
    '//realtime//client_secrets',
    '/Realtime/client%5Fsecrets',
    '/realtime;v=1/client_secrets;v=1',
  ])('knows POST %s of OpenAI', (path) => {
    expect(grantsKey('openai', 'POST', path)).toBe(true);
    expect(grantsKey('openai', 'GET', path)).toBe(false);
  });

  it.each(['invites', 'service_accounts', 'federation_rules', 'api_keys/apikey_1'])(
    'knows POST /v1/organizations/%s of Anthropic',
    (path) => {
      expect(grantsKey('anthropic', 'POST', `/v1/organizations/${path}`)).toBe(true);
      expect(grantsKey('anthropic', 'GET', `/v1/organizations/${path}`)).toBe(false);
      expect(grantsKey('anthropic', 'POST', '/v1/messages')).toBe(false);
    },
  );

  it('knows those of Gemini', () => {
    expect(grantsKey('gemini', 'POST', '/v1alpha/auth_tokens')).toBe(true);
    expect(grantsKey('gemini', 'POST', '/v1beta/models/gemini-3:generateContent')).toBe(false);
  });

  it.each(['/batch', '//Batch/', '/batch/v1beta', '/%62atch/generativelanguage/v1beta'])(
    'knows %s of Gemini, which may bring any requests in one',
    (path) => expect(grantsKey('gemini', 'POST', path)).toBe(true),
  );

  it.each(['/v1beta/batches/b1:cancel', '/v1beta/models/g:batchEmbedContents', '/v1beta/batch'])(
    'lets POST %s of Gemini pass',
    (path) => expect(grantsKey('gemini', 'POST', path)).toBe(false),
  );

  it.each([
    '/chat/completions',
    '/responses',
    '/chatkit/sessions/cksess_1/cancel',
    '/realtime/calls/rtc_1/hangup',
    '/files',
    '/%',
  ])('lets POST %s pass', (path) => expect(grantsKey('openai', 'POST', path)).toBe(false));
});
