/** What strangers, broken upstreams and bad luck do to the proxy, and that none of it gets through. */
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import http from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import OpenAI from 'openai';
import { describe, expect, test } from 'vitest';
import { respondEvents, respondJson } from '#testing';
import { AGENT_KEY, type RunningGateway, startGateway } from '../start-gateway.js';
import { gateway, startAgain, startOneGateway, upstream } from '../start-one-gateway.js';
import { always, openaiChat } from './vendors.js';

type JsonResponseBody = { error: { code: string } };

const KEY_CANARY = 'sk-canary-upstream-93be17aa';
const CALLER_CANARY = 'sk-canary-caller-7d20e5c1';
const PROMPT_CANARY = 'prompt-canary-4b8f60d2';

startOneGateway((origin) => ({
  LOG_LEVEL: 'debug',
  OBSERVATORY_UPSTREAM_OPENAI_URL: `${origin}/v1`,
  OBSERVATORY_UPSTREAM_OPENAI_KEY: KEY_CANARY,
  OBSERVATORY_UPSTREAM_PASSING_URL: `${origin}/v1`,
  PROXY_BODY_BYTES_MAX: '2000000',
  PROXY_BODY_TIMEOUT_MS: '1500',
  UPSTREAM_HEADERS_TIMEOUT_MS: '1000',
  UPSTREAM_IDLE_TIMEOUT_MS: '1000',
}));

let serial = 0;
const body = (text: string, extra: object = {}) =>
  JSON.stringify({ model: 'gpt-4o-mini', messages: [{ role: 'user', content: text }], ...extra });
