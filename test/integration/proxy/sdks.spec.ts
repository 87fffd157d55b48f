/** The vendors' own SDKs through the proxy, against an upstream scripted at the wire: unmodified but for the base URL. */
import { randomBytes } from 'node:crypto';
import Anthropic from '@anthropic-ai/sdk';
import { GoogleGenAI } from '@google/genai';
import OpenAI, { AzureOpenAI } from 'openai';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import type { LlmCall } from '#contracts';
import { respondEvents, respondJson, ScriptedUpstream } from '#testing';
import { AGENT_KEY, type RunningGateway, startGateway } from '../start-gateway.js';
import { gateway, startOneGateway, upstream, upstreamsAt } from '../start-one-gateway.js';
import { chatBody } from './vendor-requests.js';
import {
  always,
  anthropic,
  gemini,
  geminiInteractions,
  openaiChat,
  VENDORS,
  type Vendor,
} from './vendors.js';

const VENDOR_KEY = 'sk-upstream-canary-5f1c0d2e';

afterAll(async () => {
  expect(gateway.output()).not.toContain(VENDOR_KEY);
});
startOneGateway((origin) => ({
  ...upstreamsAt(origin, VENDOR_KEY),
  OBSERVATORY_UPSTREAM_AZURE_URL: origin,
  OBSERVATORY_UPSTREAM_AZURE_KEY: VENDOR_KEY,
  OBSERVATORY_UPSTREAM_LOCAL_VLLM_URL: `${origin}/serve/v1`,
}));

/** For the test that waits for its patience to end. */
let hasty: RunningGateway;
beforeAll(async () => {
  const env = { ...upstreamsAt(upstream.origin, VENDOR_KEY), UPSTREAM_HEADERS_TIMEOUT_MS: '1500' };
  hasty = await startGateway({ env });
});
afterAll(async () => {
  expect(await hasty.stop()).toBe(0);
});

let serial = 0;
const freshSession = () => ({ 'x-observatory-session': `sdk-${++serial}` });
/** Newest first. */
const callsIn = async (headers: ReturnType<typeof freshSession>, on = gateway): Promise<LlmCall[]> =>
  (await on.operator('GET', `/v1/calls?session_id=${headers['x-observatory-session']}`)).body.items;

