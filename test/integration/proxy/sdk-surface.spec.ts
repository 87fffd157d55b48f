/**
 * What vendors' SDKs do beside asking a model: files, batches, pictures, recordings, searches. Each call is made twice, to the
 * upstream itself and through the proxy: the same must arrive, and the same come back.
 */
import { createHash, randomBytes } from 'node:crypto';
import Anthropic, { toFile as toAnthropicFile } from '@anthropic-ai/sdk';
import { GoogleGenAI } from '@google/genai';
import OpenAI, { toFile } from 'openai';
import { describe, expect, test } from 'vitest';
import { respondEvents, respondJson, ScriptedUpstream, type UpstreamCall } from '#testing';
import { AGENT_KEY } from '../start-gateway.js';
import { gateway, startOneGateway, upstream, upstreamsAt } from '../start-one-gateway.js';

const VENDOR_KEY = 'sk-upstream-canary-d41f7a03';
const BYTES = randomBytes(300_000);

startOneGateway((origin) => upstreamsAt(origin, VENDOR_KEY));

/** Of no vendor, with something of each: SDKs pass on what they are given. */
const anything = {
  id: 'some_1',
  status: 'completed',
  data: [{ id: 'one' }, { id: 'two' }],
  has_more: false,
  name: 'files/one',
  done: true,
  file_counts: { completed: 1, in_progress: 0 },
};
const events = ['first', 'second'].map(
  (type) => `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: 1, b64_json: 'AAAA' })}\n\n`,
);

const script = (call: UpstreamCall, response: Parameters<Parameters<ScriptedUpstream['script']>[0]>[1]) => {
  const asked = call.body.toString('latin1') + call.url;
  if (/"stream":true|stream=true|name="stream"\r\n\r\ntrue/.test(asked))
    return respondEvents(response, events);
  if (/\/content$|\/speech$/.test(call.url)) return response.end(BYTES);
  return respondJson(response, 200, anything, { 'request-id': 'req_1', 'x-request-id': 'req_1' });
};

/** The connection's, the keys, and what differs between two calls of one SDK. */
const NOT_COMPARED =
  /^(host|connection|content-length|transfer-encoding|accept-encoding|authorization|x-api-key|x-goog-api-key|idempotency-key|x-stainless-.*|sec-fetch-mode|accept-language)$/;
/** Undici's and the SDKs' own: new for each form. */
const withoutBoundary = (text: string) => text.replaceAll(/-{2,}formdata-\w+-\d+/g, 'boundary');

const arrived = () =>
  upstream.calls.map(({ method, url, headers, body }) => ({
    method,
    url,
    headers: Object.entries(headers)
      .filter(([name]) => !NOT_COMPARED.test(name))
      .map(([name, value]) => `${name}: ${withoutBoundary(String(value))}`)
      .sort(),
    body: withoutBoundary(body.toString('latin1')),
  }));

const digest = (bytes: ArrayBuffer) => createHash('sha256').update(new Uint8Array(bytes)).digest('hex');
const bytesOf = async (response: Promise<Response>) => digest(await (await response).arrayBuffer());
const all = async (stream: PromiseLike<AsyncIterable<unknown>>) => {
  const seen: unknown[] = [];
  for await (const one of await stream) seen.push(one);
  return seen;
};
const form = () => toFile(BYTES, 'späte Äpfel.bin', { type: 'application/octet-stream' });

async function alike<Client>(make: (proxied: boolean) => Client, ask: (client: Client) => Promise<unknown>) {
  const seen: unknown[] = [];
  for (const proxied of [false, true]) {
    upstream.script(script);
    const answer = await ask(make(proxied));
    const keys = upstream.calls.map(({ headers }) => JSON.stringify(headers));
    expect(keys.length).toBeGreaterThan(0);
    for (const key of keys) expect(key.includes(AGENT_KEY)).toBe(false);
    seen.push({ answer: JSON.stringify(answer), arrived: arrived() });
  }
  expect(seen[1]).toEqual(seen[0]);
}

const openai = (proxied: boolean) =>
  new OpenAI({
    baseURL: proxied ? `${gateway.url}/proxy/openai/v1` : `${upstream.origin}/v1`,
    apiKey: proxied ? AGENT_KEY : VENDOR_KEY,
    maxRetries: 0,
  });

