/** A vendor's key never reaches an agent, though an upstream says it aloud: in a header, or in an answer that quotes the request. */
import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { afterAll, describe, expect, test } from 'vitest';
import { respondJson, type UpstreamScript } from '#testing';
import { AGENT_KEY } from '../start-gateway.js';
import { gateway, startOneGateway, upstream, upstreamsAt } from '../start-one-gateway.js';

const VENDOR_KEY = 'sk-upstream-canary-5e91c0d7';
const STARS = '*'.repeat(VENDOR_KEY.length);

startOneGateway((origin) => upstreamsAt(origin, VENDOR_KEY));
afterAll(() => expect(gateway.output()).not.toContain(VENDOR_KEY));

const ask = (script: UpstreamScript, path = '/proxy/openai/v1/models', init: RequestInit = {}) => {
  upstream.script(script);
  return fetch(gateway.url + path, {
    headers: { authorization: `Bearer ${AGENT_KEY}` },
    redirect: 'manual',
    ...init,
  });
};

/** Of a length it names. */
function respondText(
  reply: ServerResponse,
  status: number,
  text: string | Buffer,
  headers: OutgoingHttpHeaders = {},
): void {
  reply.writeHead(status, { 'content-length': Buffer.byteLength(text), ...headers }).end(text);
}

/** What a client is given, all of it. */
const allOf = async (response: Response) => JSON.stringify([...response.headers]) + (await response.text());