describe.each(VENDORS)('$name', (vendor) => {
  test('answers as without the proxy', async () => {
    upstream.script(always(vendor, { text: 'The capital is Bern — 北京 is another.' }));
    const seen = await vendor.ask(gateway.url, 'What is the capital?', { headers: freshSession() });
    expect(seen).toEqual({ text: 'The capital is Bern — 北京 is another.', toolCalls: [] });
    expect(upstream.calls).toHaveLength(1);
  });

  test('streams, character for character', async () => {
    upstream.script(always(vendor, { text: 'Streaming: äöü 🙂 done.' }));
    const seen = await vendor.askStreaming(gateway.url, 'Stream, please', { headers: freshSession() });
    expect(seen.text).toBe('Streaming: äöü 🙂 done.');
  });

  test('calls tools, whole and streamed', async () => {
    const toolCall = { name: 'search', arguments: { query: 'weather in "Zürich"', days: [1, 2] } };
    upstream.script(always(vendor, { toolCall }));
    const toolCalls = [{ ...toolCall, id: vendor.callId }];
    for (const ask of [vendor.ask, vendor.askStreaming])
      expect(await ask(gateway.url, 'Search', { headers: freshSession() })).toEqual({ text: '', toolCalls });
  });

  test("puts the gateway's key in and never sends the agent's", async () => {
    upstream.script(always(vendor, { text: 'ok' }));
    await vendor.ask(gateway.url, 'Whose key?', { headers: freshSession() });
    const [call] = upstream.calls;
    expect(JSON.stringify(call?.rawHeaders)).toContain(VENDOR_KEY);
    expect(JSON.stringify(call?.rawHeaders) + call?.url).not.toContain(AGENT_KEY);
    expect(Object.keys(call?.headers ?? {}).filter((name) => name.startsWith('x-observatory'))).toEqual([]);
  });

  test('is recorded with model, tokens, cost and time, and shows up as a session', async () => {
    upstream.script(always(vendor, { text: 'counted' }));
    const headers = freshSession();
    const agent = `agent of ${vendor.name}`;
    await vendor.ask(gateway.url, 'Count me', { headers, agent });
    await vendor.askStreaming(gateway.url, 'Count me too', { headers, agent });
    const session = headers['x-observatory-session'];
    const { body } = await gateway.operator('GET', `/v1/calls?session_id=${session}`);
    expect(body.items).toHaveLength(2);
    for (const call of body.items) {
      expect(call).toMatchObject({
        agent_id: agent,
        upstream: vendor.upstream,
        status: 200,
        decision: 'forwarded',
        usage: { input_tokens: 100, cached_input_tokens: 40, output_tokens: 20 },
      });
      expect(call.cost_usd).toBeGreaterThan(0);
      expect(call.first_byte_ms).toBeGreaterThan(0);
      expect(call.duration_ms).toBeGreaterThanOrEqual(call.first_byte_ms);
    }
    await expect
      .poll(async () => (await gateway.operator('GET', `/v1/sessions/${session}`)).body.step_count)
      .toBe(2);
    const row = (await gateway.operator('GET', `/v1/sessions/${session}`)).body;
    expect(row).toMatchObject({ agent_id: agent, control: { mode: 'enforced' } });
  });

  test("passes the upstream's own error through, in its own shape", async () => {
    upstream.script((_call, response) =>
      respondJson(response, 400, {
        error: {
          message: 'no such model',
          type: 'invalid_request_error',
          code: 400,
          status: 'INVALID_ARGUMENT',
        },
      }),
    );
    await expect(vendor.ask(gateway.url, 'Wrong', { headers: freshSession() })).rejects.toMatchObject({
      status: 400,
    });
  });

  test('gets a 504 where the upstream takes too long, which its SDK tries again', async () => {
    upstream.script((call, response, index) => {
      if (index > 0) vendor.answer(call, response, { text: 'second try' });
    });
    const headers = freshSession();
    const seen = await vendor.ask(hasty.url, 'Slow', { headers, maxRetries: 1 });
    expect(seen.text).toBe('second try');
    expect(upstream.calls).toHaveLength(2);
    expect((await callsIn(headers, hasty)).map(({ status }) => status)).toEqual([200, 504]);
  });

  test('tries a 500 again by itself, and is recorded to do so where its SDK says so', async () => {
    upstream.script((call, response, index) =>
      index === 0
        ? respondJson(response, 500, { error: { message: 'overloaded' } })
        : vendor.answer(call, response, { text: 'fine' }),
    );
    const headers = freshSession();
    const seen = await vendor.ask(gateway.url, 'Again', { headers, maxRetries: 2 });
    expect(seen.text).toBe('fine');
    // Google's says nothing of it.
    const is_retry = vendor.upstream !== 'gemini';
    expect(await callsIn(headers)).toMatchObject([
      { status: 200, is_retry },
      { status: 500, is_retry: false },
    ]);
  });

  test('takes the upstream with it when it leaves mid-stream', async () => {
    upstream.script(always(vendor, { text: 'and so it goes on', hangs: true }));
    const headers = freshSession();
    const leave = new AbortController();
    const onText = () => leave.abort();
    await expect(
      vendor.askStreaming(gateway.url, 'Forever', { headers, signal: leave.signal, onText }),
    ).rejects.toThrow();
    expect(leave.signal.aborted).toBe(true);
    await upstream.calls[0]?.aborted;
    await expect.poll(() => callsIn(headers)).toMatchObject([{ decision: 'aborted', status: 499 }]);
  });

  test('sends 20 MB with an image, which arrive whole', async () => {
    upstream.script(always(vendor, { text: 'big' }));
    const image = randomBytes(15_000_000).toString('base64');
    const seen = await vendor.ask(gateway.url, 'What is this?', { headers: freshSession(), image });
    expect(seen.text).toBe('big');
    expect(upstream.calls).toHaveLength(1);
    expect(upstream.calls[0]?.body.length).toBeGreaterThan(20_000_000);
    expect(upstream.calls[0]?.body.includes(image)).toBe(true);
  });

  test('gets thousands of stream events in order, and their usage is read', async () => {
    // Seven characters each, as many as an event has.
    const said = Array.from({ length: 5_000 }, (_, at) => `${at}`.padStart(6, '0').concat(','));
    upstream.script(always(vendor, { text: said.join('') }));
    const headers = freshSession();
    const pieces: string[] = [];
    const onText = (piece: string) => void pieces.push(piece);
    await vendor.askStreaming(gateway.url, 'Count', { headers, onText });
    expect(pieces).toEqual(said);
    await expect
      .poll(() => callsIn(headers))
      .toMatchObject([{ usage: { input_tokens: 100, output_tokens: 20 } }]);
  });
});