const post = (
  text: string | Buffer,
  {
    path = '/proxy/openai/v1/chat/completions',
    headers = {},
  }: { path?: string; headers?: Record<string, string> } = {},
) =>
  fetch(gateway.url + path, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${AGENT_KEY}`,
      'content-type': 'application/json',
      'x-observatory-session': `break-${++serial}`,
      ...headers,
    },
    body: text,
  });
/** Files of the data folder that hold it. */
const filesWith = (text: string): string[] =>
  readdirSync(gateway.dataDir, { recursive: true, withFileTypes: true })
    .filter((file) => file.isFile() && readFileSync(join(file.parentPath, file.name)).includes(text))
    .map(({ name }) => name);
/** Bytes as they are, on a socket of their own; resolves with everything that came back. */
const raw = (text: string): Promise<string> =>
  new Promise((resolve, reject) => {
    const { port, hostname } = new URL(gateway.url);
    const socket = connect(Number(port), hostname, () => socket.write(text));
    let seen = '';
    socket.setTimeout(5_000, () => socket.destroy());
    socket.on('data', (chunk) => {
      seen += chunk;
    });
    socket.on('close', () => resolve(seen));
    socket.on('error', reject);
  });

describe('an upstream that', () => {
  test('resets before its answer gives 502, and the gateway lives', async () => {
    upstream.script((_call, response) => response.destroy());
    const response = await post(body('reset'));
    expect(response.status).toBe(502);
    expect(((await response.json()) as JsonResponseBody).error.code).toBe('upstream_unreachable');
  });

  test('stalls before its answer gives 504', async () => {
    upstream.script(() => {});
    expect((await post(body('stall'))).status).toBe(504);
  });

  test('stalls in mid-answer has its client cut off', async () => {
    upstream.script((_call, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write('data: {"id":"c"');
    });
    const response = await post(body('half', { stream: true }));
    expect(response.status).toBe(200);
    await expect(response.text()).rejects.toThrow();
  });

  test('promises more bytes than it sends has its client cut off', async () => {
    upstream.script((_call, response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' });
      response.write('{"id":"c"}');
      setTimeout(() => response.socket?.destroy(), 20);
    });
    await expect(post(body('short')).then((response) => response.text())).rejects.toThrow();
  });

  test.each([
    [429, 'application/json', '{"error":{"message":"slow down"}}'],
    [500, 'text/html', '<html><body>Bad gateway</body></html>'],
    [200, 'text/html', '<html>captive portal</html>'],
    [200, 'application/json', '{"choices": [ {"message": nonsense'],
    [200, 'application/json', '[]'],
    [200, 'application/json', 'null'],
  ])('answers %i %s passes through as it is', async (status, type, text) => {
    upstream.script((_call, response) => {
      response.writeHead(status, { 'content-type': type, 'retry-after': '7' });
      response.end(text);
    });
    const response = await post(body(`status ${status} ${text.length}`));
    expect([response.status, response.headers.get('content-type'), await response.text()]).toEqual([
      status,
      type,
      text,
    ]);
    expect(response.headers.get('retry-after')).toBe('7');
  });

  test('compresses its answer, for which nobody asked, has it passed on byte for byte, and read', async () => {
    const usage = { prompt_tokens: 9, completion_tokens: 3 };
    const delta = (content: string, more = {}) =>
      `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content } }], ...more })}\n\n`;
    const bytes = gzipSync(`${delta('Hel')}${delta('lo', { usage })}data: [DONE]\n\n`);
    upstream.script((_call, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream', 'content-encoding': 'gzip' });
      response.write(bytes.subarray(0, 40));
      setImmediate(() => response.end(bytes.subarray(40)));
    });
    const request = http.request(`${gateway.url}/agents/zipped/proxy/openai/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${AGENT_KEY}`, 'content-type': 'application/json' },
    });
    request.end(body('zipped', { stream: true }));
    const [answer] = (await once(request, 'response')) as [http.IncomingMessage];
    expect(Buffer.concat(await answer.toArray())).toEqual(bytes);
    expect(upstream.calls[0]?.headers['accept-encoding'] ?? 'identity').toBe('identity');
    const calls = async () => (await gateway.operator('GET', '/v1/calls?agent_id=zipped')).body.items;
    await expect.poll(calls).toMatchObject([{ usage: { input_tokens: 9, output_tokens: 3 } }]);
    expect((await calls())[0].cost_usd).toBeGreaterThan(0);
  });

  test('redirects is not followed', async () => {
    upstream.script((_call, response) => {
      response.writeHead(302, { location: 'http://169.254.169.254/latest/meta-data' });
      response.end();
    });
    const response = await fetch(`${gateway.url}/proxy/openai/v1/chat/completions`, {
      method: 'POST',
      redirect: 'manual',
      headers: { authorization: `Bearer ${AGENT_KEY}`, 'content-type': 'application/json' },
      body: body('redirect'),
    });
    expect(response.status).toBe(302);
    expect(upstream.calls).toHaveLength(1);
  });

  test('sets a cookie sets none at our origin, and names hop-by-hop headers in vain', async () => {
    upstream.script((_call, response) => {
      response.setHeader('set-cookie', 'observatory_session=stolen');
      response.setHeader('connection', 'x-internal');
      response.setHeader('x-internal', 'secret');
      respondJson(response, 200, { choices: [] });
    });
    const response = await post(body('cookie'));
    expect(response.headers.get('set-cookie')).toBeNull();
    expect(response.headers.get('x-internal')).toBeNull();
  });
});

describe('a request that', () => {
  test.each([
    ['is no JSON', '{"model": "gpt', 400],
    ['is an array', '[1]', 400],
    ['is empty', '', 400],
    ['is too large', JSON.stringify({ model: 'm', messages: 'x'.repeat(2_100_000) }), 413],
    [
      'is nested a million deep',
      `{"model":"m","messages":${'['.repeat(900_000)}${']'.repeat(900_000)}}`,
      400,
    ],
    ['holds half a million empty messages', `{"model":"m","messages":[${'{},'.repeat(600_000)}{}]}`, 413],
    [
      'pollutes prototypes',
      '{"__proto__":{"stream":true},"constructor":{"prototype":{"x":1}},"model":"m","messages":[{"__proto__":{"role":"user"}}]}',
      200,
    ],
    ['has messages that are none', '{"model":7,"messages":{"0":"hi"},"stream":"yes"}', 200],
  ])('%s gets a clear answer', async (_, text, status) => {
    upstream.script(always(openaiChat, { text: 'fine' }));
    const response = await post(text);
    expect(response.status).toBe(status);
    if (status >= 400) {
      expect(((await response.json()) as JsonResponseBody).error).toMatchObject({
        message: expect.any(String),
        code: expect.any(String),
      });
      expect(upstream.calls).toHaveLength(0);
    }
  });

  test.each<[string, number, { path?: string; headers?: Record<string, string> }]>([
    ['has no valid key', 401, { headers: { authorization: 'Bearer wrong-key-0123456789' } }],
    ['names no upstream of ours', 404, { path: '/proxy/nowhere/v1/chat/completions' }],
    ['is far too large', 413, {}],
  ])('%s is told so while its body still comes', async (_, status, options) => {
    const large = Buffer.alloc(30_000_000, ' ');
    // An answer cut off by a reset is lost now and then only.
    for (let time = 0; time < 5; time += 1) {
      const response = await post(large, options);
      expect(response.status).toBe(status);
      expect(((await response.json()) as JsonResponseBody).error.code).toEqual(expect.any(String));
    }
  });

  test.each<{ headers: Record<string, string> }>([
    { headers: { 'x-observatory-session': '..' } },
    { headers: { 'x-observatory-session': '.' } },
    { headers: { 'x-observatory-agent': '..' } },
  ])('names itself so that no operator could reach it is refused: %j', async (options) => {
    upstream.script(always(openaiChat, { text: 'fine' }));
    const response = await post(body('hello'), options);
    expect(response.status).toBe(400);
    expect(await response.text()).toContain('a URL can name');
    expect(upstream.calls).toHaveLength(0);
  });

  test('dawdles with its body is cut off', async () => {
    const { port, hostname } = new URL(gateway.url);
    const status = await new Promise((resolve, reject) => {
      const request = http.request({
        host: hostname,
        port,
        method: 'POST',
        path: '/proxy/openai/v1/chat/completions',
        headers: {
          authorization: `Bearer ${AGENT_KEY}`,
          'content-length': '1000',
          'content-type': 'application/json',
        },
      });
      request.on('response', (response) => resolve(response.statusCode));
      request.on('error', reject);
      request.write('{"model"');
    });
    expect(status).toBe(408);
  });

  test.each([
    '/proxy/openai/v1/../../admin',
    '/proxy/openai/%2e%2e/%2e%2e/admin',
    '/proxy/openai/v1/..%2f..%2fadmin',
    '/proxy/openai/v1/%5c..%5cadmin',
    '/proxy/openai/v1/files/%00',
  ])('tries to leave the base with %s goes nowhere', async (path) => {
    upstream.script(always(openaiChat, { text: 'never' }));
    const seen = await raw(
      `GET ${path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${AGENT_KEY}\r\nconnection: close\r\n\r\n`,
    );
    expect(seen).toMatch(/^HTTP\/1\.1 4\d\d/);
    expect(upstream.calls).toHaveLength(0);
  });

  test('names an absolute URL is not fetched for anybody', async () => {
    upstream.script(always(openaiChat, { text: 'never' }));
    const seen = await raw(
      `GET ${upstream.origin}/proxy/openai/v1/models HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${AGENT_KEY}\r\nconnection: close\r\n\r\n`,
    );
    expect(seen).toMatch(/^HTTP\/1\.1 [345]\d\d|200 OK[\s\S]*<!doctype html>/i);
    expect(upstream.calls).toHaveLength(0);
  });

  test('smuggles a second one in its body is one request', async () => {
    upstream.script(always(openaiChat, { text: 'one' }));
    const inner = `POST /proxy/openai/v1/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${AGENT_KEY}\r\ncontent-length: 2\r\n\r\n{}`;
    const both = await raw(
      `POST /proxy/openai/v1/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${AGENT_KEY}\r\ncontent-type: application/json\r\ncontent-length: 4\r\ntransfer-encoding: chunked\r\nconnection: close\r\n\r\n0\r\n\r\n${inner}`,
    );
    expect(both).toMatch(/^HTTP\/1\.1 400/);
    expect(upstream.calls).toHaveLength(0);
  });

  test('carries hop-by-hop headers, cookies and what is ours sends none of them on', async () => {
    upstream.script(always(openaiChat, { text: 'ok' }));
    const payload = body('headers');
    await raw(
      `POST /proxy/openai/v1/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${AGENT_KEY}\r\ncontent-type: application/json\r\n` +
        `content-length: ${Buffer.byteLength(payload)}\r\nconnection: close, x-secret-hop\r\nx-secret-hop: 1\r\nproxy-authorization: Basic abc\r\nte: trailers\r\n` +
        `cookie: observatory_session=abc\r\nx-forwarded-for: 10.0.0.1\r\nx-observatory-agent: someone\r\nx-vendor-beta: kept\r\n\r\n${payload}`,
    );
    const names = Object.keys(upstream.calls[0]?.headers ?? {});
    expect(names).toContain('x-vendor-beta');
    for (const gone of [
      'x-secret-hop',
      'proxy-authorization',
      'te',
      'cookie',
      'x-forwarded-for',
      'x-observatory-agent',
    ])
      expect(names).not.toContain(gone);
    expect(upstream.calls[0]?.headers.authorization).toBe(`Bearer ${KEY_CANARY}`);
  });

  test('is of the tenant it names where its key may act for that one', async () => {
    const { body: made } = await gateway.operator('POST', '/v1/agent-keys', {
      name: 'platform',
      tenant_ids: ['east', 'west'],
    });
    const call = async (tenant: string | null) => {
      const headers = {
        authorization: `Bearer ${made.secret}`,
        'x-observatory-session': 'for-many',
        ...(tenant !== null && { 'x-tenant-id': tenant }),
      };
      return (await post(body(`for ${tenant}`), { headers })).status;
    };
    expect(await Promise.all([null, 'east', 'north'].map(call))).toEqual([200, 200, 403]);
    const stepsOf = async (tenant: string) => {
      const url = `${gateway.url}/v1/sessions/for-many`;
      const authorization = `Bearer ${gateway.operatorToken}`;
      const response = await fetch(url, { headers: { authorization, 'x-tenant-id': tenant } });
      return response.status === 200 ? ((await response.json()) as any).step_count : response.status;
    };
    await expect.poll(() => Promise.all(['default', 'east', 'west'].map(stepsOf))).toEqual([1, 1, 404]);
  });

  test('names another tenant is refused', async () => {
    expect((await post(body('tenant'), { headers: { 'x-tenant-id': 'other' } })).status).toBe(403);
  });
});

test('a slow reader holds the upstream back instead of filling memory', async () => {
  let written = 0;
  const event = `data: ${JSON.stringify({ id: 'c', choices: [{ index: 0, delta: { content: 'x'.repeat(60_000) } }] })}\n\n`;
  upstream.script((_call, response) =>
    respondEvents(
      response,
      (function* () {
        for (; written < 400_000_000; written += event.length) yield event;
      })(),
    ),
  );
  const { port, hostname } = new URL(gateway.url);
  const payload = body('slow reader', { stream: true });
  const socket = connect(Number(port), hostname);
  socket.write(
    `POST /proxy/openai/v1/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${AGENT_KEY}\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(payload)}\r\n\r\n${payload}`,
  );
  await new Promise((resolve) => socket.once('data', resolve));
  socket.pause();
  // The upstream stops writing once every buffer between is full.
  let before = -1;
  await expect
    .poll(
      () => {
        const isStill = written === before;
        before = written;
        return isStill;
      },
      { interval: 300, timeout: 20_000 },
    )
    .toBe(true);
  expect(written).toBeLessThan(60_000_000);
  socket.destroy();
  await upstream.calls[0]?.aborted;
});

test('no key and no prompt is in a log, an error, a metric or a call record, and no key in a file', async () => {
  upstream.script((_call, response, index) =>
    index % 2 === 0
      ? respondJson(response, 401, { error: { message: 'Incorrect API key provided' } })
      : response.destroy(),
  );
  const answers: string[] = [];
  for (let index = 0; index < 4; index += 1) {
    const response = await post(body(`${PROMPT_CANARY} ${index}`), {
      path: '/proxy/passing/v1/chat/completions',
      headers: { authorization: `Bearer ${CALLER_CANARY}`, 'x-observatory-key': AGENT_KEY },
    });
    answers.push(await response.text());
    answers.push(await (await post(body(`${PROMPT_CANARY} ours ${index}`))).text());
  }
  const { body: calls } = await gateway.operator('GET', '/v1/calls?limit=500');
  const metrics = await (await fetch(`${gateway.url}/metrics`)).text();
  const { body: upstreams } = await gateway.operator('GET', '/v1/upstreams');
  const everything = [
    gateway.output(),
    metrics,
    JSON.stringify(calls),
    JSON.stringify(upstreams),
    ...answers,
  ].join('\n');
  const keys = [KEY_CANARY, CALLER_CANARY, AGENT_KEY];
  for (const secret of [...keys, PROMPT_CANARY]) expect(everything).not.toContain(secret);
  // While it writes, its write-ahead log beside its database, and when all is in the database.
  const inFiles = () => keys.flatMap(filesWith);
  expect(filesWith(calls.items[0].call_id)).not.toEqual([]);
  expect(inFiles()).toEqual([]);
  await gateway.stop();
  expect(filesWith(calls.items[0].call_id)).not.toEqual([]);
  expect(inFiles()).toEqual([]);
  await startAgain();
});

describe('an agent key goes no further', () => {
  test.each<[string, string, Record<string, string>]>([
    ['beside itself', '', { authorization: `Bearer ${AGENT_KEY}` }],
    ["beside the vendor's", '', { authorization: 'Bearer sk-mine', 'x-api-key': AGENT_KEY }],
    ['in the query', `?key=${AGENT_KEY}`, { authorization: 'Bearer sk-mine' }],
    ['in the query, encoded', `?k%65y=${AGENT_KEY}`, { authorization: 'Bearer sk-mine' }],
  ])('%s, where the upstream gets what the caller sends', async (_, query, headers) => {
    upstream.script(always(openaiChat, { text: 'never' }));
    const response = await post(body('leak'), {
      path: `/proxy/passing/v1/chat/completions${query}`,
      headers: { ...headers, 'x-observatory-key': AGENT_KEY },
    });
    expect(response.status).toBe(401);
    expect(await response.text()).toContain('Send your own vendor key');
    expect(upstream.calls).toHaveLength(0);
  });

  test('in an encoded query, where the upstream gets a key of ours', async () => {
    upstream.script(always(openaiChat, { text: 'ok' }));
    const path = `/proxy/openai/v1/chat/completions?k%65y=${AGENT_KEY}&a=%20b`;
    expect((await post(body('query'), { path })).status).toBe(200);
    expect(upstream.calls[0]?.url).toBe('/v1/chat/completions?a=%20b');
  });
});

test('a key given in the settings is sealed on disk and in no answer', async () => {
  const secret = 'sk-settings-canary-1188aabb';
  const { status, body: answer } = await gateway.operator('PUT', '/v1/upstreams/sealed', {
    base_url: `${upstream.origin}/v1`,
    api_key: secret,
  });
  expect([status, answer.key]).toEqual([200, 'ours']);
  expect(JSON.stringify(answer)).not.toContain(secret);
  upstream.script(always(openaiChat, { text: 'ok' }));
  expect((await post(body('sealed'), { path: '/proxy/sealed/v1/chat/completions' })).status).toBe(200);
  expect(upstream.calls[0]?.headers.authorization).toBe(`Bearer ${secret}`);
  expect(filesWith(secret)).toEqual([]);
});

test('a key that no header can carry is refused where it is given, and not repeated', async () => {
  for (const between of ['\n', '\u200b', '\u007f', ' ', '\u00ff']) {
    const { status, body: answer } = await gateway.operator('PUT', '/v1/upstreams/pasted', {
      base_url: `${upstream.origin}/v1`,
      api_key: `sk-pasted${between}canary`,
    });
    expect([status, answer.fields]).toEqual([422, ['api_key']]);
    expect(answer.detail).toContain('printable ASCII');
    expect(JSON.stringify(answer)).not.toContain('canary');
  }
});

test('an upstream that is a metadata service is refused where it is named', async () => {
  const { status, body: answer } = await gateway.operator('PUT', '/v1/upstreams/inside', {
    base_url: 'http://169.254.169.254/v1',
  });
  expect([status, answer.reason]).toEqual([422, 'invalid_fields']);
  expect(answer.detail).toContain('base_url');
});

test('kill -9 with held calls and a fired kill switch: the agent stays deactivated, the pause stays', async () => {
  const first = await startGateway({
    env: {
      OBSERVATORY_UPSTREAM_OPENAI_URL: `${upstream.origin}/v1`,
      OBSERVATORY_UPSTREAM_OPENAI_KEY: KEY_CANARY,
    },
  });
  upstream.script(always(openaiChat, { text: 'the same answer' }));
  const held = { 'x-observatory-session': 'crash-held' };
  await openaiChat.ask(first.url, 'Begin', { headers: held });
  await expect.poll(async () => (await first.operator('GET', '/v1/sessions/crash-held')).status).toBe(200);
  await first.operator('POST', '/v1/sessions/crash-held/pause', { reason: 'look' });
  openaiChat.ask(first.url, 'Held', { headers: held }).catch(() => {});
  await expect.poll(async () => (await first.operator('GET', '/v1/held-calls')).body.items).toHaveLength(1);
  for (let request = 0; request < 6; request += 1)
    await openaiChat.ask(first.url, 'Again and again', { agent: 'crash-killed' });
  await expect.poll(async () => (await first.operator('GET', '/v1/incidents')).body.items).toHaveLength(1);
  await first.kill();

  const second = await startGateway({
    dataDir: first.dataDir,
    env: {
      OBSERVATORY_UPSTREAM_OPENAI_URL: `${upstream.origin}/v1`,
      OBSERVATORY_UPSTREAM_OPENAI_KEY: KEY_CANARY,
    },
  });
  await expect(openaiChat.ask(second.url, 'Still there?', { agent: 'crash-killed' })).rejects.toMatchObject({
    status: 403,
  });
  expect((await second.operator('GET', '/v1/sessions/crash-held')).body.control.state).toMatch(/^pause/);
  expect((await second.operator('POST', '/v1/agents/crash-killed/reactivate')).body).toEqual({
    status: 'ok',
  });
  expect((await openaiChat.ask(second.url, 'And now?', { agent: 'crash-killed' })).text).toBe(
    'the same answer',
  );
  await second.kill();
});

test('kill -9 while a step waits for its tools: its session is there with what it cost, and goes on from that', async () => {
  const env = {
    OBSERVATORY_UPSTREAM_OPENAI_URL: `${upstream.origin}/v1`,
    OBSERVATORY_UPSTREAM_OPENAI_KEY: KEY_CANARY,
  };
  const first = await startGateway({ env });
  const toolCall = { name: 'build', arguments: { target: 'all' } };
  upstream.script(always(openaiChat, { toolCall }));
  const headers = { 'x-observatory-session': 'crash-waiting' };
  await openaiChat.ask(first.url, 'Build it', { headers });
  const callsAt = async (at: RunningGateway) =>
    (await at.operator('GET', '/v1/calls?session_id=crash-waiting')).body.items;
  await expect.poll(() => callsAt(first)).toHaveLength(1);
  await first.kill();

  const second = await startGateway({ dataDir: first.dataDir, env });
  const [{ cost_usd }] = await callsAt(second);
  expect(cost_usd).toBeGreaterThan(0);
  const listed = async () => (await second.operator('GET', '/v1/sessions')).body.items[0];
  expect(await listed()).toMatchObject({ session_id: 'crash-waiting', cost_usd, tokens: 120 });
  upstream.script(always(openaiChat, { text: 'Done.' }));
  await openaiChat.ask(second.url, 'Build it', { headers, steps: [{ call: toolCall, result: 'ok' }] });
  await expect.poll(listed).toMatchObject({ step_count: 1, tokens: 240 });
  expect((await listed()).cost_usd).toBeCloseTo(2 * cost_usd, 9);
  await second.kill();
});

test('a vanishing client in mid-stream leaves nothing behind', async () => {
  upstream.script((_call, response) =>
    respondEvents(
      response,
      (function* () {
        for (let at = 0; ; at += 1)
          yield `data: {"id":"c","choices":[{"index":0,"delta":{"content":"${at}"}}]}\n\n`;
      })(),
      { pauseMs: 2 },
    ),
  );
  const client = new OpenAI({
    baseURL: `${gateway.url}/agents/vanisher/proxy/openai/v1`,
    apiKey: AGENT_KEY,
    maxRetries: 0,
  });
  const aborts = Array.from({ length: 20 }, () => new AbortController());
  await Promise.all(
    aborts.map(async (abort, index) => {
      const stream = await client.chat.completions.create(
        { model: 'm', stream: true, messages: [{ role: 'user', content: `vanish ${index * 7919}` }] },
        { signal: abort.signal },
      );
      for await (const _ of stream) {
        abort.abort();
        break;
      }
    }),
  );
  await Promise.all(upstream.calls.map((call) => call.aborted));
  await expect
    .poll(async () => (await gateway.operator('GET', '/v1/agents/vanisher')).body.running_call_count)
    .toBe(0);
});

test('clients that are gone as soon as they have asked leave nothing behind, and take nobody along', async () => {
  upstream.script(always(openaiChat, { text: 'still here' }));
  const { port, hostname } = new URL(gateway.url);
  const clients = await Promise.all(
    Array.from({ length: 60 }, async () => {
      const socket = connect(Number(port), hostname);
      await once(socket, 'connect');
      return { socket, answer: '' };
    }),
  );
  const staying = clients.filter((client, at) => {
    const text = body(`gone ${at * 7919}`);
    const head = [
      'POST /agents/gone-at-once/proxy/openai/v1/chat/completions HTTP/1.1',
      'Host: localhost',
      `Authorization: Bearer ${AGENT_KEY}`,
      'Content-Type: application/json',
      `Content-Length: ${Buffer.byteLength(text)}`,
    ];
    client.socket.on('data', (chunk) => {
      client.answer += chunk;
    });
    client.socket.write(`${head.join('\r\n')}\r\n\r\n${text}`, () => {
      if (at % 3 === 1) client.socket.resetAndDestroy();
      if (at % 3 === 2) client.socket.destroy();
    });
    return at % 3 === 0;
  });
  await expect
    .poll(() => staying.filter(({ answer }) => /^HTTP\/1\.1 200 [\s\S]*still here/.test(answer)).length)
    .toBe(staying.length);
  await expect
    .poll(async () => (await gateway.operator('GET', '/v1/agents/gone-at-once')).body.running_call_count)
    .toBe(0);
  for (const { socket } of staying) socket.destroy();
});
