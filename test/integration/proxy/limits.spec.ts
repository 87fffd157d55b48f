/** An agent's limits hold whatever its client does with its calls. */
import type { ServerResponse } from 'node:http';
import OpenAI, { toFile } from 'openai';
import { io } from 'socket.io-client';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Frame, LlmCall } from '#contracts';
import { deferred } from '#kernel';
import { respondEvents, respondJson, type UpstreamCall } from '#testing';
import { AGENT_KEY } from '../start-gateway.js';
import { gateway, startAgain, startOneGateway, upstream, upstreamsAt } from '../start-one-gateway.js';

startOneGateway((origin) => ({
  ...upstreamsAt(origin),
  // Nobody listens on the port of discarded packets.
  OBSERVATORY_UPSTREAM_AWAY_URL: 'http://127.0.0.1:9/v1',
  OBSERVATORY_UPSTREAM_AWAY_KEY: 'sk-scripted',
  UPSTREAM_HEADERS_TIMEOUT_MS: '1500',
}));

const client = (agent: string, name = 'openai') =>
  new OpenAI({
    baseURL: `${gateway.url}/agents/${agent}/proxy/${name}/v1`,
    apiKey: AGENT_KEY,
    maxRetries: 0,
  });
const ask = (openai: OpenAI, content: string, signal?: AbortSignal) =>
  openai.chat.completions.create({ model: 'gpt-4o-mini', messages: [{ role: 'user', content }] }, { signal });
const limit = async (agent: string, policy: object) =>
  expect(await gateway.operator('PATCH', `/v1/agents/${agent}/policy`, policy)).toMatchObject({
    status: 200,
  });
const agentOf = async (agent: string) => (await gateway.operator('GET', `/v1/agents/${agent}`)).body;
const callsOf = async (agent: string) =>
  (await gateway.operator('GET', `/v1/calls?agent_id=${agent}`)).body.items;

test.each([
  ['/v1/config', {}],
  ['/v1/agents/unchanged/policy', {}],
  ['/v1/agents/unchanged/policy', { reason: 'because' }],
  ['/v1/agents/unchanged/kill-switch', {}],
])('a change of %s by %j names nothing to change, and leaves no trace', async (path, patch) => {
  const audit = async () => (await gateway.operator('GET', '/v1/audit?limit=1')).body.items;
  const before = [await gateway.operator('GET', path), await audit()];
  const { status, body } = await gateway.operator('PATCH', path, patch);
  expect({ status, body }).toMatchObject(before[0] as object);
  expect([await gateway.operator('GET', path), await audit()]).toEqual(before);
});

/** Asks, and hangs up as soon as the upstream has the question. */
async function askAndLeave(agent: string, content: string, headers = {}): Promise<void> {
  const abort = new AbortController();
  const before = upstream.calls.length;
  const asked = ask(client(agent).withOptions({ defaultHeaders: headers }), content, abort.signal);
  asked.catch(() => {});
  await expect.poll(() => upstream.calls.length).toBe(before + 1);
  abort.abort();
  await expect(asked).rejects.toThrow();
  await upstream.calls[before]?.aborted;
}

describe('what an agent is told of its limits', () => {
  /** Of the vendor's own account, which is not the agent's. */
  const vendors = { 'x-ratelimit-limit-requests': '5000', 'x-ratelimit-remaining-requests': '4999' };
  const answer = { id: 'c', choices: [{ index: 0, message: { role: 'assistant', content: 'ok' } }] };
  const reply = ({ json }: UpstreamCall, response: ServerResponse) => {
    for (const [name, value] of Object.entries(vendors)) response.setHeader(name, value);
    return (json as { stream?: boolean }).stream
      ? respondEvents(response, ['data: [DONE]\n\n'])
      : respondJson(response, 200, answer);
  };
  /** @returns the headers of the answer, of an error's too */
  const headersOf = async (agent: string, stream = false): Promise<Headers> => {
    const messages = [{ role: 'user' as const, content: 'Again' }];
    const request = { model: 'gpt-4o-mini', max_tokens: 100, messages, stream };
    const asked = client(agent).chat.completions.create(request).withResponse();
    return asked.then(
      ({ response }) => response.headers,
      ({ headers }: InstanceType<typeof OpenAI.APIError>) => headers as Headers,
    );
  };
  const seconds = (headers: Headers, name: string) => {
    expect(headers.get(name)).toMatch(/^\d+$/);
    return Number(headers.get(name));
  };

  test("stands in the headers of each answer in place of the vendor's, and in a refusal when to try again", async () => {
    const agent = 'told';
    upstream.script(reply);
    await limit(agent, { requests_per_minute: 2, tokens_per_minute: 10_000 });
    for (const [isStream, remaining] of [
      [false, '1'],
      [true, '0'],
    ] as const) {
      const headers = await headersOf(agent, isStream);
      expect(headers.get('x-observatory-decision')).toBe('forwarded');
      for (const ending of ['', '-requests']) {
        expect(headers.get(`x-ratelimit-limit${ending}`)).toBe('2');
        expect(headers.get(`x-ratelimit-remaining${ending}`)).toBe(remaining);
        // There is room at once while any remains.
        expect(seconds(headers, `x-ratelimit-reset${ending}`) === 0).toBe(remaining !== '0');
      }
      expect(headers.get('x-ratelimit-limit-tokens')).toBe('10000');
      expect(Number(headers.get('x-ratelimit-remaining-tokens'))).toBeLessThan(9_900);
      expect(headers.get('x-ratelimit-reset-tokens')).toBe('0');
      expect(headers.get('retry-after')).toBeNull();
    }
    const refused = await headersOf(agent);
    expect(refused.get('x-observatory-decision')).toBe('rate_limited');
    expect(refused.get('x-ratelimit-remaining')).toBe('0');
    const waits = seconds(refused, 'retry-after');
    expect(waits).toBeGreaterThan(0);
    expect(waits).toBeLessThanOrEqual(120);
    expect(upstream.calls).toHaveLength(2);
  });

  test("is no figure of its budget, and the vendor's own where it has no limits", async () => {
    upstream.script(reply);
    await limit('told-nothing', { budget_day_usd: 0.00001 });
    const refused = await headersOf('told-nothing');
    expect(refused.get('x-observatory-decision')).toBe('over_budget');
    expect([...refused.keys()].filter((name) => name.startsWith('x-ratelimit'))).toEqual([]);
    expect(Object.fromEntries(await headersOf('boundless'))).toMatchObject(vendors);
  });
});

