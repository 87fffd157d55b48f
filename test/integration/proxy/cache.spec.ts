/** The LLM cache as the vendors' own SDKs meet it: what is answered without the upstream, and what never is. */
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { deferred } from '#kernel';
import { respondJson, type UpstreamScript } from '#testing';
import { AGENT_KEY } from '../start-gateway.js';
import { gateway, startOneGateway, upstream, upstreamsAt } from '../start-one-gateway.js';
import { type AskOptions, always, openaiChat, VENDORS } from './vendors.js';

const RETRY_SAFE = { timeout: 10_000, interval: 50 };
const SIDECAR_START_MS_MAX = 30_000;
/** Sooner than anybody who waits for an equal call gives up. */
const AT_ONCE_MS = 10_000;

startOneGateway((origin) => ({
  ...upstreamsAt(origin, 'sk-test-upstream'),
  OBSERVATORY_UPSTREAM_OTHER_URL: `${origin}/v1`,
  OBSERVATORY_UPSTREAM_OTHER_KEY: 'sk-test-upstream',
  LLM_CACHE_BACKEND: 'memory',
  LLM_CACHE_SEMANTIC: 'on',
  LOOP_DETECTION_ENABLED: 'true',
  // A machine that runs other tests beside may take its time for a vector.
  LOOP_EMBEDDING_SIDECAR_TIMEOUT: '5s',
}));
beforeAll(async () => {
  const startedMs = performance.now();
  // Its vectors come from the sidecar, which starts beside it.
  while ((await gateway.operator('GET', '/v1/system')).body.sidecar.state !== 'serving') {
    if (performance.now() - startedMs > SIDECAR_START_MS_MAX) throw new Error(gateway.output());
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
});

let serial = 0;
/** A question nobody asked before, in a session of its own. */
const fresh = (options: AskOptions = {}): { text: string; options: AskOptions } => {
  serial += 1;
  return {
    text: `Tell me about object ${'abcdefghij'[serial % 10]}${serial}`,
    options: { ...options, headers: { 'x-observatory-session': `cache-${serial}`, ...options.headers } },
  };
};
const again = (options: AskOptions): AskOptions => {
  serial += 1;
  return { ...options, headers: { ...options.headers, 'x-observatory-session': `cache-${serial}` } };
};
const lastCall = async (options: AskOptions) => {
  const session = options.headers?.['x-observatory-session'];
  const { body } = await gateway.operator('GET', `/v1/calls?session_id=${session}`);
  return body.items[0];
};
const stats = async () => (await gateway.operator('GET', '/v1/cache/stats')).body;
/** The calls of an agent that asks nothing else have come, and wait for the one they equal. */
async function waiting(agent: string, count: number): Promise<void> {
  // One with a policy is known before its first call has ended.
  await gateway.operator('PATCH', `/v1/agents/${agent}/policy`, { requests_per_minute: 60 });
  await expect
    .poll(async () => (await gateway.operator('GET', `/v1/agents/${agent}`)).body.running_call_count)
    .toBe(count);
  // They run before their bodies are there: whoever has an answer to a later look into the cache has seen theirs.
  const headers = { 'x-observatory-cache': 'only' };
  await expect(openaiChat.ask(gateway.url, fresh().text, again({ headers }))).rejects.toThrow();
}

beforeEach(() => void upstream.script(always(openaiChat, { text: 'unscripted' })));

test('what compares questions is told before the first of them', async () => {
  expect(await stats()).toMatchObject({
    total_misses: 0,
    embedding_model: expect.any(String),
    hit_when_cosine_at_least: expect.any(Number),
  });
});

describe.each(VENDORS)('$name', (vendor) => {
  const text = 'Bern — 北京, "quoted" and\nbroken 🙂 lines.';

  test('asks the upstream once for two equal calls, and the second has the same text', async () => {
    upstream.script(always(vendor, { text }));
    const { text: question, options } = fresh();
    expect((await vendor.ask(gateway.url, question, options)).text).toBe(text);
    const second = again(options);
    expect(await vendor.ask(gateway.url, question, second)).toEqual({ text, toolCalls: [] });
    expect(upstream.calls).toHaveLength(1);
    expect(await lastCall(second)).toMatchObject({
      decision: 'cached',
      status: 200,
      cost_usd: 0,
      usage: null,
      cache: { match: 'exact', cosine: null },
    });
    const { cache, duration_ms, first_byte_ms } = await lastCall(second);
    expect(cache.saved_usd).toBeGreaterThan(0);
    expect(duration_ms).toBeGreaterThanOrEqual(first_byte_ms);
  });

  test('streams from what an unstreamed call left, and the other way round', async () => {
    upstream.script(always(vendor, { text }));
    const one = fresh();
    await vendor.ask(gateway.url, one.text, one.options);
    expect((await vendor.askStreaming(gateway.url, one.text, again(one.options))).text).toBe(text);
    const other = fresh();
    await vendor.askStreaming(gateway.url, other.text, other.options);
    expect((await vendor.ask(gateway.url, other.text, again(other.options))).text).toBe(text);
    expect(upstream.calls).toHaveLength(2);
  });

  test('gives tool calls back, whole and streamed', async () => {
    const toolCall = { name: 'search', arguments: { query: 'weather in "Zürich"', days: [1, 2] } };
    upstream.script(always(vendor, { toolCall }));
    const { text: question, options } = fresh();
    await vendor.ask(gateway.url, question, options);
    const toolCalls = [{ ...toolCall, id: vendor.callId }];
    expect(await vendor.ask(gateway.url, question, again(options))).toMatchObject({ toolCalls });
    expect(await vendor.askStreaming(gateway.url, question, again(options))).toMatchObject({ toolCalls });
    expect(upstream.calls).toHaveLength(1);
  });

  test('answers a reworded question at temperature 0, and only in its own context', async () => {
    upstream.script(always(vendor, { text: 'It opens at nine.' }));
    const scope = { system: `You are the guide of hall ${vendor.name}.`, temperature: 0, store: false };
    const first = again(scope);
    await vendor.ask(gateway.url, 'When does the museum open, please?', first);
    const reworded = again(scope);
    await vendor.ask(gateway.url, 'when does the museum open', reworded);
    expect(await lastCall(reworded)).toMatchObject({ decision: 'cached', cache: { match: 'semantic' } });
    expect((await lastCall(reworded)).cache.cosine).toBeGreaterThan(0.9);
    for (const elsewhere of [
      again({ ...scope, system: 'You are the guide of another hall.' }),
      again({ ...scope, temperature: 0.5 }),
      again({ system: scope.system }),
    ]) {
      await vendor.ask(gateway.url, 'when does the museum open', elsewhere);
      expect(await lastCall(elsewhere)).toMatchObject({ decision: 'forwarded', cache: null });
    }
  });
});

describe('the context of a question', () => {
  const post = async (body: object, headers: Record<string, string> = {}, path = 'openai') => {
    serial += 1;
    const response = await fetch(`${gateway.url}/proxy/${path}/v1/chat/completions`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${AGENT_KEY}`,
        'content-type': 'application/json',
        // Else the kill switch would rightly take them for one conversation that goes in circles.
        'x-observatory-session': `context-${serial}`,
        ...headers,
      },
      body: JSON.stringify(body),
    });
    return { status: response.status, cache: response.headers.get('x-observatory-cache'), response };
  };
  const base = {
    model: 'gpt-4o-mini',
    temperature: 0,
    messages: [
      { role: 'system', content: 'Context of the scope test.' },
      { role: 'user', content: 'Is the bridge open?' },
      { role: 'assistant', content: 'Yes.' },
      { role: 'user', content: 'Which ships may pass the bridge today, please?' },
    ],
  };
  const reworded = (change: object = {}) => ({
    ...base,
    messages: [
      ...base.messages.slice(0, 3),
      { role: 'user', content: 'which ships may pass the bridge today' },
    ],
    ...change,
  });

  test('is all of it: tools, model, upstream, limits and every earlier message', async () => {
    upstream.script(always(openaiChat, { text: 'Only small ones.' }));
    expect((await post(base)).cache).toBe('miss');
    expect((await post(reworded())).cache).toBe('semantic');
    const tool = { type: 'function', function: { name: 'look', parameters: { type: 'object' } } };
    const others = [
      reworded({ tools: [tool] }),
      reworded({ model: 'gpt-4o' }),
      reworded({ max_tokens: 5 }),
      reworded({ response_format: { type: 'json_object' } }),
      reworded({ seed: 7 }),
      {
        ...reworded(),
        messages: reworded().messages.with(1, { role: 'user', content: 'Is the gate open?' }),
      },
      { ...reworded(), messages: reworded().messages.slice(2) },
    ];
    for (const other of others) expect((await post(other)).cache).toBe('miss');
    expect((await post(reworded(), {}, 'other')).cache).toBe('miss');
  });

  test('is strict with a single word, which the vectors take for the same', async () => {
    upstream.script(always(openaiChat, { text: 'For a year.' }));
    const ask = async (content: string) =>
      (await post({ ...base, messages: [{ role: 'user', content }] })).cache;
    expect(await ask('Please, does the polish on this table last for long?')).toBe('miss');
    expect(await ask('does the polish on this table last for long')).toBe('semantic');
    const { vetoes } = await stats();
    expect(await ask('does the Polish on this table last for long')).toBe('miss');
    expect((await stats()).vetoes.spelling).toBe((vetoes.spelling ?? 0) + 1);
  });

  test('answers for no other auxiliary, no condition more and nothing else behind a colon', async () => {
    upstream.script(always(openaiChat, { text: 'Yes.' }));
    const ask = async (content: string) =>
      (await post({ ...base, messages: [{ role: 'user', content }] })).cache;
    const asked = 'the nurse give the patient in the ward water in the evening';
    expect(await ask(`Did ${asked}?`)).toBe('miss');
    expect(await ask(`Should ${asked}?`)).toBe('miss');
    expect(await ask(`Did ${asked} while driving?`)).toBe('miss');
    expect(await ask(`did ${asked}`)).toBe('semantic');
    expect(await ask('How many letters are in: hello, world')).toBe('miss');
    expect(await ask('How many letters are in: hello world')).toBe('miss');
  });

  test('does not cross a tenant, whatever its key says', async () => {
    upstream.script(always(openaiChat, { text: 'Ours.' }));
    const made = await fetch(`${gateway.url}/v1/agent-keys`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${gateway.operatorToken}`,
        'x-observatory-operator-id': 'tester',
        'x-tenant-id': 'rival',
        'content-type': 'application/json',
      },
      body: JSON.stringify({ name: 'rival agents' }),
    });
    const { secret } = (await made.json()) as { secret: string };
    const question = {
      ...base,
      messages: [{ role: 'user', content: 'What is the tenant secret of the day?' }],
    };
    expect((await post(question)).cache).toBe('miss');
    expect((await post(question)).cache).toBe('exact');
    const rival = { authorization: `Bearer ${secret}` };
    expect((await post(question, { ...rival, 'x-tenant-id': 'default' })).status).toBe(403);
    expect(await post(question, rival)).toMatchObject({ status: 200, cache: 'miss' });
    const answer = await fetch(`${gateway.url}/v1/cache/invalidate`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${gateway.operatorToken}`,
        'x-observatory-operator-id': 'tester',
        'x-tenant-id': 'rival',
        'content-type': 'application/json',
      },
      body: JSON.stringify({ pattern: '*', preview: false }),
    });
    expect(await answer.json()).toEqual({ status: 'ok', count: 1, preview: false });
    expect((await post(question)).cache).toBe('exact');
  });

  test('is obeyed where the caller says how: bypass, refresh, only, no-store, and nonsense is named', async () => {
    upstream.script(always(openaiChat, { text: 'As told.' }));
    const question = { ...base, messages: [{ role: 'user', content: 'Obey me in this matter of controls' }] };
    const only = await post(question, { 'x-observatory-cache': 'only' });
    expect([only.status, only.cache]).toEqual([504, 'miss']);
    expect(JSON.stringify(await only.response.json())).toContain('cache');
    const declined: Record<string, string>[] = [
      { 'x-observatory-cache': 'bypass' },
      { 'cache-control': 'no-store' },
    ];
    for (const headers of declined) expect((await post(question, headers)).cache).toBeNull();
    expect((await post(question)).cache).toBe('miss');
    expect((await post(question, { 'x-observatory-cache': 'only' })).cache).toBe('exact');
    upstream.script(always(openaiChat, { text: 'Anew.' }));
    expect((await post(question, { 'x-observatory-cache': 'refresh' })).cache).toBe('miss');
    const { response } = await post(question);
    expect(((await response.json()) as any).choices[0].message.content).toBe('Anew.');
    const odd = await post(question, { 'x-observatory-cache': 'sometimes' });
    expect(odd.status).toBe(400);
    expect(JSON.stringify(await odd.response.json())).toContain('bypass, refresh, only');
  });

  test('counts for a policy, and an agent whose policy is off or exact only has it so', async () => {
    upstream.script(always(openaiChat, { text: 'By policy.' }));
    await gateway.operator('PATCH', '/v1/agents/careful/policy', { cache: 'exact_only' });
    await gateway.operator('PATCH', '/v1/agents/uncached/policy', { cache: 'off' });
    const ask = (agent: string, content: string) =>
      post({ ...base, messages: [{ role: 'user', content }] }, { 'x-observatory-agent': agent });
    await ask('careful', 'Please, what does the policy of caching say?');
    expect((await ask('careful', 'what does the policy of caching say')).cache).toBe('miss');
    expect((await ask('careful', 'what does the policy of caching say')).cache).toBe('exact');
    expect((await ask('uncached', 'what does the policy of caching say')).cache).toBeNull();
  });
});

describe('what is never kept', () => {
  const chat =
    (finish_reason: string, message: object): UpstreamScript =>
    (_call, response) =>
      respondJson(response, 200, {
        id: 'chatcmpl-1',
        object: 'chat.completion',
        created: 1,
        model: 'gpt-4o-mini',
        choices: [{ index: 0, finish_reason, message: { role: 'assistant', ...message } }],
        usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
      });
  const broken: UpstreamScript = (_call, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write('data: {"choices":[{"index":0,"delta":{"content":"half"}}]}\n\n');
    setTimeout(() => response.destroy(), 20);
  };

  test.each<[string, UpstreamScript]>([
    ['an error', (_call, response) => respondJson(response, 500, { error: { message: 'no' } })],
    ['an answer cut off at its length', chat('length', { content: 'half' })],
    ['a filtered answer', chat('content_filter', { content: '' })],
    ['an answer that says nothing', chat('stop', { content: '' })],
    [
      'an answer that holds more than text and tool calls',
      chat('stop', { content: 'x', audio: { id: 'a', data: 'AAAA' } }),
    ],
    ['a broken stream', broken],
  ])('%s', async (_what, script) => {
    upstream.script(script);
    const { text, options } = fresh();
    const ask = script === broken ? openaiChat.askStreaming : openaiChat.ask;
    await ask(gateway.url, text, options).catch(() => {});
    upstream.script(always(openaiChat, { text: 'whole' }));
    expect((await openaiChat.ask(gateway.url, text, again(options))).text).toBe('whole');
  });

  test('the answer to a call that carries words of an operator', async () => {
    upstream.script(always(openaiChat, { text: 'told' }));
    const { text, options } = fresh();
    const session = options.headers?.['x-observatory-session'];
    await openaiChat.ask(gateway.url, 'Get going', options);
    const inject = () =>
      gateway.operator('POST', `/v1/sessions/${session}/inject`, { prompt: 'Look elsewhere.' });
    await expect.poll(async () => (await inject()).status, RETRY_SAFE).toBe(200);
    await openaiChat.ask(gateway.url, text, options);
    upstream.script(always(openaiChat, { text: 'untold' }));
    expect((await openaiChat.ask(gateway.url, text, again(options))).text).toBe('untold');
  });
});

describe('equal calls at the same time', () => {
  /** Answers once `end` is called. */
  function answerAtEnd(text: string) {
    const ended = deferred();
    upstream.script(async (...call) => {
      await ended.promise;
      always(openaiChat, { text })(...call);
    });
    return () => ended.resolve();
  }

  test('go upstream once', async () => {
    const end = answerAtEnd('shared');
    const { text, options } = fresh({ agent: 'eight-at-once' });
    const before = (await stats()).coalesced;
    const asked = Array.from({ length: 8 }, () => openaiChat.ask(gateway.url, text, again(options)));
    await waiting('eight-at-once', 8);
    end();
    expect((await Promise.all(asked)).map((one) => one.text)).toEqual(Array(8).fill('shared'));
    expect(upstream.calls).toHaveLength(1);
    expect((await stats()).coalesced - before).toBe(7);
  });

  test('each try for themselves when the first one fails', async () => {
    const failed = deferred();
    upstream.script(async (call, response, index) => {
      if (index > 0) return always(openaiChat, { text: 'by itself' })(call, response, index);
      await failed.promise;
      respondJson(response, 500, { error: { message: 'no' } });
    });
    const { text, options } = fresh({ agent: 'four-at-once' });
    const asked = Promise.allSettled(
      Array.from({ length: 4 }, () => openaiChat.ask(gateway.url, text, again(options))),
    );
    await waiting('four-at-once', 4);
    failed.resolve();
    const results = await asked;
    expect(results.filter(({ status }) => status === 'rejected')).toHaveLength(1);
    expect(upstream.calls).toHaveLength(4);
  });

  /** A first call that waits for `end`, and behind it an equal one of a session that an operator can act on. */
  async function oneBehindAnother() {
    let end = (_status: number) => {};
    const { text, options } = fresh();
    const session = options.headers?.['x-observatory-session'] as string;
    upstream.script(always(openaiChat, { text: 'begun' }));
    await openaiChat.ask(gateway.url, `Begin ${session}`, options);
    await expect
      .poll(async () => (await gateway.operator('GET', `/v1/sessions/${session}`)).status, RETRY_SAFE)
      .toBe(200);
    upstream.script((call, response, index) => {
      if (index > 0) return always(openaiChat, { text: 'asked by itself' })(call, response, index);
      end = (status) => {
        if (status === 200) always(openaiChat, { text: 'shared' })(call, response, index);
        else respondJson(response, status, { error: { message: 'no' } });
      };
    });
    const first = openaiChat.ask(gateway.url, text, again(options)).catch(() => {});
    await expect.poll(() => upstream.calls.length).toBe(1);
    const agent = `behind-${serial}`;
    const signal = AbortSignal.timeout(AT_ONCE_MS);
    const behind = openaiChat.ask(gateway.url, text, { ...options, agent, signal });
    behind.catch(() => {});
    await waiting(agent, 1);
    const command = async (name: string, body: object) =>
      expect(await gateway.operator('POST', `/v1/sessions/${session}/${name}`, body)).toMatchObject({
        status: 200,
      });
    const held = async () =>
      (await gateway.operator('GET', `/v1/held-calls?session_id=${session}`)).body.items.length;
    return { agent, options, first, behind, command, held, end: (status: number) => end(status) };
  }

  test('are refused at once when their agent is stopped, though it be active again right behind', async () => {
    const { agent, options, first, behind, end } = await oneBehindAnother();
    await Promise.all([
      gateway.operator('POST', `/v1/agents/${agent}/deactivate`, { reason: 'enough' }),
      gateway.operator('POST', `/v1/agents/${agent}/reactivate`),
    ]);
    await expect(behind).rejects.toMatchObject({ status: 403, code: 'agent_inactive' });
    expect(await lastCall(options)).toMatchObject({ decision: 'inactive', cache: null });
    end(200);
    await first;
    expect(upstream.calls).toHaveLength(1);
  });

  test('are refused at once when their session is terminated', async () => {
    const { options, first, behind, command, end } = await oneBehindAnother();
    await command('terminate', { reason: 'enough' });
    await expect(behind).rejects.toMatchObject({ status: 403 });
    expect(await lastCall(options)).toMatchObject({ decision: 'terminated', cache: null });
    end(200);
    await first;
    expect(upstream.calls).toHaveLength(1);
  });

  test.each([
    ['has brought an answer', 200, 'shared'],
    ['has brought none', 500, 'asked by itself'],
  ])(
    'are held at once when their session is paused, and go on once the first one %s',
    async (_, status, answer) => {
      const { options, first, behind, command, held, end } = await oneBehindAnother();
      await command('pause', { reason: 'let me look' });
      await expect.poll(held).toBe(1);
      end(status);
      await first;
      await command('resume', {});
      expect((await behind).text).toBe(answer);
      expect(upstream.calls).toHaveLength(status === 200 ? 1 : 2);
      expect((await lastCall(options)).held_ms).toBeGreaterThan(0);
    },
  );

  test('go by themselves when the answer they waited for was thrown out during their pause', async () => {
    const { first, behind, command, held, end } = await oneBehindAnother();
    await command('pause', { reason: 'let me look' });
    await expect.poll(held).toBe(1);
    end(200);
    await first;
    await gateway.operator('POST', '/v1/cache/invalidate', {});
    await command('resume', {});
    expect((await behind).text).toBe('asked by itself');
  });

  const narrowModels = (agent: string) =>
    gateway.operator('PATCH', `/v1/agents/${agent}/policy`, { allowed_models: ['none-such'] });

  test('get no answer once their agent may not use its model any more', async () => {
    const { agent, options, first, behind, end } = await oneBehindAnother();
    await narrowModels(agent);
    end(200);
    await first;
    await expect(behind).rejects.toMatchObject({ status: 403, code: 'model_not_allowed' });
    expect(await lastCall(options)).toMatchObject({ decision: 'not_allowed', cache: null });
    expect(upstream.calls).toHaveLength(1);
  });

  test('get none after a pause either', async () => {
    const barred = await oneBehindAnother();
    await barred.command('pause', { reason: 'let me look' });
    await expect.poll(barred.held).toBe(1);
    barred.end(200);
    await barred.first;
    await narrowModels(barred.agent);
    await barred.command('resume', {});
    await expect(barred.behind).rejects.toMatchObject({ status: 403, code: 'model_not_allowed' });
  });

  test('go by themselves when their pause is over before the first one has brought anything', async () => {
    const { first, behind, command, held, end } = await oneBehindAnother();
    await command('pause', { reason: 'let me look' });
    await expect.poll(held).toBe(1);
    await command('resume', {});
    expect((await behind).text).toBe('asked by itself');
    end(200);
    await first;
  });

  test('take an operator’s words along, and then neither share an answer nor leave one', async () => {
    const { options, first, behind, command, held, end } = await oneBehindAnother();
    await command('pause', { reason: 'let me look' });
    end(200);
    await first;
    await expect.poll(held).toBe(1);
    await command('inject', { prompt: 'Look elsewhere, said the operator.' });
    await command('resume', {});
    expect((await behind).text).toBe('asked by itself');
    expect(openaiChat.textOf(upstream.calls[1]?.json)).toContain('Look elsewhere, said the operator.');
    expect(await lastCall(options)).toMatchObject({ decision: 'hinted', cache: null });
  });

  test('are not disturbed by one that waits and leaves, nor by a first one that leaves', async () => {
    const end = answerAtEnd('for those who stayed');
    const { text, options } = fresh({ agent: 'one-leaves' });
    const leaving = new AbortController();
    const first = openaiChat.ask(gateway.url, text, again(options));
    await expect.poll(() => upstream.calls.length).toBe(1);
    const gone = openaiChat
      .ask(gateway.url, text, again({ ...options, signal: leaving.signal }))
      .catch(() => 'left');
    const stays = openaiChat.ask(gateway.url, text, again(options));
    await waiting('one-leaves', 3);
    leaving.abort();
    expect(await gone).toBe('left');
    await waiting('one-leaves', 2);
    end();
    expect((await first).text).toBe('for those who stayed');
    expect((await stays).text).toBe('for those who stayed');
    expect(upstream.calls).toHaveLength(1);

    answerAtEnd('for nobody');
    const next = fresh({ agent: 'first-leaves' });
    const leader = new AbortController();
    const led = openaiChat
      .ask(gateway.url, next.text, again({ ...next.options, signal: leader.signal }))
      .catch(() => 'left');
    await expect.poll(() => upstream.calls.length).toBe(1);
    const follower = openaiChat.ask(gateway.url, next.text, again(next.options));
    await waiting('first-leaves', 2);
    upstream.script(always(openaiChat, { text: 'for who stayed' }));
    leader.abort();
    expect(await led).toBe('left');
    expect((await follower).text).toBe('for who stayed');
  });
});

describe('an equal call whose first one hangs at the upstream', () => {
  async function hanging() {
    upstream.script((call, response, index) => {
      if (index > 0) always(openaiChat, { text: 'by itself' })(call, response, index);
    });
    const { text, options } = fresh();
    const leader = new AbortController();
    const first = openaiChat
      .ask(gateway.url, text, again({ ...options, signal: leader.signal }))
      .catch(() => 'left');
    await expect.poll(() => upstream.calls.length).toBe(1);
    const ask = (more: AskOptions = {}) =>
      openaiChat.ask(gateway.url, text, again({ ...options, ...more, headers: { ...more.headers } }));
    const end = async () => {
      leader.abort();
      expect(await first).toBe('left');
    };
    return { ask, end };
  }

  test('goes by itself when it is a client’s retry', async () => {
    const { ask, end } = await hanging();
    const signal = AbortSignal.timeout(AT_ONCE_MS);
    expect((await ask({ headers: { 'x-stainless-retry-count': '1' }, signal })).text).toBe('by itself');
    await end();
  });

  test('goes by itself once another one has left, and others wait for that one', async () => {
    const { ask, end } = await hanging();
    const leaving = new AbortController();
    const agent = 'behind-a-hanging-one';
    const left = ask({ agent, signal: leaving.signal }).catch(() => 'left');
    await waiting(agent, 1);
    expect(upstream.calls).toHaveLength(1);
    leaving.abort();
    expect(await left).toBe('left');
    await waiting(agent, 0);
    const answers = await Promise.all([ask(), ask(), ask()]);
    expect(answers.map(({ text }) => text)).toEqual(Array(3).fill('by itself'));
    expect(upstream.calls).toHaveLength(2);
    await end();
  });
});

describe('an answer that was under way', () => {
  /** The first call's answer comes when `end` is called; all others at once. */
  async function slowFirst() {
    const { text, options } = fresh();
    let end = () => {};
    upstream.script((call, response, index) => {
      const answer = () => always(openaiChat, { text: index === 0 ? 'old' : 'new' })(call, response, index);
      if (index === 0) end = answer;
      else answer();
    });
    const ask = async (headers: Record<string, string> = {}) =>
      (
        await openaiChat.ask(
          gateway.url,
          text,
          again({ ...options, headers, signal: AbortSignal.timeout(AT_ONCE_MS) }),
        )
      ).text;
    const first = ask();
    await expect.poll(() => upstream.calls.length).toBe(1);
    return { ask, first, end: () => end() };
  }

  test('when answers were thrown out is not kept, and nobody who asks after that waits for it', async () => {
    const { ask, first, end } = await slowFirst();
    const before = (await stats()).not_stored.outdated ?? 0;
    await gateway.operator('POST', '/v1/cache/invalidate', {});
    expect(await ask()).toBe('new');
    await gateway.operator('POST', '/v1/cache/invalidate', {});
    end();
    expect(await first).toBe('old');
    await expect.poll(async () => (await stats()).not_stored.outdated).toBe(before + 1);
    expect((await gateway.operator('GET', '/v1/cache/entries')).body.items).toEqual([]);
    expect(await ask()).toBe('new');
    expect(await ask()).toBe('new');
    expect(upstream.calls).toHaveLength(3);
  });

  test('when a preview counted what matches is kept as ever', async () => {
    const { ask, first, end } = await slowFirst();
    await gateway.operator('POST', '/v1/cache/invalidate', { preview: true });
    end();
    await first;
    expect(await ask()).toBe('old');
    expect(upstream.calls).toHaveLength(1);
  });

  test('does not take the place of one that was asked for later', async () => {
    const { ask, first, end } = await slowFirst();
    expect(await ask({ 'x-observatory-cache': 'refresh' })).toBe('new');
    end();
    expect(await first).toBe('old');
    expect(await ask()).toBe('new');
    expect(upstream.calls).toHaveLength(2);
  });
});

describe('a request for a cached answer or none', () => {
  test('that finds nothing is a miss, and no failure of an upstream that nobody asked', async () => {
    const { text, options } = fresh({ headers: { 'x-observatory-cache': 'only' } });
    const missed = async () => {
      const metrics = await (await fetch(`${gateway.url}/metrics`)).text();
      return Number(/^observatory_cache_lookups_total\{outcome="miss"\} (\d+)$/m.exec(metrics)?.[1]);
    };
    const [before, missedBefore] = [await stats(), await missed()];
    await expect(openaiChat.ask(gateway.url, text, options)).rejects.toMatchObject({ status: 504 });
    const { total_misses, not_stored } = await stats();
    expect(total_misses).toBe(before.total_misses + 1);
    expect(not_stored).toEqual(before.not_stored);
    expect(await missed()).toBe(missedBefore + 1);
  });

  test('never reaches the upstream, whatever keeps the cache from answering', async () => {
    upstream.script(always(openaiChat, { text: 'paid for' }));
    const only = { 'x-observatory-cache': 'only' };
    const post = (body: object, headers: Record<string, string>) =>
      fetch(`${gateway.url}/proxy/openai/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${AGENT_KEY}`, 'content-type': 'application/json', ...headers },
        body: typeof body === 'string' ? body : JSON.stringify(body),
      });
    const messages = [{ role: 'user', content: 'Only from the cache, and it is off' }];
    await gateway.operator('PATCH', '/v1/agents/no-cache/policy', { cache: 'off' });
    const off = await post({ model: 'm', messages }, { ...only, 'x-observatory-agent': 'no-cache' });
    const unsafe = JSON.stringify({ model: 'm', messages, seed: 1 }).replace(
      '"seed":1',
      '"seed":9007199254740993',
    );
    const rounded = await post(unsafe as never, only);
    const stateful = await post({ model: 'm', messages, web_search_options: {} }, only);
    expect([off.status, rounded.status, stateful.status]).toEqual([504, 504, 504]);
    expect([off, rounded, stateful].map(({ headers }) => headers.get('x-observatory-cache'))).toEqual(
      Array(3).fill('miss'),
    );
    expect(upstream.calls).toHaveLength(0);
  });
});

describe('where a request goes, and with what', () => {
  test('is part of its key: another address under the same name, another header, another caller', async () => {
    upstream.script(always(openaiChat, { text: 'from the first' }));
    const put = (path: string) =>
      gateway.operator('PUT', '/v1/upstreams/movable', { base_url: `${upstream.origin}${path}` });
    expect((await put('/first/v1')).status).toBe(200);
    const ask = async (headers: Record<string, string> = {}) => {
      serial += 1;
      const response = await fetch(`${gateway.url}/proxy/movable/v1/chat/completions`, {
        method: 'POST',
        headers: {
          'x-observatory-key': AGENT_KEY,
          authorization: 'Bearer sk-caller',
          'content-type': 'application/json',
          'x-observatory-session': `moved-${serial}`,
          ...headers,
        },
        body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'Where do you live?' }] }),
      });
      await response.text();
      return response.headers.get('x-observatory-cache');
    };
    expect([await ask(), await ask({ 'user-agent': 'another' })]).toEqual(['miss', 'exact']);
    expect(await ask({ 'x-portkey-config': 'other-model' })).toBe('miss');
    expect(await ask({ authorization: 'Bearer sk-somebody-else' })).toBe('miss');
    expect(await ask({ 'api-key': 'sk-azure' })).toBe('miss');
    expect((await put('/second/v1')).status).toBe(200);
    expect(await ask()).toBe('miss');
  });
});

describe('an answer that its vendor keeps', () => {
  const agent = 'keeps-answers';
  const create = async (body: object, headers: Record<string, string> = {}) => {
    const response = await fetch(`${gateway.url}/agents/${agent}/proxy/openai/v1/responses`, {
      method: 'POST',
      headers: { authorization: `Bearer ${AGENT_KEY}`, 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ model: 'gpt-4o-mini', ...body }),
    });
    const { id } = (await response.json()) as { id: string };
    const calls = async () => (await gateway.operator('GET', `/v1/calls?agent_id=${agent}`)).body.items;
    const callId = response.headers.get('x-observatory-call');
    const own = (items: { call_id: string }[]) => items.find(({ call_id }) => call_id === callId);
    await expect.poll(async () => own(await calls()), RETRY_SAFE).toBeDefined();
    return { id, session: (own(await calls()) as unknown as { session_id: string }).session_id };
  };
  const answers = () =>
    upstream.script((_call, response) =>
      respondJson(response, 200, {
        id: `resp_kept_${++serial}`,
        object: 'response',
        status: 'completed',
        model: 'gpt-4o-mini',
        output: [
          {
            type: 'message',
            id: 'msg_1',
            role: 'assistant',
            status: 'completed',
            content: [{ type: 'output_text', text: 'On Saturday.', annotations: [] }],
          },
        ],
      }),
    );

  test('is nobody else’s to go on from: each end user stays in a conversation of their own', async () => {
    answers();
    const input = 'When do you open, on what day?';
    const ann = await create({ input, user: 'ann' });
    const bob = await create({ input, user: 'bob' });
    expect(bob.session).not.toBe(ann.session);
    const goesOn = (user: string, { id }: { id: string }) =>
      create({ input: `And when do you close, asks ${user}?`, user, previous_response_id: id });
    expect((await goesOn('ann', ann)).session).toBe(ann.session);
    expect((await goesOn('bob', bob)).session).toBe(bob.session);
    expect((await create({ input, user: 'ann' })).id).toBe(ann.id);
  });

  test('is given to nobody any more once it was deleted there', async () => {
    answers();
    const input = 'When do you open, and for how long?';
    const first = await create({ input });
    expect((await create({ input })).id).toBe(first.id);
    const remove = (id: string) =>
      fetch(`${gateway.url}/agents/${agent}/proxy/openai/v1/responses/${id}`, {
        method: 'DELETE',
        headers: { authorization: `Bearer ${AGENT_KEY}` },
      });
    expect((await remove(first.id)).status).toBe(200);
    const second = await create({ input });
    expect(second.id).not.toBe(first.id);
    expect((await create({ input })).id).toBe(second.id);
  });

  test('stays in the session that it was made in, whoever is given it again', async () => {
    answers();
    const input = 'When do you open, and at what hour?';
    const first = await create({ input });
    const named = await create({ input }, { 'x-observatory-session': 'named-elsewhere' });
    expect(named).toEqual({ id: first.id, session: 'named-elsewhere' });
    const next = await create({ input: 'And when do you close?', previous_response_id: first.id });
    expect(next.session).toBe(first.session);
  });
});

describe('beside the semantic loop', () => {
  test('equal questions that nobody put into a session are answered from the cache, and are no loop', async () => {
    upstream.script(always(openaiChat, { text: 'every time' }));
    const question = 'What would two strangers ask in the very same words?';
    for (let at = 0; at < 3; at += 1)
      expect((await openaiChat.ask(gateway.url, question, { agent: 'unnamed' })).text).toBe('every time');
    expect(upstream.calls).toHaveLength(1);
    const { body } = await gateway.operator('GET', '/v1/calls?agent_id=unnamed');
    expect(body.items.map((call: { decision: string }) => call.decision)).toEqual([
      'cached',
      'cached',
      'forwarded',
    ]);
  });
});

describe('detectors', () => {
  test('take a cached answer for a step like any other: the kill switch still stops the loop', async () => {
    upstream.script(always(openaiChat, { text: 'The same again.' }));
    // A session that somebody named would get a hint at its second equal question, and a hinted call no cached answer.
    await gateway.operator('PATCH', '/v1/agents/cached-loop/policy', { semantic_loop: 'off' });
    const options = { agent: 'cached-loop', headers: { 'x-observatory-session': 'cached-loop' } };
    for (let turn = 0; turn < 5; turn += 1)
      await openaiChat.ask(gateway.url, 'Try the very same thing', options);
    expect(upstream.calls).toHaveLength(1);
    const killed = await openaiChat.ask(gateway.url, 'Try the very same thing', options);
    expect(killed.text).not.toBe('The same again.');
    expect(await lastCall(options)).toMatchObject({ decision: 'killed' });
    await expect
      .poll(
        async () => (await gateway.operator('GET', '/v1/sessions/cached-loop')).body.step_count,
        RETRY_SAFE,
      )
      .toBeGreaterThanOrEqual(5);
  });
});

describe('users whom nobody tells apart', () => {
  test('may open with the same question as often as they like: the cache repeats itself, their bot does not', async () => {
    upstream.script(always(openaiChat, { text: 'On Saturday from nine to five.' }));
    const ask = () =>
      openaiChat.ask(gateway.url, 'What are your opening hours on Saturday?', {
        agent: 'help-desk',
        system: 'You are the help desk of a shop.',
      });
    for (let user = 0; user < 12; user += 1)
      expect((await ask()).text).toBe('On Saturday from nine to five.');
    expect(upstream.calls).toHaveLength(1);
    expect((await gateway.operator('GET', '/v1/agents/help-desk')).body.policy.active).toBe(true);
  });
});

describe('an operator', () => {
  test('sees entries without their texts, previews and invalidates, and judges a match', async () => {
    upstream.script(always(openaiChat, { text: 'canary-answer-7731' }));
    const agent = 'judged';
    const scope = { temperature: 0, agent, system: 'Judge me.' };
    await openaiChat.ask(gateway.url, 'Please, where is the canary-question-7731 kept?', again(scope));
    const match = again(scope);
    await openaiChat.ask(gateway.url, 'where is the canary-question-7731 kept', match);
    expect((await lastCall(match)).cache).toMatchObject({ match: 'semantic' });

    const entries = (await gateway.operator('GET', '/v1/cache/entries?limit=500')).body;
    expect(entries.items.some((entry: { agent_id: string }) => entry.agent_id === agent)).toBe(true);
    expect(JSON.stringify(entries)).not.toContain('canary');

    const preview = await gateway.operator('POST', '/v1/cache/invalidate', {
      pattern: `agent:${agent}`,
      preview: true,
    });
    expect(preview.body).toMatchObject({ count: 1, preview: true });

    const matches = (await gateway.operator('GET', '/v1/cache/matches')).body;
    const found = matches.items.find((one: { agent_id: string }) => one.agent_id === agent);
    expect(found).toMatchObject({ served: true, verdict: null });
    const judged = await gateway.operator('POST', `/v1/cache/matches/${found.match_id}/verdict`, {
      verdict: 'wrong',
    });
    expect(judged.body).toMatchObject({ verdict: 'wrong', verdict_by: 'tester' });
    expect(await stats()).toMatchObject({ marked_wrong: 1 });
    expect((await stats()).wrong_hit_rate).toBeGreaterThan(0);
    const after = again(scope);
    await openaiChat.ask(gateway.url, 'Please, where is the canary-question-7731 kept?', after);
    expect((await lastCall(after)).decision).toBe('forwarded');
    // Nor does the pair come back by the answers that were given since, in either direction.
    const other = again(scope);
    await openaiChat.ask(gateway.url, 'where is the canary-question-7731 kept', other);
    expect((await lastCall(other)).decision).toBe('forwarded');

    const removed = await gateway.operator('POST', '/v1/cache/invalidate', { pattern: `agent:${agent}` });
    expect(removed.body.count).toBe(2);
    const audit = (await gateway.operator('GET', '/v1/audit?limit=20')).body.items;
    expect(audit.map((entry: { action: string }) => entry.action)).toEqual(
      expect.arrayContaining(['invalidate_cache', 'judge_cache_match']),
    );
    expect(
      (await gateway.operator('POST', '/v1/cache/matches/none/verdict', { verdict: 'right' })).status,
    ).toBe(404);
    expect((await gateway.operator('POST', '/v1/cache/invalidate', { pattern: '' })).status).toBe(422);
    expect(gateway.output()).not.toContain('canary');
  });
});