test("Azure's SDK brings the agent key in a header of its own, and the vendor's goes on in the same", async () => {
  upstream.script(always(openaiChat, { text: 'Through Azure.' }));
  const client = new AzureOpenAI({
    endpoint: `${gateway.url}/agents/of-azure/proxy/azure`,
    apiKey: AGENT_KEY,
    apiVersion: '2024-10-21',
  });
  const answer = await client.chat.completions.create({
    model: 'gpt-4o',
    messages: [{ role: 'user', content: 'Which way?' }],
  });
  expect(answer.choices[0]?.message.content).toBe('Through Azure.');
  const [call] = upstream.calls;
  expect(call?.url).toBe('/openai/deployments/gpt-4o/chat/completions?api-version=2024-10-21');
  expect(call?.headers).toMatchObject({ 'api-key': VENDOR_KEY });
  expect(call?.headers).not.toHaveProperty('authorization');
  const { body } = await gateway.operator('GET', '/v1/calls?agent_id=of-azure');
  expect(body.items).toMatchObject([{ upstream: 'azure', model: expect.any(String), status: 200 }]);
});

describe('a base URL that ends in the version that the SDK puts there itself', () => {
  const messages = [{ role: 'user' as const, content: 'Is anybody there?' }];

  test('is one version for the vendor: openai', async () => {
    upstream.script(always(openaiChat, { text: 'Yes.' }));
    const client = new OpenAI({ baseURL: `${gateway.url}/proxy/openai/v1/v1`, apiKey: AGENT_KEY });
    await client.chat.completions.create({ model: 'gpt-4o-mini', messages });
    expect(upstream.calls.map(({ url }) => url)).toEqual(['/v1/chat/completions']);
  });

  test("is one version for the vendor: Anthropic's", async () => {
    upstream.script(always(anthropic, { text: 'Yes.' }));
    const client = new Anthropic({ baseURL: `${gateway.url}/proxy/anthropic/v1`, apiKey: AGENT_KEY });
    await client.messages.create({ model: 'claude-sonnet-4-5', max_tokens: 100, messages });
    expect(upstream.calls.map(({ url }) => url)).toEqual(['/v1/messages']);
  });

  test("is one version for the vendor: Google's", async () => {
    upstream.script(always(gemini, { text: 'Yes.' }));
    const baseUrl = `${gateway.url}/proxy/gemini/v1beta`;
    const client = new GoogleGenAI({ apiKey: AGENT_KEY, httpOptions: { baseUrl } });
    await client.models.generateContent({ model: 'gemini-2.5-flash', contents: 'Is anybody there?' });
    expect(upstream.calls.map(({ url }) => url)).toEqual(['/v1beta/models/gemini-2.5-flash:generateContent']);
  });
});