test('calls whose client hangs up on the upstream count against limits, and are spent', async () => {
  upstream.script(() => {});
  const agent = 'leaver';
  await limit(agent, { requests_per_minute: 2 });
  await askAndLeave(agent, 'first');
  await askAndLeave(agent, 'second');
  await expect.poll(() => callsOf(agent)).toHaveLength(2);
  for (const call of await callsOf(agent)) expect(call).toMatchObject({ decision: 'aborted', usage: null });
  await expect(ask(client(agent), 'third')).rejects.toMatchObject({ status: 429 });
  expect(upstream.calls).toHaveLength(2);
  const { spend, policy } = await agentOf(agent);
  expect(spend.day.spent_usd).toBeGreaterThan(0);
  // Who tries again after hanging up is no agent in a loop.
  expect(policy.active).toBe(true);
});

describe('a client that leaves a call', () => {
  /** About what the estimate comes to: a second call has no room beside it. */
  const policy = { requests_per_minute: 2, budget_day_usd: 0.0007 };
  const request = { model: 'gpt-4o-mini', max_tokens: 1_000, stream: true } as const;
  const delta = (content: string, more: object = {}) =>
    `data: ${JSON.stringify({ id: 'c', model: 'gpt-4o-mini', choices: [{ index: 0, delta: { content }, ...more }] })}\n\n`;
  /** Resolves once its head has come. */
  const stream = (agent: string, content: string, signal?: AbortSignal, session = `${agent}-session`) =>
    client(agent).chat.completions.create(
      { ...request, messages: [{ role: 'user', content }] },
      { signal, headers: { 'x-observatory-session': session } },
    );
  const spentBy = async (agent: string) => (await agentOf(agent)).spend.day.spent_usd;
  const estimate = 0.0006;

  test('while it is held has used nothing', async () => {
    const agent = 'leaves-held';
    upstream.script((_call, response) => respondEvents(response, [delta('ok'), 'data: [DONE]\n\n']));
    for await (const _chunk of await stream(agent, 'begin'));
    await limit(agent, policy);
    const session = `/v1/sessions/${agent}-session`;
    await expect.poll(async () => (await gateway.operator('GET', session)).status).toBe(200);
    const before = await spentBy(agent);
    await gateway.operator('POST', `${session}/pause`, { reason: 'look' });
    const sent = upstream.calls.length;
    // Three of them: more than a minute's requests, and than the budget of a day.
    for (const content of ['first', 'second', 'third']) {
      const abort = new AbortController();
      const asked = stream(agent, content, abort.signal);
      asked.catch(() => {});
      const held = async () =>
        (await gateway.operator('GET', `/v1/held-calls?session_id=${agent}-session`)).body.items;
      await expect.poll(held).toHaveLength(1);
      abort.abort();
      await expect.poll(held).toHaveLength(0);
    }
    await expect.poll(() => callsOf(agent)).toHaveLength(4);
    expect(upstream.calls).toHaveLength(sent);
    expect(await spentBy(agent)).toBe(before);
    // Another session of the same agent finds its limits as they were.
    for await (const _chunk of await stream(agent, 'go on', undefined, 'another'));
  });

  test('before its answer has a head has used what was estimated', async () => {
    const agent = 'leaves-headless';
    await limit(agent, policy);
    upstream.script(() => {});
    const abort = new AbortController();
    const asked = stream(agent, 'first', abort.signal);
    asked.catch(() => {});
    await expect.poll(() => upstream.calls.length).toBe(1);
    abort.abort();
    await upstream.calls[0]?.aborted;
    await expect.poll(() => callsOf(agent)).toMatchObject([{ decision: 'aborted', usage: null }]);
    expect(await spentBy(agent)).toBeCloseTo(estimate, 4);
    await expect(stream(agent, 'second')).rejects.toMatchObject({ status: 429, code: 'budget_exceeded' });
  });

  test('in the middle of its answer has used what was estimated, and behind its end what the vendor says', async () => {
    const agent = 'leaves-midway';
    await limit(agent, policy);
    /** Reads one piece, and leaves. */
    const leaveAfter = async (...events: string[]) => {
      upstream.script((_call, response) => respondEvents(response, events, { end: false }));
      const before = upstream.calls.length;
      const abort = new AbortController();
      for await (const { choices } of await stream(agent, `leave after ${events.length}`, abort.signal))
        if (choices[0]?.delta.content === 'last') break;
      abort.abort();
      await upstream.calls[before]?.aborted;
    };
    const usage = { prompt_tokens: 9, completion_tokens: 3 };
    await leaveAfter(
      delta('said'),
      delta('', { finish_reason: 'stop' }),
      `data: ${JSON.stringify({ choices: [], usage })}\n\n`,
      delta('last'),
    );
    await expect.poll(() => callsOf(agent)).toMatchObject([{ usage: { output_tokens: 3 } }]);
    expect(await spentBy(agent)).toBeCloseTo((9 * 0.15 + 3 * 0.6) / 1e6, 6);
    await leaveAfter(delta('said'), delta('last'));
    await expect.poll(() => callsOf(agent)).toHaveLength(2);
    expect(await spentBy(agent)).toBeCloseTo(estimate, 4);
    await expect(stream(agent, 'third')).rejects.toMatchObject({ status: 429 });
  });
});