describe('OpenAI', () => {
  test.each<[string, (client: OpenAI) => Promise<unknown>]>([
    ['a file is left', async ({ files }) => files.create({ file: await form(), purpose: 'user_data' })],
    ['a file is read', ({ files }) => bytesOf(files.content('file-1'))],
    ['files are listed', ({ files }) => all(files.list())],
    [
      'an upload in parts',
      async ({ uploads }) => [
        await uploads.create({ bytes: 3, filename: 'f', mime_type: 'text/plain', purpose: 'batch' }),
        await uploads.parts.create('upload_1', { data: await form() }),
        await uploads.complete('upload_1', { part_ids: ['part_1'] }),
      ],
    ],
    [
      'speech',
      ({ audio }) => bytesOf(audio.speech.create({ model: 'tts-1', voice: 'alloy', input: 'Grüezi' })),
    ],
    [
      'a recording, streamed',
      async ({ audio }) =>
        all(audio.transcriptions.create({ file: await form(), model: 'gpt-4o-transcribe', stream: true })),
    ],
    [
      'pictures as they appear',
      ({ images }) =>
        all(images.generate({ model: 'gpt-image-1', prompt: 'a boat', stream: true, partial_images: 2 })),
    ],
    [
      'a picture changed',
      async ({ images }) => images.edit({ model: 'gpt-image-1', image: [await form()], prompt: 'a boat' }),
    ],
    [
      'a response in the background',
      async ({ responses }) => [
        await all(responses.retrieve('resp_1', { stream: true, starting_after: 3 })),
        await responses.cancel('resp_1'),
        await all(responses.inputItems.list('resp_1')),
        await responses.delete('resp_1'),
      ],
    ],
    [
      'a conversation',
      async ({ conversations }) => [
        await conversations.create({ metadata: { a: 'b' } }),
        await conversations.items.create('conv_1', { items: [{ role: 'user', content: 'Hi' }] }),
        await conversations.delete('conv_1'),
      ],
    ],
    [
      'a vector store',
      async ({ vectorStores }) => [
        await vectorStores.files.uploadAndPoll('vs_1', await form()),
        await all(vectorStores.search('vs_1', { query: 'late apples' })),
      ],
    ],
    [
      'what is neither',
      async (client) => [
        await client.moderations.create({ input: 'Hi' }),
        await client.batches.create({
          completion_window: '24h',
          endpoint: '/v1/responses',
          input_file_id: 'file-1',
        }),
        await client.containers.files.create('cntr_1', { file: await form() }),
        await client.models.retrieve('ft:gpt-4o:org::id/with slash'),
      ],
    ],
  ])('%s', (_, ask) => alike(openai, ask));
});

const anthropic = (proxied: boolean) =>
  new Anthropic({
    baseURL: proxied ? `${gateway.url}/proxy/anthropic` : upstream.origin,
    apiKey: proxied ? AGENT_KEY : VENDOR_KEY,
    maxRetries: 0,
  });
const message = {
  model: 'claude-sonnet-4-5',
  max_tokens: 5,
  messages: [{ role: 'user' as const, content: 'Hi' }],
};

describe('Anthropic', () => {
  test.each<[string, (client: Anthropic) => Promise<unknown>]>([
    ['tokens are counted', ({ messages }) => messages.countTokens(message)],
    [
      'a batch',
      async ({ messages }) => [
        await messages.batches.create({ requests: [{ custom_id: 'a', params: message }] }),
        await messages.batches.cancel('b_1'),
        await all(messages.batches.list({ limit: 2 })),
      ],
    ],
    [
      'files',
      async ({ beta }) => [
        await beta.files.upload({ file: await toAnthropicFile(BYTES, 'f.bin') }),
        await bytesOf(beta.files.download('file_1')),
        await beta.files.delete('file_1'),
      ],
    ],
    ['models', ({ models }) => all(models.list())],
  ])('%s', (_, ask) => alike(anthropic, ask));
});

const gemini = (proxied: boolean) =>
  new GoogleGenAI({
    apiKey: proxied ? AGENT_KEY : VENDOR_KEY,
    httpOptions: { baseUrl: proxied ? `${gateway.url}/proxy/gemini` : upstream.origin },
  });
const model = 'gemini-2.5-flash';

describe('Gemini', () => {
  test.each<[string, (client: GoogleGenAI) => Promise<unknown>]>([
    [
      'what is counted, embedded and kept',
      async ({ models, caches }) => [
        (await models.countTokens({ model, contents: 'Hi' })).totalTokens,
        (await models.embedContent({ model: 'gemini-embedding-001', contents: 'Hi' })).embeddings,
        (await caches.create({ model, config: { contents: 'Hi', ttl: '60s' } })).name,
      ],
    ],
    [
      'films and what becomes of them',
      async ({ models, operations }) => {
        const operation = await models.generateVideos({
          model: 'veo-3.0-generate-001',
          source: { prompt: 'A boat' },
        });
        return (await operations.getVideosOperation({ operation })).done;
      },
    ],
    [
      'files',
      async ({ files }) => [
        (await files.get({ name: 'files/one' })).name,
        await files.delete({ name: 'one' }),
      ],
    ],
  ])('%s', async (_, ask) => {
    await alike(gemini, async (client) => {
      const seen = await ask(client);
      // With the head of the answer, which is of the hour.
      return JSON.parse(
        JSON.stringify(seen, (key, value) => (key === 'sdkHttpResponse' ? undefined : value)),
      );
    });
  });
});
