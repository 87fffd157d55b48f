import { describe, expect, test } from 'vitest';
import { ObservatoryError } from '#contracts';
import { DIALECT_BY_NAME } from '#domain/llm-dialects';
import type { ProxyCall } from '../llm-proxy/proxy-call.js';
import { cacheControlOf, identify } from './cache-request.js';

test.each([
  [{}, null],
  [{ 'x-observatory-cache': 'Bypass ' }, 'bypass'],
  [{ 'x-observatory-cache': 'only' }, 'only'],
  [{ 'cache-control': 'private, no-store' }, 'bypass'],
  [{ 'cache-control': 'No-Cache' }, 'refresh'],
  [{ 'cache-control': 'max-age=0' }, null],
  [{ 'x-observatory-cache': 'refresh', 'cache-control': 'no-store' }, 'refresh'],
])('%j asks for %j', (headers, control) => {
  expect(cacheControlOf(headers)).toBe(control);
});

test('a word that means nothing is refused with those that do', () => {
  expect(() => cacheControlOf({ 'x-observatory-cache': 'never' })).toThrow(ObservatoryError);
  expect(() => cacheControlOf({ 'x-observatory-cache': 'never' })).toThrow(/bypass, refresh, only/);
});

describe('two callers of one tenant', () => {
  const keyOf = (query: string, apiKey: string | null): string | undefined =>
    identify(
      {
        dialect: DIALECT_BY_NAME.gemini,
        tenantId: 't',
        upstream: { name: 'gemini', origin: 'https://gemini.test', basePath: '', apiKey },
        incoming: { rawHeaders: [] },
        path: '/v1beta/models/m:generateContent',
        target: { query },
      } as unknown as ProxyCall,
      { contents: [{ parts: [{ text: 'what is in my drive' }] }] },
    )?.identity.key;

  test.each(['key', 'access_token', 'oauth_token', 'access%5Ftoken'])(
    'with credentials of their own in ?%s= never share an answer',
    (name) => {
      const keys = [`?${name}=alice`, `?${name}=bob`, `?${name}=alice&${name}=bob`, ''];
      const found = keys.map((query) => keyOf(query, null));
      expect(found).not.toContain(undefined);
      expect(new Set(found).size).toBe(keys.length);
    },
  );

  test('share one where the gateway puts its own key in the place of theirs, and by no other credentials', () => {
    expect(keyOf('?key=alice', 'sk')).toBe(keyOf('?key=bob', 'sk'));
    expect(keyOf('?access_token=alice', 'sk')).not.toBe(keyOf('?access_token=bob', 'sk'));
    expect(keyOf('?oauth_token=alice', 'sk')).not.toBe(keyOf('?oauth_token=bob', 'sk'));
  });
});

test('where a request goes is part of its key: name, origin and path', () => {
  const keyAt = (place: { name?: string; origin?: string; basePath?: string }) =>
    identify(
      {
        dialect: DIALECT_BY_NAME['openai-chat'],
        tenantId: 't',
        upstream: { name: 'own', origin: 'https://one.test', basePath: '/v1', apiKey: 'sk', ...place },
        incoming: { rawHeaders: [] },
        path: '/chat/completions',
        target: { query: '' },
      } as unknown as ProxyCall,
      { messages: [{ role: 'user', content: 'where do you live' }] },
    )?.identity.key;
  const keys = [{}, { name: 'other' }, { origin: 'https://two.test' }, { basePath: '/v2' }].map(keyAt);
  expect(keyAt({})).toBe(keys[0]);
  expect(keys).not.toContain(undefined);
  expect(new Set(keys).size).toBe(keys.length);
});

test('the cache has nothing to do with a request whose image lies at an address: what is there may change', () => {
  const identityOf = (url: string) =>
    identify(
      {
        dialect: DIALECT_BY_NAME['openai-chat'],
        tenantId: 't',
        upstream: { name: 'openai', origin: 'https://openai.test', basePath: '/v1', apiKey: 'sk' },
        incoming: { rawHeaders: [] },
        path: '/chat/completions',
        target: { query: '' },
      } as unknown as ProxyCall,
      { messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url } }] }] },
    );
  expect(identityOf('https://cam.example/gate.jpg')).toBeNull();
  expect(identityOf('data:image/jpeg;base64,AAAA')).not.toBeNull();
});

/** Of a request that came as these bytes and was read as that. */
const identityOfBytes = (bytes: Buffer, body: unknown) =>
  identify(
    {
      dialect: DIALECT_BY_NAME.anthropic,
      tenantId: 't',
      upstream: { name: 'anthropic', origin: 'https://anthropic.test', basePath: '', apiKey: 'sk' },
      incoming: { rawHeaders: [] },
      path: '/v1/messages',
      target: { query: '' },
      body: { read: (read: (bytes: Buffer) => boolean) => read(bytes) },
    } as unknown as ProxyCall,
    body,
  );

test('the cache has nothing to do with a request whose numbers the parser has rounded: another may read the same', () => {
  const identityOf = (id: string) => {
    const use = { type: 'tool_use', id: 't', name: 'find', input: 'ID' };
    const messages = [{ role: 'assistant', content: [use] }];
    const body = Buffer.from(JSON.stringify({ model: 'm', messages }).replace('"ID"', `{"id":${id}}`));
    return identityOfBytes(body, JSON.parse(body.toString()));
  };
  expect(identityOf('0.1234567890123456')).not.toBeNull();
  for (const id of ['0.12345678901234567891', '0.12345678901234567892', '1234567890123456789'])
    expect(identityOf(id)).toBeNull();
});

test('nor with one that is no UTF-8: what the parser made of its bytes it makes of others, too', () => {
  const body = { model: 'm', messages: [{ role: 'user', content: '\ufffd' }] };
  const written = Buffer.from(JSON.stringify(body));
  expect(identityOfBytes(written, body)).not.toBeNull();
  const at = written.indexOf('\ufffd');
  const broken = Buffer.concat([written.subarray(0, at), Buffer.of(0xff), written.subarray(at + 3)]);
  expect(JSON.parse(broken.toString())).toEqual(body);
  expect(identityOfBytes(broken, body)).toBeNull();
});