test('an agent is there while its very first call is under way, and whoever looks at agents is told', async () => {
  // An answer that has begun and does not end: none that is too late, however slow the machine.
  upstream.script((_call, response) => response.writeHead(200).flushHeaders());
  const socket = io(`${gateway.url}/live`, {
    auth: { token: gateway.operatorToken },
    transports: ['websocket'],
  });
  onTestFinished(() => void socket.disconnect());
  await socket.emitWithAck('subscribe', { topic: 'gateway:agents' });
  const told: unknown[] = [];
  socket.on('frame', ({ events }: Frame<any>) => told.push(...events.map(({ payload }) => payload)));
  const abort = new AbortController();
  const asked = ask(client('beginner'), 'anybody?', abort.signal);
  asked.catch(() => {});
  await expect.poll(() => agentOf('beginner')).toMatchObject({ running_call_count: 1, last_call_ms: null });
  await expect
    .poll(() => told)
    .toContainEqual(expect.objectContaining({ agent_id: 'beginner', running_call_count: 1 }));
  abort.abort();
  await expect(asked).rejects.toThrow();
});

test('an answer that comes too late is paid for, too', async () => {
  upstream.script(() => {});
  await limit('late', { requests_per_minute: 1 });
  await expect(ask(client('late'), 'slowly')).rejects.toMatchObject({ status: 504 });
  await expect(ask(client('late'), 'again')).rejects.toMatchObject({ status: 429 });
  expect((await agentOf('late')).spend.day.spent_usd).toBeGreaterThan(0);
});

test('a call that no upstream had, or that its upstream refused, counts for nothing', async () => {
  await limit('unlucky', { requests_per_minute: 1 });
  await expect(ask(client('unlucky', 'away'), 'anybody?')).rejects.toMatchObject({ status: 502 });
  upstream.script((_call, response) => respondJson(response, 500, { error: { message: 'no' } }));
  await expect(ask(client('unlucky'), 'anybody?')).rejects.toMatchObject({ status: 500 });
  upstream.script((_call, response) => response.destroy());
  await expect(ask(client('unlucky'), 'anybody?')).rejects.toMatchObject({ status: 502 });
  expect((await agentOf('unlucky')).spend.day.spent_usd).toBe(0);
});