describe('a client that hangs up behind the last word of its stream, and waits for no end of the connection', () => {
  /** All the events of an answer, whose connection stays open behind them. */
  const staysOpen = (vendor: Vendor) =>
    upstream.script((call, response) => {
      response.end = () => response;
      return vendor.answer(call, response, { text: 'All of it.' });
    });
  const answered = {
    decision: 'forwarded',
    status: 200,
    detail: null,
    usage: { input_tokens: 100, cached_input_tokens: 40, output_tokens: 20 },
  };

  test('has been answered: the openai SDK from 7 on', async () => {
    staysOpen(openaiChat);
    const headers = freshSession();
    const leave = new AbortController();
    const { body } = await fetch(`${gateway.url}/proxy/openai/v1/chat/completions`, {
      method: 'POST',
      headers: { ...headers, authorization: `Bearer ${AGENT_KEY}`, 'content-type': 'application/json' },
      body: JSON.stringify({ ...chatBody('Hello', {}), stream: true }),
      signal: leave.signal,
    });
    let seen = '';
    for await (const bytes of body as ReadableStream<Uint8Array>) {
      seen += Buffer.from(bytes);
      if (seen.endsWith('data: [DONE]\n\n')) break;
    }
    leave.abort();
    await upstream.calls[0]?.aborted;
    await expect.poll(() => callsIn(headers)).toMatchObject([answered]);
  });

  test("has been answered: Google's interactions", async () => {
    staysOpen(geminiInteractions);
    const headers = freshSession();
    await geminiInteractions.askStreaming(gateway.url, 'Hello', { headers });
    await upstream.calls[0]?.aborted;
    await expect.poll(() => callsIn(headers)).toMatchObject([answered]);
  });
});

describe("a base URL without the proxy's path", () => {
  const messages = [{ role: 'user' as const, content: 'Is anybody there?' }];
  const openai = (path: string) => new OpenAI({ baseURL: gateway.url + path, apiKey: AGENT_KEY });

  test.each([
    ['/v1', () => openai('/v1').chat.completions.create({ model: 'gpt-4o-mini', messages })],
    ['/openai/v1', () => openai('/openai/v1').responses.create({ model: 'gpt-4o-mini', input: 'Hi' })],
    ['the root', () => openai('').embeddings.create({ model: 'text-embedding-3-small', input: 'Hi' })],
  ])('is told to users of the openai SDK: %s', async (_path, ask) => {
    await expect(ask()).rejects.toMatchObject({
      status: 404,
      code: 'not_found',
      message: expect.stringContaining('the base URL has to end in /proxy/openai/v1'),
    });
  });

  test.each([
    // With the agent forgotten, or misspelt.
    ['/agents/proxy/openai/v1', 400, /\/agents\/<agent id>/],
    ['/agent/support-bot/proxy/openai/v1', 404, /\/agents\/<agent id>/],
    // With the upstream forgotten, or misspelt.
    ['/proxy', 404, /"chat"; there are anthropic,.* openai[.,].*\/proxy\/openai\/v1/],
    ['/proxy/opnai/v1', 404, /"opnai"; there are anthropic,.* openai[.,].*Settings > Upstreams/],
  ])('%s is answered with what it should be', async (path, status, message) => {
    await expect(
      openai(path).chat.completions.create({ model: 'gpt-4o-mini', messages }),
    ).rejects.toMatchObject({ status, message: expect.stringMatching(message) });
  });

  test("is told to users of Anthropic's SDK", async () => {
    const client = new Anthropic({ baseURL: gateway.url, apiKey: AGENT_KEY });
    await expect(
      client.messages.create({ model: 'claude-sonnet-4-5', max_tokens: 100, messages }),
    ).rejects.toMatchObject({ status: 404, message: expect.stringContaining('end in /proxy/anthropic.') });
  });

  test("is told to users of Google's SDK", async () => {
    const client = new GoogleGenAI({ apiKey: AGENT_KEY, httpOptions: { baseUrl: gateway.url } });
    const model = 'gemini-2.5-flash';
    for (const asked of [
      client.models.generateContent({ model, contents: 'Hi' }),
      client.interactions.create({ model, input: 'Hi' }),
    ])
      await expect(asked).rejects.toMatchObject({
        status: 404,
        message: expect.stringContaining('end in /proxy/gemini.'),
      });
  });

  test('leaves the connection to the next request', async () => {
    const post = (path: string, body: string) =>
      fetch(gateway.url + path, { method: 'POST', headers: { authorization: `Bearer ${AGENT_KEY}` }, body });
    expect((await post('/v1/messages', 'x'.repeat(3_000_000))).status).toBe(404);
    expect((await post('/v1/decision-logs', 'no JSON')).status).not.toBe(404);
  });
});

