/**
 * Where an upstream's answer names an address to go on at, and vendors' SDKs go there with the key they have: an agent key,
 * which the upstream must not see and would refuse.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import Anthropic from '@anthropic-ai/sdk';
import { GoogleGenAI } from '@google/genai';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { respondJson, ScriptedUpstream } from '#testing';
import { AGENT_KEY } from '../start-gateway.js';
import { gateway, startOneGateway, upstream, upstreamsAt } from '../start-one-gateway.js';

const VENDOR_KEY = 'sk-upstream-canary-77c0a1e4';

let elsewhere: ScriptedUpstream;
afterAll(() => expect(gateway.output()).not.toContain(VENDOR_KEY));
startOneGateway((origin) => upstreamsAt(origin, VENDOR_KEY));
beforeAll(async () => {
  elsewhere = await new ScriptedUpstream().listen();
});
beforeEach(() => elsewhere.script((_call, response) => respondJson(response, 200, {})));
afterAll(() => elsewhere.close());

const googles = (agent: string) =>
  new GoogleGenAI({
    apiKey: AGENT_KEY,
    httpOptions: { baseUrl: `${gateway.url}/agents/${agent}/proxy/gemini` },
  });
const callsOf = async (agent: string) =>
  (await gateway.operator('GET', `/v1/calls?agent_id=${encodeURIComponent(agent)}`)).body.items;
const keysSeen = () => upstream.calls.map(({ headers }) => headers['x-api-key'] ?? headers['x-goog-api-key']);

test("Google's SDK uploads a file, piece by piece, where its first answer says", async () => {
  const pieces: Buffer[] = [];
  upstream.script(({ headers, body }, response) => {
    const command = String(headers['x-goog-upload-command']);
    if (command === 'start') {
      const address = `${upstream.origin}/upload/v1beta/files?upload_id=a%2Fb&upload_protocol=resumable`;
      return respondJson(response, 200, {}, { 'x-goog-upload-url': address });
    }
    pieces.push(body);
    const isLast = command.includes('finalize');
    const file = { name: 'files/abc', mimeType: 'text/plain' };
    return respondJson(response, 200, { file }, { 'x-goog-upload-status': isLast ? 'final' : 'active' });
  });
  const bytes = Buffer.alloc(9_000_000, 'a piece of text ');
  const file = await googles('uploads a file').files.upload({
    file: new Blob([bytes], { type: 'text/plain' }),
  });
  expect(file.name).toBe('files/abc');
  expect(Buffer.concat(pieces).equals(bytes)).toBe(true);
  expect(upstream.calls.map(({ url }) => url)).toEqual([
    '/upload/v1beta/files',
    ...pieces.map(() => '/upload/v1beta/files?upload_id=a%2Fb&upload_protocol=resumable'),
  ]);
  expect(new Set(keysSeen())).toEqual(new Set([VENDOR_KEY]));
  const calls = await callsOf('uploads a file');
  expect(calls).toHaveLength(3);
  expect(calls.map((call: { cost_usd: number }) => call.cost_usd)).toEqual([0, 0, 0]);
});

test("Google's SDK downloads a file where a redirect says", async () => {
  upstream.script((call, response) =>
    call.url.startsWith('/download/')
      ? response.end('the film')
      : response.writeHead(302, { location: `${upstream.origin}/download${call.url}` }).end(),
  );
  const downloadPath = join(gateway.dataDir, 'film.mp4');
  await googles('downloads').files.download({ file: 'files/film', downloadPath });
  await expect.poll(() => readFileSync(downloadPath, 'utf8')).toBe('the film');
  expect(upstream.calls.map(({ url }) => url)).toEqual([
    '/v1beta/files/film:download?alt=media',
    '/download/v1beta/files/film:download?alt=media',
  ]);
  expect(keysSeen()).toEqual([VENDOR_KEY, VENDOR_KEY]);
});

describe("Anthropic's batches", () => {
  const batch = (id: string) => ({
    id,
    type: 'message_batch',
    processing_status: 'ended',
    results_url: `${upstream.origin}/v1/messages/batches/${id}/results`,
  });

  test("give their results to Anthropic's SDK", async () => {
    upstream.script(({ url }, response) => {
      if (!url.endsWith('/results')) return respondJson(response, 200, batch('b_1'));
      response.writeHead(200, { 'content-type': 'application/x-jsonl' });
      return response.end('{"custom_id":"first"}\n{"custom_id":"second"}\n');
    });
    const client = new Anthropic({ baseURL: `${gateway.url}/proxy/anthropic`, apiKey: AGENT_KEY });
    const seen: string[] = [];
    for await (const { custom_id } of await client.messages.batches.results('b_1')) seen.push(custom_id);
    expect(seen).toEqual(['first', 'second']);
    expect(keysSeen()).toEqual([VENDOR_KEY, VENDOR_KEY]);
  });

  test('are left as they came but for the address, in whatever spelling', async () => {
    const text = (origin: string) =>
      `{ "data" : [ {"results_url" :\n"${origin}/v1/messages/batches/b/results","note":"caf\u00e9 \\u00e9 \\/"},` +
      `{"results_url":null},{"results_url":"https://elsewhere.example/x","said":"\\"results_url\\":\\"${upstream.origin}/y\\""} ] }\n`;
    upstream.script((_call, response) => {
      response.writeHead(200, {
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(text(upstream.origin)),
      });
      response.end(text(upstream.origin));
    });
    const response = await fetch(`${gateway.url}/agents/a%20b/proxy/anthropic/v1/messages/batches?limit=2`, {
      headers: { 'x-api-key': AGENT_KEY },
    });
    expect(await response.text()).toBe(text(`${gateway.url}/agents/a%20b/proxy/anthropic`));
  });

  test('that are very many go by as they came', async () => {
    const text = JSON.stringify({ data: Array.from({ length: 60_000 }, (_, at) => batch(`b_${at}`)) });
    upstream.script((_call, response) => response.end(text));
    const response = await fetch(`${gateway.url}/proxy/anthropic/v1/messages/batches`, {
      headers: { 'x-api-key': AGENT_KEY },
    });
    expect((await response.text()) === text).toBe(true);
  });
});

describe('a redirect', () => {
  const redirected = async (
    location: string,
    headers: Record<string, string>,
    path = '/proxy/openai/v1/files/f',
  ) => {
    upstream.script((_call, response) => response.writeHead(307, { location }).end());
    return fetch(gateway.url + path, { headers, redirect: 'manual' });
  };
  const byBearer = { authorization: `Bearer ${AGENT_KEY}` };

  test.each([
    ['/v1/files/g?a=%20', '/proxy/openai/v1/files/g?a=%20'],
    ['g', '/proxy/openai/v1/files/g'],
    ['../models', '/proxy/openai/v1/models'],
    ['ORIGIN/v1', '/proxy/openai/v1'],
  ])('within the upstream, to %s, stays within the proxy', async (location, expected) => {
    const response = await redirected(location.replace('ORIGIN', upstream.origin), byBearer);
    expect([response.status, response.headers.get('location')]).toEqual([307, expected]);
  });

  test.each([
    ['beside its base', '/login?next=a', () => `${upstream.origin}/login?next=a`],
    ['to another host', 'https://files.example/f?sig=1', () => 'https://files.example/f?sig=1'],
  ])(
    '%s means what the upstream meant, for a client that takes no bearer key there',
    async (_, location, expected) => {
      const response = await redirected(location, byBearer);
      expect([response.status, response.headers.get('location')]).toEqual([307, expected()]);
    },
  );

  test('to https, where the base URL should have led, is refused with any key: it would arrive with none', async () => {
    const secured = `https://${new URL(upstream.origin).hostname}/v1/files/f`;
    const response = await redirected(secured, byBearer);
    expect([response.status, response.headers.get('location')]).toEqual([502, null]);
    expect(await response.text()).toContain('Set the base URL of openai to where the API is.');
  });

  test.each(['x-api-key', 'x-goog-api-key', 'x-observatory-key'])(
    'elsewhere is not followed with an agent key in %s',
    async (name) => {
      const location = `${elsewhere.origin}/steal`;
      upstream.script((_call, response) => response.writeHead(308, { location }).end());
      const response = await fetch(`${gateway.url}/proxy/openai/v1/models`, {
        headers: { [name]: AGENT_KEY },
      });
      expect(response.status).toBe(502);
      expect(response.headers.get('x-should-retry')).toBe('false');
      expect(await response.text()).toContain(`redirects to ${elsewhere.origin}, outside its base URL`);
      expect(elsewhere.calls).toHaveLength(0);
    },
  );
});