test('an error in the answer of a status that is good is a failure, which counts for nothing where no answer had begun', async () => {
  const overloaded = { message: 'overloaded', type: 'server_error', code: null, param: null };
  const agent = 'overloaded';
  await limit(agent, { requests_per_minute: 2 });
  const stream = async () => {
    const { chat } = client(agent);
    const messages = [{ role: 'user' as const, content: 'anybody?' }];
    for await (const _chunk of await chat.completions.create({ model: 'gpt-4o', messages, stream: true }));
  };
  upstream.script((_call, response) =>
    respondEvents(response, [`data: ${JSON.stringify({ error: overloaded })}\n\n`]),
  );
  for (let time = 0; time < 3; time += 1) await expect(stream()).rejects.toThrow('overloaded');
  upstream.script((_call, response) => respondJson(response, 200, { error: overloaded }));
  expect(await ask(client(agent), 'anybody?')).toMatchObject({ error: overloaded });
  await expect.poll(() => callsOf(agent)).toHaveLength(4);
  for (const call of await callsOf(agent))
    expect(call).toMatchObject({ decision: 'upstream_failed', status: 200, cost_usd: 0 });
  expect(await agentOf(agent)).toMatchObject({ error_rate: 1, spend: { day: { spent_usd: 0 } } });

  // What had begun has cost its prompt, and what came of it.
  const begun = { id: 'c', model: 'gpt-4o', choices: [{ index: 0, delta: { content: 'Well, ' } }] };
  upstream.script((_call, response) =>
    respondEvents(
      response,
      [begun, { error: overloaded }].map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`),
    ),
  );
  await expect(stream()).rejects.toThrow('overloaded');
  await expect.poll(async () => (await agentOf(agent)).spend.day.spent_usd).toBeGreaterThan(0);
});

test('what is embedded, or completed in the older way, is paid for, and a list is not', async () => {
  upstream.script((_call, response) => respondJson(response, 200, { object: 'list', data: [] }));
  const agent = 'embedder';
  await limit(agent, { budget_day_usd: 0.00003, tokens_per_minute: 4_000 });
  const embed = (chars: number) =>
    client(agent).embeddings.create({ model: 'text-embedding-3-small', input: 'x'.repeat(chars) });
  await embed(5_000);
  await expect(embed(5_000)).rejects.toMatchObject({ status: 429, code: 'budget_exceeded' });
  await expect(
    client(agent).completions.create({ model: 'gpt-4o', prompt: 'Once', max_tokens: 100 }),
  ).rejects.toMatchObject({ status: 429, code: 'budget_exceeded' });
  const calledText = await fetch(`${gateway.url}/agents/${agent}/proxy/openai/v1/embeddings`, {
    method: 'POST',
    headers: { authorization: `Bearer ${AGENT_KEY}`, 'content-type': 'text/plain' },
    body: ` {"model":"text-embedding-3-small","input":"${'x'.repeat(5_000)}"}`,
  });
  expect(calledText.status).toBe(429);
  for (let time = 0; time < 5; time += 1) await client(agent).models.list();
  await expect.poll(() => callsOf(agent)).toHaveLength(9);
  const { spend } = await agentOf(agent);
  expect(spend.day.spent_usd).toBeCloseTo(0.000025, 5);
  const [newest] = await callsOf(agent);
  expect(newest).toMatchObject({ path: '/models', cost_usd: 0, model: null });

  // Paid for in another way: nobody here knows how much, and nobody says that it was nothing.
  await client('painter').images.generate({ model: 'dall-e-3', prompt: 'a boat' });
  await expect.poll(() => callsOf('painter')).toMatchObject([{ cost_usd: null }]);
  expect((await agentOf('painter')).spend.day).toMatchObject({ spent_usd: 0, unpriced_call_count: 1 });
});

test('what a vendor tells of usage on a path that nobody reads is what the call cost, and what is tried for each prompt is estimated', async () => {
  const usage = { prompt_tokens: 10, completion_tokens: 4, total_tokens: 14 };
  const choice = { index: 0, text: 'x'.repeat(20_000), finish_reason: 'stop', logprobs: null };
  const told = { id: 'c', object: 'text_completion', created: 1, model: 'gpt-4o', choices: [choice], usage };
  const agent = 'teller';
  await limit(agent, { tokens_per_minute: 4_000 });
  const { completions } = client(agent);
  const asked = { model: 'gpt-4o', prompt: 'Once', max_tokens: 300 };
  upstream.script((_call, response) => respondJson(response, 200, told));
  for (const more of [{ best_of: 20 }, { prompt: new Array(20).fill('Once') }])
    await expect(completions.create({ ...asked, ...more })).rejects.toMatchObject({ status: 429 });
  await completions.create(asked);
  upstream.script((_call, response) =>
    respondEvents(
      response,
      [JSON.stringify({ ...told, usage: null }), JSON.stringify({ ...told, choices: [] }), '[DONE]'].map(
        (data) => `data: ${data}\n\n`,
      ),
    ),
  );
  for await (const _chunk of await completions.create({ ...asked, stream: true }));
  // One that says nothing has used what was estimated.
  upstream.script((_call, response) => respondJson(response, 200, { ...told, usage: undefined }));
  await completions.create(asked);
  await expect.poll(() => callsOf(agent)).toHaveLength(5);
  const counted = { input_tokens: 10, output_tokens: 4 };
  const [estimated, ...calls] = await callsOf(agent);
  expect(calls.slice(0, 2)).toMatchObject([
    { usage: counted, cost_usd: 0.000065 },
    { usage: counted, cost_usd: 0.000065 },
  ]);
  expect(estimated.usage).toBeNull();
  expect(estimated.cost_usd).toBeGreaterThan(0.003);
});

test('a budget that is set while a call is under way counts what that call costs', async () => {
  const agent = 'already-at-work';
  const usageOf = (completion_tokens: number) => ({ prompt_tokens: 10, completion_tokens });
  const answerWith = (response: ServerResponse, completion_tokens: number) =>
    respondJson(response, 200, { id: 'c', model: 'gpt-4o', choices: [], usage: usageOf(completion_tokens) });
  upstream.script((_call, response) => answerWith(response, 1));
  await ask(client(agent), 'first');
  const end = deferred();
  upstream.script((_call, response) => end.promise.then(() => answerWith(response, 1_000_000)));
  const costly = ask(client(agent), 'second');
  await expect.poll(() => upstream.calls).toHaveLength(1);
  await limit(agent, { budget_day_usd: 5 });
  end.resolve();
  await costly;
  await expect(ask(client(agent), 'third')).rejects.toMatchObject({ status: 429, code: 'budget_exceeded' });
});

test('searches that the vendor ran, in the web and in files, are spent, and an agent that searches on and on runs out of its budget', async () => {
  const agent = 'searcher';
  await limit(agent, { budget_day_usd: 0.05 });
  const search = {
    type: 'web_search_call',
    id: 'ws',
    status: 'completed',
    action: { type: 'search', query: 'q' },
  };
  const text = { type: 'output_text', text: 'Found.', annotations: [] };
  const message = { type: 'message', id: 'm', role: 'assistant', status: 'completed', content: [text] };
  const usage = { input_tokens: 100, output_tokens: 10, total_tokens: 110 };
  const inFiles = { type: 'file_search_call', id: 'fs', status: 'completed', queries: ['q'] };
  const output = [search, search, inFiles, search, message];
  const told = { id: 'r', object: 'response', status: 'completed', model: 'gpt-4o', output, usage };
  upstream.script((_call, response) => respondJson(response, 200, told));
  const { responses } = client(agent);
  const find = (input: string) =>
    responses.create({ model: 'gpt-4o', tools: [{ type: 'web_search' }], max_output_tokens: 100, input });
  await find('news');
  await find('more news');
  await expect(find('still more')).rejects.toMatchObject({ status: 429 });
  await expect.poll(() => callsOf(agent)).toHaveLength(3);
  const searched = { usage: { search_count: 3, file_search_count: 1 }, cost_usd: 0.03285 };
  expect((await callsOf(agent)).slice(1)).toMatchObject([searched, searched]);
});

test('an upload that is paid for in another way costs nobody knows what, and does not pass a spent budget', async () => {
  const usage = { prompt_tokens: 200, completion_tokens: 0, total_tokens: 200 };
  upstream.script((_call, response) => respondJson(response, 200, { id: 'x', text: 'Hello.', usage }));
  const agent = 'listener';
  await limit(agent, { tokens_per_minute: 1_000 });
  const openai = client(agent);
  const file = () => toFile(Buffer.alloc(100_000), 'sound.wav');
  const listen = async () => openai.audio.transcriptions.create({ model: 'whisper-1', file: await file() });
  const paint = async () =>
    openai.images.edit({ model: 'gpt-image-1', image: await file(), prompt: 'a boat' });
  const keep = async () => openai.files.create({ purpose: 'user_data', file: await file() });
  expect(await listen()).toMatchObject({ text: 'Hello.' });
  await paint();
  await keep();
  await expect
    .poll(() => callsOf(agent))
    .toMatchObject([
      { path: '/files', cost_usd: 0 },
      { path: '/images/edits', cost_usd: null },
      { path: '/audio/transcriptions', cost_usd: null },
    ]);

  // What the vendor says of this one's usage spends the budget to its end.
  await limit(agent, { budget_day_usd: 0.00003 });
  const messages = [{ role: 'user' as const, content: 'hi' }];
  await openai.chat.completions.create({ model: 'gpt-4o-mini', messages, max_tokens: 1 });
  await expect.poll(async () => (await agentOf(agent)).spend.day.spent_usd).toBe(0.00003);
  for (const call of [listen, paint])
    await expect(call()).rejects.toMatchObject({ status: 429, code: 'budget_exceeded' });
  await keep();
  expect(upstream.calls).toHaveLength(5);
});

test('a picture inside a request takes what a picture may take, whatever its bytes are', async () => {
  const agent = 'painter';
  await limit(agent, { budget_day_usd: 0.1, tokens_per_minute: 20_000 });
  const usage = { prompt_tokens: 1_100, completion_tokens: 5, total_tokens: 1_105 };
  upstream.script((_call, response) =>
    respondJson(response, 200, {
      model: 'gpt-4o',
      choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'A boat.' } }],
      usage,
    }),
  );
  const url = `data:image/png;base64,${'iVBORw0K'.repeat(250_000)}`;
  for (let time = 0; time < 2; time += 1)
    await client(agent).chat.completions.create({
      model: 'gpt-4o',
      messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url } }] }],
    });
  expect(upstream.calls).toHaveLength(2);
});

test('the caps of a session hold when the gateway was killed and started again', async () => {
  upstream.script((_call, response) =>
    respondJson(response, 200, { id: 'c', model: 'gpt-4o-mini', choices: [] }),
  );
  const agent = 'capped';
  await limit(agent, { session_calls_max: 2 });
  const inSession = (session: string) =>
    client(agent).chat.completions.create(
      { model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'go on' }] },
      { headers: { 'x-observatory-session': session } },
    );
  await inSession('long');
  await inSession('long');
  await expect.poll(() => callsOf(agent)).toHaveLength(2);
  await expect.poll(async () => (await gateway.operator('GET', '/v1/sessions/long')).status).toBe(200);
  await gateway.kill();
  await startAgain();
  await expect(inSession('long')).rejects.toMatchObject({ status: 403 });
  const refusedIn = async (session: string) =>
    (await gateway.operator('GET', `/v1/sessions/${session}`)).body.refused_call?.decision;
  await expect.poll(() => refusedIn('long')).toBe('session_capped');
  await inSession('another');
  await expect.poll(() => callsOf(agent)).toHaveLength(4);
  expect(await refusedIn('long')).toBe('session_capped');
  await gateway.stop();
  await startAgain();
  expect(await refusedIn('long')).toBe('session_capped');
  await limit(agent, { session_calls_max: 10 });
  await inSession('long');
  await expect.poll(() => refusedIn('long')).toBeUndefined();
});

test('the caps of a session that is under way when they are set count what it did before', async () => {
  upstream.script((_call, response) =>
    respondJson(response, 200, { id: 'c', model: 'gpt-4o-mini', choices: [] }),
  );
  const agent = 'capped-late';
  const next = (content: string) =>
    client(agent).chat.completions.create(
      { model: 'gpt-4o-mini', messages: [{ role: 'user', content }] },
      { headers: { 'x-observatory-session': 'under-way' } },
    );
  await next('first');
  await limit(agent, { requests_per_minute: 100 });
  await next('second');
  await next('third');
  await limit(agent, { session_calls_max: 3 });
  await expect(next('fourth')).rejects.toMatchObject({ status: 403, code: 'session_capped' });
  await limit(agent, { session_calls_max: 4 });
  await next('fourth');
  await expect(next('fifth')).rejects.toMatchObject({ status: 403, code: 'session_capped' });
});

test('a session cost what its calls did, also a retry and one that its client left', async () => {
  const session = { 'x-observatory-session': 'all-its-calls' };
  const agent = 'spends-in-vain';
  const openai = client(agent).withOptions({ defaultHeaders: session });
  const usage = { prompt_tokens: 1_000, completion_tokens: 1_000, total_tokens: 2_000 };
  upstream.script((_call, response, index) =>
    index === 0
      ? response.writeHead(500).end()
      : respondJson(response, 200, { id: 'c', model: 'gpt-4o', choices: [], usage }),
  );
  await ask(openai.withOptions({ maxRetries: 1 }), 'Read the first page.');
  upstream.script(() => {});
  await askAndLeave(agent, 'Read the second page.', session);
  upstream.script((_call, response) =>
    respondJson(response, 200, { id: 'c', model: 'gpt-4o', choices: [], usage }),
  );
  await ask(openai, 'Now write to Ada.');
  await expect.poll(() => callsOf(agent)).toHaveLength(4);
  const cost = (await callsOf(agent)).reduce(
    (sum: number, { cost_usd }: LlmCall) => sum + (cost_usd ?? 0),
    0,
  );
  expect(cost).toBeGreaterThan(2 * 0.0125);
  const shown = async () => (await gateway.operator('GET', '/v1/sessions/all-its-calls')).body.cost_usd;
  await expect.poll(shown).toBeCloseTo(cost, 6);
});

test('a session tells at once what a retry cost, though no step of its comes after it', async () => {
  const usage = { prompt_tokens: 1_000, completion_tokens: 1_000, total_tokens: 2_000 };
  upstream.script((_call, response, index) =>
    index === 0
      ? response.writeHead(500).end()
      : respondJson(response, 200, { id: 'c', model: 'gpt-4o', choices: [], usage }),
  );
  const defaultHeaders = { 'x-observatory-session': 'retried-and-done' };
  await ask(client('tries-twice').withOptions({ defaultHeaders, maxRetries: 1 }), 'Read the page.');
  const shown = async () => (await gateway.operator('GET', '/v1/sessions/retried-and-done')).body;
  await expect.poll(shown).toMatchObject({ step_count: 1, cost_usd: 0.0125, tokens: 2_000 });
});

test('an attempt of which no earlier one arrived is a step, as any call is', async () => {
  const usage = { prompt_tokens: 1_000, completion_tokens: 1_000, total_tokens: 2_000 };
  upstream.script((_call, response) =>
    respondJson(response, 200, { id: 'c', model: 'gpt-4o', choices: [], usage }),
  );
  // Its SDK found the gateway away, which was starting anew, and tried again.
  const again = { 'x-observatory-session': 'begun-with-a-retry', 'x-stainless-retry-count': '1' };
  await ask(client('tries-again').withOptions({ defaultHeaders: again }), 'Read the page.');
  expect(await callsOf('tries-again')).toMatchObject([{ is_retry: true }]);
  const shown = async () => (await gateway.operator('GET', '/v1/sessions/begun-with-a-retry')).body;
  await expect.poll(shown).toMatchObject({ step_count: 1, cost_usd: 0.0125, tokens: 2_000 });
});

test('what a session cost goes on over a restart', async () => {
  const usage = { prompt_tokens: 1_000, completion_tokens: 1_000, total_tokens: 2_000 };
  const choices = [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'Done.' } }];
  upstream.script((_call, response) =>
    respondJson(response, 200, { id: 'c', model: 'gpt-4o', choices, usage }),
  );
  const next = (content: string) =>
    client('spender').chat.completions.create(
      { model: 'gpt-4o', messages: [{ role: 'user', content }] },
      { headers: { 'x-observatory-session': 'spends-on' } },
    );
  const shown = async () => (await gateway.operator('GET', '/v1/sessions/spends-on')).body;
  await next('Read the first page.');
  await next('Now write to Ada.');
  await expect.poll(async () => (await shown()).step_count).toBe(2);
  await gateway.stop();
  await startAgain();
  await next('And call Grace.');
  await expect.poll(async () => (await shown()).step_count).toBe(3);
  expect((await shown()).cost_usd).toBeCloseTo(3 * 0.0125, 6);
});

describe('an answer that is worked on in the background', () => {
  const policy = { budget_day_usd: 0.05 };
  const response = { id: 'resp_1', object: 'response', model: 'gpt-4o', status: 'queued', output: [] };
  const asked = { model: 'gpt-4o', input: 'Look into it.', background: true } as const;
  /** 2.5 and 10 dollars a million: 0.025 + 0.02. */
  const done = { ...response, status: 'completed', usage: { input_tokens: 10_000, output_tokens: 2_000 } };
  const spentBy = async (agent: string) => (await agentOf(agent)).spend.day.spent_usd;
  /** As the vendor does: the request is answered at once, the answer fetched when it is there. */
  const scriptWork = (...fetched: object[]) =>
    upstream.script(({ method }, answer) =>
      respondJson(answer, 200, method === 'POST' ? response : (fetched.shift() ?? done)),
    );

  test('costs what whoever fetches it is told, once, and a budget knows', async () => {
    const agent = 'researcher';
    await limit(agent, policy);
    scriptWork(response);
    const { responses } = client(agent);
    const { id } = await responses.create(asked);
    await responses.retrieve(id);
    await expect.poll(() => callsOf(agent)).toHaveLength(2);
    const estimated = await spentBy(agent);
    expect(estimated).toBeCloseTo(0.01, 3);
    for (let time = 0; time < 3; time += 1) await responses.retrieve(id);
    await expect.poll(() => callsOf(agent)).toHaveLength(5);
    expect(await spentBy(agent)).toBeCloseTo(0.045, 6);
    const [, , told, waited] = await callsOf(agent);
    expect(told).toMatchObject({ model: 'gpt-4o', usage: { input_tokens: 10_000, output_tokens: 2_000 } });
    expect(told.cost_usd).toBeCloseTo(0.045 - estimated, 6);
    expect(waited).toMatchObject({ usage: null, cost_usd: 0 });
    await expect(responses.create(asked)).rejects.toMatchObject({ status: 429, code: 'budget_exceeded' });
  });

  test('gives its budget back what its bound had taken', async () => {
    const agent = 'bounded-researcher';
    await limit(agent, policy);
    scriptWork({ ...done, usage: { input_tokens: 100, output_tokens: 200 } });
    const { responses } = client(agent);
    const bounded = { ...asked, max_output_tokens: 4_000 };
    const { id } = await responses.create(bounded);
    await expect(responses.create(bounded)).rejects.toMatchObject({ status: 429 });
    await responses.retrieve(id);
    await expect.poll(async () => (await callsOf(agent)).length).toBe(3);
    await responses.create(bounded);
  });

  test('costs in the record what it took where its bound had estimated more, and a restart begins with that', async () => {
    const agent = 'restarted-researcher';
    await limit(agent, policy);
    scriptWork({ ...done, usage: { input_tokens: 100, output_tokens: 200 } });
    const bounded = { ...asked, max_output_tokens: 4_000 };
    const { id } = await client(agent).responses.create(bounded);
    await client(agent).responses.retrieve(id);
    const spendOf = async () =>
      (await gateway.operator('GET', `/v1/spend?group=hour&agent_id=${agent}`)).body.items;
    await expect.poll(async () => (await spendOf())[0]?.call_count).toBe(2);
    const [hour] = await spendOf();
    expect(hour.cost_usd).toBeCloseTo(0.00225, 6);
    expect(await spentBy(agent)).toBeCloseTo(0.00225, 6);
    await gateway.stop();
    await startAgain();
    expect(await spentBy(agent)).toBeCloseTo(0.00225, 6);
    await client(agent).responses.create(bounded);
  });

  test('costs what it took where the gateway was killed before anybody fetched it', async () => {
    const agent = 'killed-researcher';
    await limit(agent, policy);
    scriptWork({ ...done, usage: { input_tokens: 100, output_tokens: 200 } });
    const bounded = { ...asked, max_output_tokens: 4_000 };
    const { id } = await client(agent).responses.create(bounded);
    await expect.poll(() => callsOf(agent)).toHaveLength(1);
    await gateway.kill();
    await startAgain();
    expect(await spentBy(agent)).toBeGreaterThan(0.04);
    for (let time = 0; time < 2; time += 1) await client(agent).responses.retrieve(id);
    await expect.poll(() => callsOf(agent)).toHaveLength(3);
    expect(await spentBy(agent)).toBeCloseTo(0.00225, 6);
    await client(agent).responses.create(bounded);
  });

  test('costs no less than nothing where the gateway was killed before it was recorded', async () => {
    scriptWork({ ...done, usage: { input_tokens: 100, output_tokens: 200 } });
    const agents = Array.from({ length: 10 }, (_, at) => `unrecorded-researcher-${at}`);
    const bounded = JSON.stringify({ ...asked, max_output_tokens: 4_000 });
    const answers = agents.map((agent) =>
      fetch(`${gateway.url}/agents/${agent}/proxy/openai/v1/responses`, {
        method: 'POST',
        headers: { authorization: `Bearer ${AGENT_KEY}`, 'content-type': 'application/json' },
        body: bounded,
      }),
    );
    await Promise.all(answers);
    await gateway.kill();
    await startAgain();
    for (const agent of agents) await client(agent).responses.retrieve('resp_1');
    for (const agent of agents) {
      await expect
        .poll(async () => (await callsOf(agent)).some(({ method }: LlmCall) => method === 'GET'))
        .toBe(true);
      expect(await spentBy(agent)).toBeGreaterThanOrEqual(0);
    }
  });

  test('costs what it took where the gateway was killed right behind its fetch, once it is fetched again', async () => {
    scriptWork();
    const agents = Array.from({ length: 10 }, (_, at) => `refetching-researcher-${at}`);
    for (const agent of agents) await client(agent).responses.create({ ...asked, max_output_tokens: 4_000 });
    const records = async (agent: string, method: string) =>
      (await callsOf(agent)).filter((call: LlmCall) => call.method === method).length;
    for (const agent of agents) await expect.poll(() => records(agent, 'POST')).toBe(1);
    await Promise.all(agents.map((agent) => client(agent).responses.retrieve('resp_1')));
    await gateway.kill();
    await startAgain();
    for (const agent of agents) {
      const before = await records(agent, 'GET');
      await client(agent).responses.retrieve('resp_1');
      await expect.poll(() => records(agent, 'GET')).toBe(before + 1);
      expect(await spentBy(agent)).toBeCloseTo(0.045, 6);
    }
  });

  test('is settled by the rest of its stream, too, and is none where another agent fetches it', async () => {
    const agent = 'stream-researcher';
    const event = (type: string, value: object) =>
      `event: ${type}\ndata: ${JSON.stringify({ type, response: value })}\n\n`;
    upstream.script(({ method }, answer) =>
      method === 'POST'
        ? respondEvents(answer, [event('response.created', response)])
        : respondEvents(answer, [event('response.completed', done)]),
    );
    const { responses } = client(agent);
    for await (const _event of await responses.create({ ...asked, stream: true }));
    for (const one of ['another-researcher', agent])
      for await (const _event of await client(one).responses.retrieve('resp_1', { stream: true }));
    await expect.poll(() => callsOf(agent)).toHaveLength(2);
    expect(await spentBy(agent)).toBeCloseTo(0.045, 6);
    await expect.poll(() => callsOf('another-researcher')).toMatchObject([{ usage: null, cost_usd: 0 }]);
  });
});