describe('an agent whose code nobody touches, by its environment alone', () => {
  afterEach(() => {
    vi.unstubAllEnvs();
  });

  const calledAs = async (agent: string) =>
    (await gateway.operator('GET', `/v1/calls?agent_id=${agent}`)).body.items;

  test('OpenAI', async () => {
    upstream.script(always(openaiChat, { text: 'ok' }));
    vi.stubEnv('OPENAI_BASE_URL', `${gateway.url}/agents/env-openai/proxy/openai/v1`);
    vi.stubEnv('OPENAI_API_KEY', AGENT_KEY);
    const messages = [{ role: 'user' as const, content: 'Hello' }];
    const answer = await new OpenAI().chat.completions.create({ model: 'gpt-4o-mini', messages });
    expect(answer.choices[0]?.message.content).toBe('ok');
    expect(await calledAs('env-openai')).toMatchObject([{ upstream: 'openai', status: 200 }]);
  });

  test.each(['ANTHROPIC_API_KEY', 'ANTHROPIC_AUTH_TOKEN'])('Anthropic, the agent key as %s', async (name) => {
    const agent = `env-${name}`;
    upstream.script(always(anthropic, { text: 'ok' }));
    vi.stubEnv('ANTHROPIC_BASE_URL', `${gateway.url}/agents/${agent}/proxy/anthropic`);
    vi.stubEnv(name, AGENT_KEY);
    const answer = await new Anthropic().messages.create({
      model: 'claude-sonnet-4-5',
      max_tokens: 100,
      messages: [{ role: 'user', content: 'Hello' }],
    });
    expect(answer.content).toMatchObject([{ type: 'text', text: 'ok' }]);
    expect(await calledAs(agent)).toMatchObject([{ upstream: 'anthropic', status: 200 }]);
  });

  test('Gemini', async () => {
    upstream.script(always(gemini, { text: 'ok' }));
    vi.stubEnv('GOOGLE_GEMINI_BASE_URL', `${gateway.url}/agents/env-gemini/proxy/gemini`);
    vi.stubEnv('GEMINI_API_KEY', AGENT_KEY);
    const answer = await new GoogleGenAI({}).models.generateContent({
      model: 'gemini-2.5-flash',
      contents: 'Hello',
    });
    expect(answer.text).toBe('ok');
    expect(await calledAs('env-gemini')).toMatchObject([{ upstream: 'gemini', status: 200 }]);
  });
});

test("Anthropic's tool runner goes on in the thread that the vendor keeps, and each of its threads is one session", async () => {
  let count = 0;
  upstream.script(({ json }, response) => {
    const { thread } = json as { thread: { type: string } };
    count += 1;
    respondJson(response, 200, {
      id: `msg_${count}`,
      type: 'message',
      role: 'assistant',
      model: 'claude-sonnet-4-6',
      content:
        thread.type === 'create'
          ? [{ type: 'tool_use', id: `toolu_${count}`, name: 'look', input: { at: count } }]
          : [{ type: 'text', text: 'Bern' }],
      stop_reason: thread.type === 'create' ? 'tool_use' : 'end_turn',
      usage: { input_tokens: 10, output_tokens: 5 },
    });
  });
  const client = new Anthropic({
    baseURL: `${gateway.url}/agents/runs-tools/proxy/anthropic`,
    apiKey: AGENT_KEY,
  });
  const look = {
    type: 'custom' as const,
    name: 'look',
    input_schema: { type: 'object' as const },
    run: () => 'Bern',
    parse: (input: unknown) => input,
  };
  for (const content of ['The capital?', 'The capital?', 'Another capital?'])
    await client.beta.messages
      .toolRunner({
        model: 'claude-sonnet-4-6',
        max_tokens: 50,
        messages: [{ role: 'user', content }],
        tools: [look],
      })
      .runUntilDone();
  const previous = upstream.calls.map(
    ({ json }) => (json as { thread: { previous_message_id?: string } }).thread.previous_message_id,
  );
  expect(previous).toEqual([undefined, 'msg_1', undefined, 'msg_3', undefined, 'msg_5']);
  const calls = async () => (await gateway.operator('GET', '/v1/calls?agent_id=runs-tools')).body.items;
  await expect.poll(calls).toHaveLength(6);
  const [sixth, fifth, fourth, third] = (await calls()).map(
    ({ session_id }: { session_id: string }) => session_id,
  );
  expect([sixth, fourth]).toEqual([fifth, third]);
  expect(fifth).not.toBe(third);
});