describe('an upstream that says the key aloud', () => {
  test.each([200, 401])('in a header of an answer with status %i is heard without it', async (status) => {
    const response = await ask((call, reply) =>
      respondJson(reply, status, {}, { 'x-echo': `a ${call.headers.authorization} b ${VENDOR_KEY}` }),
    );
    expect(response.headers.get('x-echo')).toBe(`a Bearer ${STARS} b ${STARS}`);
  });

  test('in an error is heard without it, and its length is that of the error', async () => {
    const response = await ask((call, reply) => {
      const text = JSON.stringify({ error: { message: `No such key: ${call.headers.authorization}!` } });
      reply.writeHead(401, { 'content-length': Buffer.byteLength(text) }).end(text);
    });
    expect(response.status).toBe(401);
    expect(await response.json()).toEqual({ error: { message: `No such key: Bearer ${STARS}!` } });
  });

  test('in an error that comes a byte at a time is heard without it', async () => {
    const text = `${VENDOR_KEY}sk-upstream-${VENDOR_KEY} and sk-upstream-can`;
    const response = await ask(async (_call, reply) => {
      reply.writeHead(500);
      for (const letter of text) await new Promise((done) => reply.write(letter, done));
      reply.end();
    });
    expect(await response.text()).toBe(text.replaceAll(VENDOR_KEY, STARS));
  });

  test('in a long error is heard without it', async () => {
    const text = `${'x'.repeat(100_000)}${VENDOR_KEY}`.repeat(20);
    const response = await ask((_call, reply) => reply.writeHead(400).end(text));
    expect((await response.text()) === text.replaceAll(VENDOR_KEY, STARS)).toBe(true);
  });

  test.each(['application/json', 'text/event-stream'])(
    'in a good answer of %s is heard without it, also where a chunk ends within it',
    async (type) => {
      const text = `data: {"error":{"message":"No such key: ${VENDOR_KEY}"}}\n\n`;
      const response = await ask(async (_call, reply) => {
        reply.writeHead(200, { 'content-type': type });
        const middle = text.indexOf(VENDOR_KEY) + 9;
        await new Promise((done) => reply.write(text.slice(0, middle), done));
        await new Promise((done) => setImmediate(done));
        reply.end(text.slice(middle));
      });
      expect(await response.text()).toBe(text.replace(VENDOR_KEY, STARS));
    },
  );

  test('in a good answer of a length it named is heard without it, at that length', async () => {
    for (const text of [
      `{"echo":"${VENDOR_KEY}"}`,
      `${VENDOR_KEY}`,
      `the end is ${VENDOR_KEY.slice(0, 9)}`,
    ]) {
      const response = await ask((_call, reply) => respondText(reply, 200, text));
      expect(await response.text()).toBe(text.replace(VENDOR_KEY, STARS));
      expect(response.headers.get('content-length')).toBe(String(text.length));
    }
  });

  test('in a list of batches is heard without it', async () => {
    const text = `{"data":[{"id":"${VENDOR_KEY}"}]}`;
    const response = await ask(
      (_call, reply) => respondText(reply, 200, text),
      '/proxy/anthropic/v1/messages/batches',
      { headers: { 'x-api-key': AGENT_KEY } },
    );
    expect(await response.text()).toBe(text.replace(VENDOR_KEY, STARS));
  });

  test.each([
    ['gzip', gzipSync],
    ['br', brotliCompressSync],
    ['deflate', deflateSync],
    ['gzip, br', (text: string) => brotliCompressSync(gzipSync(text))],
    [['identity', 'gzip'], gzipSync],
  ])(
    'in an error compressed as %s, which nobody asked for, is heard without it, and plain',
    async (encoding, compress) => {
      const error = { error: { type: 'authentication_error', message: `No such key: ${VENDOR_KEY}` } };
      const response = await ask((_call, reply) => {
        reply.setHeader('content-encoding', encoding);
        respondText(reply, 401, compress(JSON.stringify(error)), { 'retry-after': '7' });
      });
      expect(response.status).toBe(401);
      expect([response.headers.get('content-encoding'), response.headers.get('retry-after')]).toEqual([
        null,
        '7',
      ]);
      expect(await response.json()).toEqual(JSON.parse(JSON.stringify(error).replace(VENDOR_KEY, STARS)));
    },
  );

  test.each([
    ['zstd', 'anything', Buffer.from(`in what nobody here reads: ${VENDOR_KEY}`)],
    ['gzip', 'what is none', Buffer.from(`no gzip: ${VENDOR_KEY}`)],
    ['gzip', 'very much', gzipSync(' '.repeat(2_000_000) + VENDOR_KEY)],
  ])(
    'in an error said to be in %s, and %s, has its status told in our words',
    async (encoding, _what, bytes) => {
      const response = await ask((_call, reply) =>
        respondText(reply, 529, bytes, { 'content-encoding': encoding, 'retry-after': '7' }),
      );
      expect(response.status).toBe(529);
      expect(response.headers.get('retry-after')).toBe('7');
      expect(response.headers.get('content-encoding')).toBeNull();
      const { error } = (await response.json()) as { error: { message: string } };
      expect(error.message).toContain('answered 529');
    },
  );

  test.each([
    ['gzip', 'very much', gzipSync(' '.repeat(2_000_000))],
    ['gzip', 'no gzip', Buffer.from('x'.repeat(1_000))],
    ['zstd', 'what nobody here reads', Buffer.from('x'.repeat(1_000))],
  ])(
    'an error in %s that says %s and never ends is told all the same, and cut off',
    async (encoding, _what, bytes) => {
      let isCut = false;
      const response = await ask((_call, reply) => {
        reply.writeHead(529, { 'content-encoding': encoding });
        const timer = setInterval(() => reply.write(bytes), 5);
        reply.on('close', () => {
          clearInterval(timer);
          isCut = true;
        });
      });
      expect(response.status).toBe(529);
      expect(await response.text()).toContain('answered 529');
      await expect.poll(() => isCut).toBe(true);
    },
  );

  test('in a compressed error that breaks off is heard by nobody', async () => {
    const response = await ask((_call, reply) => {
      reply.writeHead(500, { 'content-encoding': 'gzip' });
      reply.write(gzipSync(VENDOR_KEY).subarray(0, 12), () => reply.destroy());
    });
    expect(response.status).toBe(502);
    await response.text();
  });

  test('where it sends its caller on is heard without it', async () => {
    const elsewhere = `https://files.example/f?key=${VENDOR_KEY}`;
    const response = await ask((_call, reply) =>
      reply.writeHead(302, { location: elsewhere }).end(elsewhere),
    );
    expect(response.status).toBe(302);
    expect(await allOf(response)).not.toContain(VENDOR_KEY);
  });

  test("in the address of one of Google's uploads is heard without it, and the upload goes on", async () => {
    const start = await ask(
      (_call, reply) =>
        respondJson(
          reply,
          200,
          {},
          {
            'x-goog-upload-url': `${upstream.origin}/upload/v1beta/files?key=${VENDOR_KEY}&upload_id=7`,
          },
        ),
      '/proxy/gemini/upload/v1beta/files',
      { method: 'POST', headers: { 'x-goog-api-key': AGENT_KEY } },
    );
    const address = start.headers.get('x-goog-upload-url') as string;
    expect(address).not.toContain(VENDOR_KEY);
    upstream.script((_call, reply) => reply.end());
    await fetch(address, { method: 'POST', headers: { 'x-goog-api-key': AGENT_KEY } });
    expect(upstream.calls.map(({ url }) => url)).toEqual(['/upload/v1beta/files?upload_id=7']);
  });
});

test("the caller's own key, which it knows, comes back as the upstream said it", async () => {
  await gateway.operator('PUT', '/v1/upstreams/own', { base_url: `${upstream.origin}/v1` });
  const response = await ask(
    (call, reply) => respondJson(reply, 401, { error: call.headers.authorization }),
    '/proxy/own/v1/models',
    { headers: { authorization: 'Bearer sk-of-the-caller', 'x-observatory-key': AGENT_KEY } },
  );
  expect(await response.json()).toEqual({ error: 'Bearer sk-of-the-caller' });
});
