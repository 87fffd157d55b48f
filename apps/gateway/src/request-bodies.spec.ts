import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import fastify, { type FastifyInstance } from 'fastify';
import { beforeEach, expect, it } from 'vitest';
import { LIMITS } from '#contracts';
import { type AccessFixture, startAccess } from './auth/access.fixture.js';
import { toRefusal } from './errors/refusal.js';
import { boundBodies } from './request-bodies.js';

let access: AccessFixture;
let server: FastifyInstance;
/** Bodies that a handler, or the guard ahead of it, came to see. */
let seen: unknown[];

beforeEach(async () => {
  access = await startAccess();
  seen = [];
  server = fastify({ bodyLimit: LIMITS.bodyBytesMax });
  boundBodies(server, access.authenticator);
  server.setErrorHandler((error, _request, reply) => {
    const { status, answer } = toRefusal(error, access.ids);
    void reply.code(status).send(answer);
  });
  for (const url of ['/v1/auth/login', '/v1/prices'])
    server.post(url, async ({ body }) => {
      seen.push(body);
      return { status: 'ok' };
    });
});

const text = (chars: number) => JSON.stringify({ text: 'x'.repeat(chars) });
const members = (count: number) =>
  JSON.stringify(Object.fromEntries(Array.from({ length: count }, (_, at) => [`k${at}`, 0])));

/** The reason of the refusal; `ok` for none. */
async function post(url: string, payload: string | Buffer | Readable, headers: Record<string, string> = {}) {
  const answer = await server.inject({
    method: 'POST',
    url,
    payload,
    headers: {
      'content-type': 'application/json',
      // As every client does; the one here does not.
      ...(payload instanceof Readable && { 'transfer-encoding': 'chunked' }),
      ...headers,
    },
  });
  return answer.json<{ status: string; reason?: string }>().reason ?? answer.json().status;
}

const asAdmin = () => ({
  authorization: `Bearer ${access.bootstrap.operatorToken}`,
  'x-observatory-operator-id': 'ada',
});
const asAgent = () => ({ 'x-observatory-key': access.bootstrap.agentKey as string });

it.each([
  ['whose length is known', () => text(LIMITS.strangerBodyBytesMax)],
  ['that comes in chunks', () => Readable.from([text(LIMITS.strangerBodyBytesMax)])],
])('reads no large body of a stranger %s', async (_which, body) => {
  expect(await post('/v1/prices', body())).toBe('unauthorized');
  expect(await post('/v1/auth/login', body())).toBe('payload_too_large');
  expect(seen).toEqual([]);
});

it('takes no body for text, which is JSON mostly, of a client that does not say so', async () => {
  for (const type of ['text/plain', 'text/plain;charset=UTF-8', 'application/x-www-form-urlencoded'])
    expect(await post('/v1/prices', '{}', { 'content-type': type })).toBe('unsupported_media_type');
  expect(seen).toEqual([]);
});

it('takes no compressed body, and says so rather than what is wrong with its JSON', async () => {
  const send = (payload: Buffer, encoding: string) =>
    server.inject({
      method: 'POST',
      url: '/v1/prices',
      payload,
      headers: { ...asAdmin(), 'content-type': 'application/json', 'content-encoding': encoding },
    });
  const refused = await send(gzipSync('{}'), 'gzip');
  expect(refused.statusCode).toBe(415);
  expect(refused.json().detail).toContain('without content-encoding');
  expect((await send(Buffer.from('{}'), 'identity')).statusCode).toBe(200);
  expect(seen).toEqual([{}]);
});

it('reads a small body of anybody, and an empty one as an empty object', async () => {
  expect(await post('/v1/auth/login', '{"token":"t"}')).toBe('ok');
  expect(await post('/v1/prices', '')).toBe('ok');
  // What a browser's fetch says of an empty text.
  expect(await post('/v1/prices', '', { 'content-type': 'text/plain;charset=UTF-8' })).toBe('ok');
  expect(await post('/v1/prices', '{')).toBe('invalid_json');
  expect(seen).toEqual([{ token: 't' }, {}, {}]);
});

it('takes no text that is not UTF-8, of which names would be kept in other characters than were sent', async () => {
  expect(await post('/v1/auth/login', Buffer.from('{"operator_id":"José"}', 'latin1'))).toBe('invalid_json');
  expect(await post('/v1/auth/login', Buffer.from('{"operator_id":"José"}'))).toBe('ok');
  expect(seen).toEqual([{ operator_id: 'José' }]);
});

it('reads a large body of whoever is known, and says of others what the guard would', async () => {
  const large = text(LIMITS.strangerBodyBytesMax);
  expect(await post('/v1/prices', large, asAdmin())).toBe('ok');
  expect(await post('/v1/prices', large, asAgent())).toBe('ok');
  const { authorization } = asAdmin();
  expect(await post('/v1/prices', large, { authorization })).toBe('missing_operator_id');
});

it('parses nothing that is large to whatever walks over it, whoever sends it', async () => {
  const elements = (count: number) => JSON.stringify(Array(count).fill(0));
  expect(await post('/v1/prices', elements(LIMITS.apiJsonValuesMax), asAdmin())).toBe('ok');
  expect(await post('/v1/prices', elements(LIMITS.apiJsonValuesMax + 1), asAdmin())).toBe(
    'payload_too_large',
  );
  expect(await post('/v1/prices', members(20_000), asAdmin())).toBe('ok');
  expect(await post('/v1/prices', members(20_001), asAdmin())).toBe('payload_too_large');
  expect(await post('/v1/prices', '['.repeat(LIMITS.jsonDepthMax + 1), asAdmin())).toBe('invalid_json');
});

it('reads JSON behind a byte order mark', async () => {
  expect(await post('/v1/auth/login', '\ufeff{"token":"a"}')).toBe('ok');
  expect(seen).toEqual([{ token: 'a' }]);
});