test("Google's interactions are recorded with what they cost, whole and streamed", async () => {
  const usage = { total_input_tokens: 100, total_cached_tokens: 40, total_output_tokens: 20 };
  const interaction = {
    id: 'i_1',
    model: 'gemini-2.5-flash',
    object: 'interaction',
    status: 'completed',
    steps: [{ type: 'model_output', content: [{ type: 'text', text: 'Bern' }] }],
    usage,
  };
  upstream.script(({ json }, response) =>
    (json as { stream?: boolean }).stream
      ? respondEvents(response, [
          `event: interaction.completed\ndata: ${JSON.stringify({ event_type: 'interaction.completed', interaction })}\n\n`,
          'event: done\ndata: [DONE]\n\n',
        ])
      : respondJson(response, 200, interaction),
  );
  const baseUrl = `${gateway.url}/agents/interacts/proxy/gemini`;
  const { interactions } = new GoogleGenAI({ apiKey: AGENT_KEY, httpOptions: { baseUrl } });
  const asked = { model: 'gemini-2.5-flash', input: 'The capital?' };
  expect(await interactions.create(asked)).toMatchObject({ id: 'i_1', status: 'completed' });
  const seen: string[] = [];
  for await (const { event_type } of await interactions.create({ ...asked, stream: true }))
    seen.push(event_type as string);
  expect(seen).toEqual(['interaction.completed']);
  const calls = async () => (await gateway.operator('GET', '/v1/calls?agent_id=interacts')).body.items;
  await expect.poll(calls).toHaveLength(2);
  for (const call of await calls()) {
    expect(call).toMatchObject({
      model: 'gemini-2.5-flash',
      usage: { input_tokens: 100, cached_input_tokens: 40, output_tokens: 20 },
    });
    expect(call.cost_usd).toBeGreaterThan(0);
  }
});

test('an interaction whose stream its client leaves costs what whoever fetches the rest is told', async () => {
  const interaction = { id: 'v1_left', model: 'gemini-2.5-flash', object: 'interaction' };
  const usage = { total_input_tokens: 1_000_000, total_output_tokens: 100_000 };
  const event = (event_type: string, further: object) =>
    `event: ${event_type}\ndata: ${JSON.stringify({ event_type, ...further })}\n\n`;
  const begun = event('interaction.created', { interaction: { ...interaction, status: 'in_progress' } });
  const rest = event('interaction.completed', {
    interaction: { ...interaction, status: 'completed', usage },
  });
  upstream.script(({ method }, response) => {
    if (method === 'GET') return respondEvents(response, [rest]);
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(begun);
    for (let at = 0; at < 100; at += 1)
      response.write(event('step.delta', { index: 0, delta: { type: 'text', text: 'x'.repeat(100) } }));
  });
  const agent = 'leaves';
  const baseUrl = `${gateway.url}/agents/${agent}/proxy/gemini`;
  const { interactions } = new GoogleGenAI({ apiKey: AGENT_KEY, httpOptions: { baseUrl } });
  const asked = {
    model: 'gemini-2.5-flash',
    input: 'Look into it.',
    background: true,
    stream: true as const,
  };
  let seenCount = 0;
  for await (const _event of await interactions.create(asked)) {
    seenCount += 1;
    if (seenCount > 100) break;
  }
  const calls = async () => (await gateway.operator('GET', `/v1/calls?agent_id=${agent}`)).body.items;
  await expect.poll(calls).toHaveLength(1);
  for await (const _event of await interactions.get('v1_left', { stream: true })) seenCount += 1;
  expect(seenCount).toBe(102);
  await expect.poll(calls).toHaveLength(2);
  const [told, estimated] = await calls();
  // 0.3 and 2.5 dollars a million.
  expect(estimated.cost_usd + told.cost_usd).toBeCloseTo(0.55, 6);
});

