/** HTTP as few write it, from clients and from upstreams, on bare sockets. */
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { AGENT_KEY, type RunningGateway, startGateway } from '../start-gateway.js';

const VENDOR_KEY = 'sk-upstream-canary-0b6e92fd';
const FINE = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}';

let upstream: Server;
/** Heads of requests as they came. */
const seen: string[] = [];
let answer = FINE;
let isLast = false;
let gateway: RunningGateway;
beforeAll(async () => {
  upstream = createServer((socket: Socket) => {
    socket.on('error', () => {});
    socket.on('data', (bytes) => {
      seen.push(bytes.toString('latin1'));
      socket.write(answer, 'latin1');
      if (isLast) socket.end();
    });
  });
  await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve));
  const origin = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`;
  gateway = await startGateway({
    env: {
      OBSERVATORY_UPSTREAM_OPENAI_URL: `${origin}/v1`,
      OBSERVATORY_UPSTREAM_OPENAI_KEY: VENDOR_KEY,
      OBSERVATORY_UPSTREAM_ANTHROPIC_URL: origin,
      OBSERVATORY_UPSTREAM_ANTHROPIC_KEY: VENDOR_KEY,
      OBSERVATORY_UPSTREAM_GEMINI_URL: origin,
      OBSERVATORY_UPSTREAM_GEMINI_KEY: VENDOR_KEY,
    },
  });
});
afterAll(async () => {
  expect(await gateway.stop()).toBe(0);
  await new Promise((resolve) => upstream.close(resolve));
});

/** Resolves with everything that came back. */
function exchange(request: string, answered = FINE, { closes = false } = {}): Promise<string> {
  seen.length = 0;
  answer = answered;
  isLast = closes;
  return new Promise((resolve, reject) => {
    const { port, hostname } = new URL(gateway.url);
    const head = `host: x\r\nauthorization: Bearer ${AGENT_KEY}\r\nconnection: close\r\n`;
    const [line, ...rest] = request.split('\r\n');
    const socket = connect(Number(port), hostname, () =>
      socket.write(`${line} HTTP/1.1\r\n${head}${rest.map((one) => `${one}\r\n`).join('')}\r\n`, 'latin1'),
    );
    let text = '';
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
    });
    socket.on('close', () => resolve(text));
    socket.on('error', reject);
  });
}

describe('a request', () => {
  test.each(['HEAD', 'GET'])('for the base URL alone reaches it: %s', async (method) => {
    expect(await exchange(`${method} /proxy/anthropic`)).toMatch(/^HTTP\/1\.1 200/);
    expect(await exchange(`${method} /proxy/anthropic?beta=1`)).toMatch(/^HTTP\/1\.1 200/);
    expect(seen[0]).toMatch(new RegExp(`^${method} /\\?beta=1 HTTP`));
  });

  test('behind a byte order mark is read, and passed on as it came', async () => {
    seen.length = 0;
    answer = FINE;
    isLast = false;
    const body = '\ufeff{"model":"m","messages":[{"role":"user","content":"żółw"}]}';
    const headers = { authorization: `Bearer ${AGENT_KEY}`, 'content-type': 'application/json' };
    for (const path of ['chat/completions', 'moderations']) {
      const response = await fetch(`${gateway.url}/proxy/openai/v1/${path}`, {
        method: 'POST',
        headers,
        body,
      });
      expect(response.status).toBe(200);
      expect(Buffer.from(seen.join(''), 'latin1').toString()).toContain(`\r\n\r\n${body}`);
    }
  });

  test("to send back what arrived is refused: it would show the gateway's key", async () => {
    const refusal = await exchange('TRACE /proxy/openai/v1/models');
    expect(refusal).toMatch(/^HTTP\/1\.1 400/);
    expect(refusal).toContain('TRACE');
    expect(seen).toEqual([]);
  });

  test.each(['x-http-method-override', 'X-HTTP-Method', 'x-method-override'])(
    'that names another method in %s is refused: the guards go by its own',
    async (name) => {
      const refusal = await exchange(`GET /proxy/openai/v1/chat/completions\r\n${name}: POST`);
      expect(refusal).toMatch(/^HTTP\/1\.1 400/);
      expect(refusal).toContain('x-http-method-override');
      expect(seen).toEqual([]);
    },
  );

  test.each([
    '{"model":"a","model":"b","messages":[]}',
    '{"model":"a","messages":[{"role":"user","content":"one","c\\u006fntent":"two"}]}',
    '{"model":"a","messages":[],"Messages":[{"role":"user","content":"one"}]}',
    '{"model":"a","messages":[{"role":"user","content":"one","Content":"two"}]}',
  ])(
    'that says something twice, or in letters of another case, is refused: what would the upstream believe? %s',
    async (body) => {
      seen.length = 0;
      const response = await fetch(`${gateway.url}/proxy/openai/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${AGENT_KEY}`, 'content-type': 'application/json' },
        body,
      });
      expect(response.status).toBe(400);
      expect(await response.json()).toMatchObject({ error: { code: 'invalid_json' } });
      expect(seen).toEqual([]);
    },
  );

  test.each([
    'application/json; charset=utf-7',
    'application/json; charset="UTF-16LE"',
    'application/json; charset=utf-8; charset=utf-7',
    'application/json\r\ncontent-type: application/json; charset=utf-7',
  ])(
    'in another charset than UTF-8 is refused: its upstream may read other letters than the guards do: %s',
    async (type) => {
      const body = '{"model":"m","messages":[{"role":"user","content":"+AGE-"}]}';
      const refusal = await exchange(
        `POST /proxy/openai/v1/chat/completions\r\ncontent-type: ${type}\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
      );
      expect(refusal).toMatch(/^HTTP\/1\.1 415/);
      expect(refusal).toContain('UTF-8');
      expect(seen).toEqual([]);
    },
  );

  test.each([
    'application/json;charset=UTF-8',
    'application/json; charset="utf8"',
    'text/plain; charset=US-ASCII',
  ])('in UTF-8, or in letters that are alike there, goes on: %s', async (type) => {
    const response = await fetch(`${gateway.url}/proxy/openai/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${AGENT_KEY}`, 'content-type': type },
      body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content: type }] }),
    });
    expect(response.status).toBe(200);
  });

  test('for a tunnel is told that there is none, and what to do instead', async () => {
    const refusal = await exchange('CONNECT api.openai.com:443');
    expect(refusal).toMatch(/^HTTP\/1\.1 400 This is no forward proxy/);
    const [head = '', body = ''] = refusal.split('\r\n\r\n');
    expect(head).toContain(`content-length: ${body.length}`);
    expect(JSON.parse(body)).toMatchObject({
      status: 'error',
      reason: 'invalid_request',
      detail: expect.stringContaining('give your client a base URL'),
    });
    expect(seen).toEqual([]);
  });

  test('names hop-by-hop headers in a second Connection, too', async () => {
    await exchange('GET /proxy/openai/v1/models\r\nconnection: x-secret-hop\r\nx-secret-hop: 1\r\nx-kept: 1');
    expect(seen[0]).toContain('x-kept: 1');
    expect(seen[0]).not.toContain('x-secret-hop');
  });
});

