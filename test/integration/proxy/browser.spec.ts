/**
 * The proxy lives on the dashboard's origin, and what it hands on are strangers' bytes: nothing an upstream answers may
 * become a page there, whatever link somebody with a login follows.
 */
import http from 'node:http';
import { describe, expect, test } from 'vitest';
import { AGENT_KEY } from '../start-gateway.js';
import { gateway, startOneGateway, upstream } from '../start-one-gateway.js';

const PAGE = '<script>fetch("/v1/operators", { method: "POST" })</script>';
/** By each of these one answer would rule over everything else on our origin. */
const RULING = {
  'alt-svc': 'h3="evil.example:443"',
  'clear-site-data': '"*"',
  'content-security-policy': "default-src * 'unsafe-inline'",
  'content-security-policy-report-only': 'report-uri https://evil.example',
  nel: '{"report_to":"evil","max_age":86400}',
  'public-key-pins': 'pin-sha256="AA="; max-age=86400',
  refresh: '0; url=https://evil.example',
  'report-to': '{"group":"evil","max_age":86400,"endpoints":[{"url":"https://evil.example"}]}',
  'reporting-endpoints': 'default="https://evil.example"',
  'service-worker-allowed': '/',
  'set-cookie': 'observatory_session=stolen',
  'strict-transport-security': 'max-age=31536000',
  'x-content-type-options': 'none',
};
const SANDBOX = /^sandbox; default-src 'none'/;

startOneGateway((origin) => ({
  OBSERVATORY_UPSTREAM_OPENAI_URL: `${origin}/v1`,
  OBSERVATORY_UPSTREAM_OPENAI_KEY: 'sk-upstream',
  OBSERVATORY_UPSTREAM_GEMINI_URL: origin,
  OBSERVATORY_UPSTREAM_GEMINI_KEY: 'gk-upstream',
}));

interface Answer {
  status: number | undefined;
  headers: http.IncomingHttpHeaders;
  text: string;
}

/** Unlike `fetch`, it sends `sec-fetch-*` as told. */
const get = (path: string, headers: Record<string, string> = {}, method = 'GET'): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const request = http.get(gateway.url + path, { headers, method }, async (response) => {
      let text = '';
      for await (const chunk of response) text += chunk;
      resolve({ status: response.statusCode, headers: response.headers, text });
    });
    request.on('error', reject);
  });
/** As a browser asks ahead of a call with a key: without one. */
const preflight = (path: string): Promise<Answer> =>
  get(
    path,
    {
      origin: 'https://app.example',
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'authorization,content-type',
      'sec-fetch-mode': 'cors',
      'sec-fetch-dest': 'empty',
    },
    'OPTIONS',
  );
const asAgent = { authorization: `Bearer ${AGENT_KEY}` };
const answerPage = () =>
  upstream.script((_call, response) => {
    response.writeHead(200, { 'content-type': 'text/html', 'x-vendor': 'kept', ...RULING });
    response.end(PAGE);
  });

test("an upstream's page is sandboxed, and rules nothing of our origin", async () => {
  answerPage();
  const { status, headers, text } = await get('/proxy/openai/v1/report', asAgent);
  expect([status, text, headers['content-type'], headers['x-vendor']]).toEqual([
    200,
    PAGE,
    'text/html',
    'kept',
  ]);
  expect(headers['content-security-policy']).toMatch(SANDBOX);
  expect(headers['x-content-type-options']).toBe('nosniff');
  const ours = new Set(['content-security-policy', 'x-content-type-options']);
  for (const name of Object.keys(RULING)) if (!ours.has(name)) expect(headers).not.toHaveProperty(name);
});

test("the proxy's own answers are sandboxed alike", async () => {
  const { status, headers } = await get('/proxy/openai/v1/report');
  expect(status).toBe(401);
  expect(headers['content-security-policy']).toMatch(SANDBOX);
  expect(headers['x-content-type-options']).toBe('nosniff');
});

describe('a key in the query', () => {
  test.each(['openai', 'anthropic'])('opens nothing of kind %s', async (name) => {
    answerPage();
    expect((await get(`/proxy/${name}/report?key=${AGENT_KEY}`)).status).toBe(401);
    expect(upstream.calls).toHaveLength(0);
  });

  test("is taken where the vendor's clients put it, and goes no further", async () => {
    upstream.script((_call, response) => response.end('{"models":[]}'));
    expect((await get(`/proxy/gemini/v1beta/models?pageSize=5&key=${AGENT_KEY}`)).status).toBe(200);
    expect(upstream.calls[0]?.url).toBe('/v1beta/models?pageSize=5');
  });
});

describe('a browser that asks for', () => {
  test.each([
    ['a page', 'navigate', 'document'],
    ['a frame', 'navigate', 'iframe'],
    ['a script', 'no-cors', 'script'],
    ['a service worker', 'same-origin', 'serviceworker'],
    ['a style', 'no-cors', 'style'],
  ])('%s is refused, whatever key the link holds', async (_, mode, destination) => {
    answerPage();
    const { status, text } = await get(`/proxy/gemini/v1beta/report?key=${AGENT_KEY}`, {
      'sec-fetch-mode': mode,
      'sec-fetch-dest': destination,
    });
    expect(status).toBe(403);
    expect(text).not.toContain('<script>');
    expect(text).toContain('The proxy answers programs.');
    expect(upstream.calls).toHaveLength(0);
  });

  test('whether a page of another origin may send a key is told that none may', async () => {
    const asked = await preflight('/proxy/openai/v1/chat/completions');
    expect(asked.status).toBe(403);
    expect(asked.text).toContain('No page of another origin may call the proxy');
    expect(Object.keys(asked.headers).filter((name) => name.startsWith('access-control-'))).toEqual([]);
    expect(upstream.calls).toHaveLength(0);
  });

  test('data, for a program, gets it', async () => {
    upstream.script((_call, response) => {
      response.setHeader('access-control-allow-origin', '*');
      response.end('{"data":[]}');
    });
    const { status, headers, text } = await get('/proxy/openai/v1/models', {
      ...asAgent,
      origin: 'https://app.example',
      'sec-fetch-mode': 'cors',
      'sec-fetch-dest': 'empty',
    });
    expect([status, text, headers['access-control-allow-origin']]).toEqual([200, '{"data":[]}', '*']);
  });
});