test('an interaction that Google works on in the background costs what whoever fetches it is told, once', async () => {
  const begun = {
    id: 'v1_research',
    model: 'gemini-2.5-flash',
    object: 'interaction',
    status: 'in_progress',
  };
  const usage = { total_input_tokens: 1_000_000, total_output_tokens: 100_000 };
  let fetched: object = begun;
  upstream.script(({ method }, response) => respondJson(response, 200, method === 'POST' ? begun : fetched));
  const agent = 'researches';
  const baseUrl = `${gateway.url}/agents/${agent}/proxy/gemini`;
  const { interactions } = new GoogleGenAI({ apiKey: AGENT_KEY, httpOptions: { baseUrl } });
  await gateway.operator('PATCH', `/v1/agents/${agent}/policy`, { budget_day_usd: 0.3 });
  const asked = { model: 'gemini-2.5-flash', input: 'Look into it.', background: true };
  const { id } = await interactions.create(asked);
  await interactions.get(id as string);
  fetched = { ...begun, status: 'completed', steps: [], usage };
  for (let time = 0; time < 2; time += 1) await interactions.get(id as string);
  const calls = async () =>
    (await gateway.operator('GET', `/v1/calls?agent_id=${agent}`)).body.items.map(
      ({ cost_usd }: { cost_usd: number }) => cost_usd,
    );
  await expect.poll(calls).toHaveLength(4);
  const [again, told, waited, estimated] = await calls();
  expect([again, waited]).toEqual([0, 0]);
  // 0.3 and 2.5 dollars a million.
  expect(estimated + told).toBeCloseTo(0.55, 6);
  // The SDK would try four times, whatever it is told.
  const refused = await fetch(`${baseUrl}/v1beta/interactions`, {
    method: 'POST',
    headers: { 'x-goog-api-key': AGENT_KEY },
    body: JSON.stringify(asked),
  });
  expect(refused.status).toBe(429);
});

describe('bytes', () => {
  test('a request that no guard changes reaches the upstream byte for byte', async () => {
    upstream.script(always(openaiChat, { text: 'ok' }));
    const body =
      '{ "model":"gpt-4o-mini",\n  "messages" : [{"content":"caf\\u00e9 \\/ \u{1F600}","role":"user"}] , "x":1.0e2 }\n';
    const response = await fetch(`${gateway.url}/proxy/openai/v1/chat/completions?trace=1`, {
      method: 'POST',
      headers: { authorization: `Bearer ${AGENT_KEY}`, 'content-type': 'application/json' },
      body,
    });
    expect(response.status).toBe(200);
    expect(response.headers.get('x-observatory-call')).toBeTruthy();
    expect(upstream.calls[0]?.body.toString('utf8')).toBe(body);
    expect(upstream.calls[0]?.url).toBe('/v1/chat/completions?trace=1');
  });

  test('an unknown path passes through, whatever it carries', async () => {
    const bytes = randomBytes(70_000);
    upstream.script((call, response) => {
      response.writeHead(200, { 'content-type': 'application/octet-stream', 'x-vendor': 'yes' });
      response.end(call.body);
    });
    const response = await fetch(`${gateway.url}/proxy/local-vllm/v1/audio/transcriptions`, {
      method: 'PUT',
      headers: {
        'x-observatory-key': AGENT_KEY,
        authorization: 'Bearer the-callers-own',
        'content-type': 'multipart/form-data; boundary=x',
      },
      body: bytes,
    });
    expect(Buffer.from(await response.arrayBuffer()).equals(bytes)).toBe(true);
    expect(response.headers.get('x-vendor')).toBe('yes');
    expect(upstream.calls[0]).toMatchObject({ method: 'PUT', url: '/serve/v1/audio/transcriptions' });
    expect(upstream.calls[0]?.headers.authorization).toBe('Bearer the-callers-own');
  });
});