describe('an answer', () => {
  const GET = 'GET /proxy/openai/v1/files/f/content';

  test('names hop-by-hop headers in a second Connection, too', async () => {
    const text = await exchange(
      GET,
      'HTTP/1.1 200 OK\r\nconnection: keep-alive\r\nconnection: x-internal\r\nx-internal: 1\r\nx-kept: 1\r\ncontent-length: 2\r\n\r\n{}',
    );
    expect(text).toContain('x-kept: 1');
    expect(text).not.toContain('x-internal');
  });

  test.each(['304 Not Modified', '204 No Content'])('of %s that names a length is whole', async (status) => {
    const text = await exchange(GET, `HTTP/1.1 ${status}\r\netag: "a"\r\ncontent-length: 200\r\n\r\n`);
    expect(text.slice(0, 12)).toBe(`HTTP/1.1 ${status.slice(0, 3)}`);
    expect(text).toContain('etag: "a"');
    expect(await exchange(GET)).toMatch(/^HTTP\/1\.1 200/);
  });

  test.each([
    ['529 Overloaded', '529 Overloaded'],
    ['200 Fine by us', '200 Fine by us'],
    ['200 ', '200 OK'],
    ['200 \xe2\x82\xac', '200 OK'],
    [`401 ${VENDOR_KEY} is not ours`, `401 ${'*'.repeat(VENDOR_KEY.length)} is not ours`],
  ])('keeps its reason phrase, of what a status line may hold: %s', async (said, told) => {
    const text = await exchange(GET, `HTTP/1.1 ${said}\r\ncontent-length: 2\r\n\r\n{}`);
    expect(text.split('\r\n', 1)).toEqual([`HTTP/1.1 ${told}`]);
  });

  test.each([
    ['Content-Type: text/event-stream', ['no']],
    ['Content-Type: text/event-stream\r\nX-Accel-Buffering: yes', ['yes']],
    ['Content-Type: application/json', []],
  ])('that is a stream no reverse proxy collects, unless the vendor says so: %s', async (headers, told) => {
    const text = await exchange(GET, `HTTP/1.1 200 OK\r\n${headers}\r\ncontent-length: 2\r\n\r\n{}`);
    expect([...text.matchAll(/^x-accel-buffering: (.*)$/gim)].map(([, value]) => value)).toEqual(told);
  });

  test('that is a stream of no events is not collected either', async () => {
    const text = await exchange(
      'POST /proxy/gemini/v1beta/models/gemini-2.5-flash:streamGenerateContent\r\ncontent-length: 15\r\n\r\n{"contents":[]}',
      'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n[]',
    );
    expect(text).toMatch(/^x-accel-buffering: no$/m);
  });

  test('goes by what is said ahead of it', async () => {
    const hints = 'HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\nHTTP/1.1 102 Processing\r\n\r\n';
    expect(await exchange(GET, hints + FINE)).toMatch(/^HTTP\/1\.1 200 OK/);
  });

  test('behind a 100 Continue that nobody asked for is refused with its reason', async () => {
    const refusal = await exchange(GET, `HTTP/1.1 100 Continue\r\n\r\n${FINE}`);
    expect(refusal).toMatch(/^HTTP\/1\.1 502/);
    expect(refusal).toContain('The upstream openai said \\"100 Continue\\"');
    expect(await exchange(GET)).toMatch(/^HTTP\/1\.1 200/);
  });

  test.each([
    ['no HTTP', 'hello there\r\n\r\n', true],
    ['of two lengths', 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\n{}x', false],
    ['of a header beyond measure', `HTTP/1.1 200 OK\r\nx-l: ${'a'.repeat(30_000)}\r\n\r\n`, false],
  ])('that is %s comes from an upstream that was reached', async (_, text, closes) => {
    const refusal = await exchange(GET, text, { closes });
    expect(refusal).toMatch(/^HTTP\/1\.1 502/);
    expect(refusal).not.toContain('could not be reached');
    expect(refusal).toContain('The upstream openai gave no answer');
  });
});