describe('failures', () => {
  test("an error is recorded by the vendor's name of it, never by its sentence, which may quote the prompt", async () => {
    const error = { message: 'Not for Ada, please', type: 'tokens', code: 'rate_limit_exceeded' };
    upstream.script((_call, response) => respondJson(response, 429, { error }));
    const headers = freshSession();
    const refused: any = await openaiChat
      .ask(gateway.url, 'Too much', { headers, maxRetries: 0 })
      .catch((reason) => reason);
    expect(refused).toMatchObject({ status: 429, error });
    const { body } = await gateway.operator(
      'GET',
      `/v1/calls?session_id=${headers['x-observatory-session']}`,
    );
    expect(body.items).toMatchObject([
      { decision: 'forwarded', status: 429, detail: "The vendor's error: rate_limit_exceeded." },
    ]);
  });

  test("an upstream that breaks off mid-stream ends the client's stream as broken, not as complete", async () => {
    upstream.script((_call, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(
        'data: {"id":"c","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"half',
      );
      setTimeout(() => response.destroy(), 50);
    });
    const client = new OpenAI({
      baseURL: `${gateway.url}/proxy/openai/v1`,
      apiKey: AGENT_KEY,
      maxRetries: 0,
    });
    const stream = await client.chat.completions.create({
      model: 'gpt-4o-mini',
      stream: true,
      messages: [{ role: 'user', content: 'break' }],
    });
    await expect(
      (async () => {
        for await (const _ of stream);
      })(),
    ).rejects.toThrow();
  });

  test("nobody listening at the upstream is a 502 in the vendor's shape", async () => {
    const closed = await new ScriptedUpstream().listen();
    const origin = closed.origin;
    await closed.close();
    await gateway.operator('PUT', '/v1/upstreams/nobody', { base_url: `${origin}/v1` });
    const client = new OpenAI({
      baseURL: `${gateway.url}/proxy/nobody/v1`,
      apiKey: 'callers-own',
      maxRetries: 0,
      defaultHeaders: { 'x-observatory-key': AGENT_KEY },
    });
    await expect(
      client.chat.completions.create({ model: 'm', messages: [{ role: 'user', content: 'hi' }] }),
    ).rejects.toMatchObject({ status: 502, code: 'upstream_unreachable' });
  });

  test("an unknown key is refused in the vendor's error shape, and reaches no upstream", async () => {
    upstream.script(always(openaiChat, { text: 'never' }));
    const client = new Anthropic({
      baseURL: `${gateway.url}/proxy/anthropic`,
      apiKey: 'nobody',
      maxRetries: 2,
    });
    const asked = client.messages.create({
      model: 'claude-sonnet-4-5',
      max_tokens: 5,
      messages: [{ role: 'user', content: 'hi' }],
    });
    await expect(asked).rejects.toBeInstanceOf(Anthropic.AuthenticationError);
    await expect(asked).rejects.toThrow("An operator token or a vendor's key does not work here");
    expect(upstream.calls).toHaveLength(0);
  });

  test("no agent gets a vendor's short-lived key on the gateway's account; on its own it may", async () => {
    upstream.script((_call, response) => respondJson(response, 200, { value: 'ek_short-lived' }));
    const asking = (name: string, apiKey: string) =>
      new OpenAI({
        baseURL: `${gateway.url}/agents/caller/proxy/${name}/v1`,
        apiKey,
        defaultHeaders: { 'x-observatory-key': AGENT_KEY },
        maxRetries: 0,
      }).realtime.clientSecrets.create({});
    const refused = asking('openai', AGENT_KEY);
    await expect(refused).rejects.toBeInstanceOf(OpenAI.PermissionDeniedError);
    await expect(refused).rejects.toThrow('lead around every guard');
    expect(upstream.calls).toHaveLength(0);
    expect(await asking('local-vllm', 'the-callers-own')).toMatchObject({ value: 'ek_short-lived' });
  });
});
