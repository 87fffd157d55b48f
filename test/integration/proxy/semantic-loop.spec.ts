/**
 * Semantic loops from the gateway's side: a sidecar whose every answer is scripted stands at the socket, and the
 * vendors' real SDKs ask. What the real sidecar finds is in semantic-loop-sidecar.spec.ts.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { io } from 'socket.io-client';
import { afterAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { type EmbeddingServer, serveEmbedding } from '#adapters/grpc';
import {
  type Frame,
  LOOP_INTERVENTION_DEFAULT,
  type LoopAnswer,
  type LoopQuery,
  type LoopSimilarity,
  type SemanticLoopEvent,
  SidecarFailure,
} from '#contracts';
import { deferred } from '#kernel';
import { buildDecisionLog, buildLoopAnswer, buildSidecarDescription, respondJson } from '#testing';
import { AGENT_KEY, startGateway } from '../start-gateway.js';
import { gateway, startOneGateway, upstream, upstreamsAt } from '../start-one-gateway.js';
import { always, anthropic, gemini, openaiChat, openaiResponses, VENDORS } from './vendors.js';

const SECRET = 'sk-canary0123456789abcdef';
const WORD = 'xylophonecanary';

const folder = mkdtempSync(join(tmpdir(), 'obs-loop-'));
const socketPath = join(folder, 'e.sock');
let sidecar: EmbeddingServer | null = null;
let asked: LoopQuery[] = [];
let answer: (query: LoopQuery) => Promise<LoopAnswer>;

const CLEAR = buildLoopAnswer({
  loop_detected: false,
  max_similarity: 0.3 as LoopSimilarity,
  similar_prompt: '',
  similar_request_id: '',
  compared_count: 0,
  similar_count: 0,
});
const loopWith = (similar_prompt: string) => buildLoopAnswer({ similar_prompt });
const alwaysLoop = async () => buildLoopAnswer();

const serve = async () => {
  sidecar = await serveAt(socketPath);
};
const serveAt = (path: string) =>
  serveEmbedding({
    socketPath: path,
    drainTimeoutMs: 50,
    handlers: {
      checkLoop: (query) => {
        asked.push(query);
        return answer(query);
      },
      embed: () => Promise.reject(new SidecarFailure('error', 'not scripted')),
      describe: () => buildSidecarDescription({ dimension: 384 }),
    },
  });
const system = async () => (await gateway.operator('GET', '/v1/system')).body;
const serving = () => expect.poll(async () => (await system()).sidecar.state).toBe('serving');

afterAll(async () => {
  await sidecar?.close();
  rmSync(folder, { recursive: true, force: true });
});
startOneGateway((origin) => ({
  LOOP_DETECTION_ENABLED: 'true',
  LOOP_EMBEDDING_SIDECAR_UDS: socketPath,
  LOOP_EMBEDDING_SIDECAR_TIMEOUT: '1s',
  // Every call reaches the upstream here.
  LLM_CACHE_BACKEND: 'off',
  ...upstreamsAt(origin),
}));
beforeEach(async () => {
  asked = [];
  answer = alwaysLoop;
  if (sidecar === null) {
    await serve();
    await serving();
  }
});

let serial = 0;
const fresh = (name = 'loop') => {
  serial += 1;
  const session = `${name}-${serial}`;
  return { session, agent: `agent-${session}`, headers: { 'x-observatory-session': session } };
};
const loopsOf = async (session: string): Promise<SemanticLoopEvent[]> =>
  (await gateway.operator('GET', `/v1/semantic-loops?session_id=${encodeURIComponent(session)}`)).body.items;
const callsOf = async (session: string) =>
  (await gateway.operator('GET', `/v1/calls?session_id=${session}`)).body.items;

/** What the request is but for the hint, read as the vendor writes it; and the hint. */
const PLACES = [
  {
    vendor: openaiChat,
    apart: ({ messages, ...rest }: any) => {
      const [first, ...others] = messages;
      const [content, hint] = first.content.split('\n\n');
      return { hint, rest: { ...rest, messages: [{ ...first, content }, ...others] } };
    },
    hint: LOOP_INTERVENTION_DEFAULT,
  },
  {
    vendor: openaiResponses,
    apart: ({ instructions, ...rest }: any) => {
      const [own, hint] = instructions.split('\n\n');
      return { hint, rest: { ...rest, instructions: own } };
    },
    hint: LOOP_INTERVENTION_DEFAULT,
  },
  {
    vendor: anthropic,
    apart: ({ system: text, ...rest }: any) => {
      const [own, hint] = text.split('\n\n');
      return { hint, rest: { ...rest, system: own } };
    },
    hint: LOOP_INTERVENTION_DEFAULT,
  },
  {
    vendor: gemini,
    apart: ({ systemInstruction, ...rest }: any) => {
      const { parts, ...others } = systemInstruction;
      return {
        hint: parts.at(-1),
        rest: { ...rest, systemInstruction: { ...others, parts: parts.slice(0, -1) } },
      };
    },
    hint: { text: LOOP_INTERVENTION_DEFAULT },
  },
];

describe.each(PLACES)('$vendor.name', ({ vendor, apart, hint }) => {
  test.each([
    ['whole', vendor.ask],
    ['streamed', vendor.askStreaming],
  ] as const)('carries the hint where its models look, and else nothing changes, %s', async (_, ask) => {
    const { session, headers } = fresh();
    upstream.script(always(vendor, { text: 'The same as before.' }));
    const options = { headers, system: 'Answer briefly.' };
    answer = async () => CLEAR;
    await ask(gateway.url, 'Where is my parcel?', options);
    answer = alwaysLoop;
    const seen = await ask(gateway.url, 'Where is my parcel?', options);
    expect(seen).toEqual({ text: 'The same as before.', toolCalls: [] });
    const [plain, hinted] = upstream.calls;
    expect(apart(hinted?.json)).toEqual({ hint, rest: plain?.json });
    expect((await callsOf(session)).map((call: any) => call.decision)).toEqual(['hinted', 'forwarded']);
    const [{ steps }] = await callsOf(session);
    expect(steps).toContainEqual(expect.objectContaining({ name: 'semantic_loop', outcome: 'hinted' }));
  });

  test('has the hint also where the request brought no system text', async () => {
    upstream.script(always(vendor, { text: 'ok' }));
    await vendor.ask(gateway.url, 'Where is my parcel?', { headers: fresh().headers });
    expect(JSON.stringify(upstream.calls[0]?.json)).toContain(LOOP_INTERVENTION_DEFAULT);
    expect(vendor.textOf(upstream.calls[0]?.json)).toContain('Where is my parcel?');
  });
});

describe('the ladder', () => {
  const ask = async (to: ReturnType<typeof fresh>, text: string) => {
    upstream.script(always(openaiChat, { text: 'Still on its way.' }));
    return openaiChat.ask(gateway.url, text, { headers: to.headers, agent: to.agent });
  };
  const setPolicy = async (agent: string, semantic_loop: string) => {
    const changed = await gateway.operator('PATCH', `/v1/agents/${agent}/policy`, { semantic_loop });
    expect(changed).toMatchObject({ status: 200, body: { semantic_loop, cache: 'on' } });
  };

  test('hints, then alerts; people see both prompts, redacted, and what was done', async () => {
    const to = fresh();
    const live = io(`${gateway.url}/live`, {
      auth: { token: gateway.operatorToken },
      transports: ['websocket'],
      forceNew: true,
    });
    const frames: Frame<any>[] = [];
    live.on('frame', (frame) => frames.push(frame));
    await live.emitWithAck('subscribe', { topic: 'gateway:semantic_loops' });
    answer = async () => loopWith(`Where has parcel ${WORD} got to? ${SECRET}`);
    await ask(to, `Where is parcel ${WORD}? My key is ${SECRET}`);
    await ask(to, `Is parcel ${WORD} there yet?`);
    const [second, first] = await loopsOf(to.session);
    expect(first).toMatchObject({
      event_type: 'semantic_loop',
      agent_id: to.agent,
      session_id: to.session,
      similarity: 0.97,
      threshold: 0.95,
      model_id: 'scripted',
      prompt: `Where is parcel ${WORD}? My key is [key]`,
      similar_prompt: `Where has parcel ${WORD} got to? [key]`,
      similar_call_id: 'call-before',
      occurrence: 1,
      action: 'hinted',
    });
    expect(second).toMatchObject({ occurrence: 2, action: 'alerted' });
    expect((await callsOf(to.session)).map((call: any) => call.call_id)).toEqual([
      second?.call_id,
      first?.call_id,
    ]);
    // What went before may still be on its way to who subscribes.
    const events = () =>
      frames
        .flatMap((frame) => frame.events.map(({ payload }) => payload))
        .filter(({ session_id }) => session_id === to.session);
    await expect.poll(events).toEqual([first, second]);
    await expect
      .poll(async () => (await gateway.operator('GET', `/v1/sessions/${to.session}`)).status)
      .toBe(200);
    const snapshot = await live.emitWithAck('subscribe', { topic: `session:${to.session}` });
    expect(snapshot.snapshot.semantic_loops).toEqual([first, second]);
    const newest = await live.emitWithAck('subscribe', { topic: 'gateway:semantic_loops' });
    expect(newest.snapshot.slice(0, 2)).toEqual([second, first]);
    await ask(to, `Once more: ${WORD}?`);
    await expect
      .poll(() =>
        frames.filter((frame) => frame.topic === `session:${to.session}`).flatMap((frame) => frame.events),
      )
      .toContainEqual(
        expect.objectContaining({
          payload: {
            kind: 'semantic_loop',
            event: expect.objectContaining({ occurrence: 3, action: 'alerted' }),
          },
        }),
      );
    live.disconnect();
    const rules = (await gateway.operator('GET', '/v1/alert-rules')).body.items;
    const firing = rules.find((rule: any) => rule.type === 'semantic_loop').firing;
    expect(firing).toContainEqual(expect.objectContaining({ agent_id: to.agent, notice_count: 1 }));
  });

  test('goes as far as a pause where the policy says so; the looping call itself still goes on', async () => {
    const to = fresh('paused');
    await setPolicy(to.agent, 'pause');
    for (const text of ['the first try', 'the second try', 'the third try']) await ask(to, text);
    expect((await loopsOf(to.session)).map((loop) => loop.action)).toEqual(['paused', 'alerted', 'hinted']);
    await expect
      .poll(async () => (await gateway.operator('GET', `/v1/sessions/${to.session}`)).body.control?.state)
      .toMatch(/pause/);
    const { body } = await gateway.operator('GET', `/v1/audit?session_id=${to.session}`);
    expect(body.items[0]).toMatchObject({
      operator_id: 'system',
      action: 'pause',
      detail: { reason: 'semantic loop 3 of this session: similarity 0.970' },
    });
    const held = ask(to, 'four');
    await expect
      .poll(async () => (await gateway.operator('GET', `/v1/held-calls?session_id=${to.session}`)).body.items)
      .toHaveLength(1);
    // A held call is not checked before it is let go.
    expect(asked).toHaveLength(3);
    await gateway.operator('POST', `/v1/sessions/${to.session}/resume`);
    await held;
  });

  test('shows the session, with all that stops it, also of an agent that reports its steps under another', async () => {
    const to = fresh('reported-elsewhere');
    const elsewhere = {
      meta: { session_id: `${to.session}-steps`, timestamp: new Date().toISOString() },
      identity: { agent_id: to.agent },
    };
    expect((await gateway.ingest(buildDecisionLog(elsewhere))).status).toBe(202);
    await setPolicy(to.agent, 'pause');
    for (const text of ['the first try', 'the second try', 'the third try']) await ask(to, text);
    const session = async () => (await gateway.operator('GET', `/v1/sessions/${to.session}`)).body;
    await expect.poll(session).toMatchObject({
      agent_id: to.agent,
      step_count: 0,
      control: { state: expect.stringMatching(/pause/), mode: 'enforced' },
    });
    await gateway.operator('POST', `/v1/sessions/${to.session}/resume`);
    expect(await session()).toMatchObject({ control: { state: 'active' } });
  });

  test('stays at its hint, or does nothing at all, by policy', async () => {
    const hint = fresh('hint');
    await setPolicy(hint.agent, 'hint');
    for (const text of ['the first try', 'the second try', 'the third try']) await ask(hint, text);
    expect((await loopsOf(hint.session)).map((loop) => loop.action)).toEqual(['hinted', 'hinted', 'hinted']);
    const off = fresh('off');
    await setPolicy(off.agent, 'off');
    asked = [];
    await ask(off, 'the first try');
    expect([asked, await loopsOf(off.session)]).toEqual([[], []]);
    expect(
      (await gateway.operator('PATCH', `/v1/agents/${off.agent}/policy`, { semantic_loop: 'kill' })).status,
    ).toBe(422);
  });

  test('belongs to a viewer’s eyes, and to one tenant’s', async () => {
    const to = fresh('tenant');
    await ask(to, 'this is mine');
    const elsewhere = await fetch(`${gateway.url}/v1/semantic-loops?session_id=${to.session}`, {
      headers: {
        authorization: `Bearer ${gateway.operatorToken}`,
        'x-observatory-operator-id': 'tester',
        'x-tenant-id': 'elsewhere',
      },
    });
    expect(await elsewhere.json()).toEqual({ items: [], next_cursor: null });
    const key = await fetch(`${gateway.url}/v1/system`, {
      headers: { authorization: `Bearer ${AGENT_KEY}` },
    });
    expect(key.status).toBe(403);
    const { body } = await gateway.operator('GET', '/v1/semantic-loops?limit=1');
    expect(body.items).toHaveLength(1);
    expect(body.next_cursor).toBeTypeOf('string');
    expect((await gateway.operator('GET', '/v1/semantic-loops?limit=none')).status).toBe(422);
  });
});

describe('what is no prompt', () => {
  const post = (session: string, messages: unknown[], headers: Record<string, string> = {}) =>
    fetch(`${gateway.url}/proxy/openai/v1/chat/completions`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${AGENT_KEY}`,
        'content-type': 'application/json',
        'x-observatory-session': session,
        ...headers,
      },
      body: JSON.stringify({ model: 'gpt-4o-mini', messages }),
    });

  test('a turn of tool results is not looked at', async () => {
    upstream.script(always(openaiChat, { text: 'ok' }));
    const { session } = fresh();
    const toolTurn = [
      { role: 'user', content: 'Wait until it is done' },
      {
        role: 'assistant',
        tool_calls: [{ id: 't1', type: 'function', function: { name: 'poll', arguments: '{}' } }],
      },
      { role: 'tool', tool_call_id: 't1', content: 'pending' },
    ];
    await post(session, toolTurn);
    expect(asked).toEqual([]);
    expect(upstream.calls).toHaveLength(1);
    expect(await loopsOf(session)).toEqual([]);
  });

  test('a conversation that the vendor keeps loops where it asked the same itself, and not where a stranger did', async () => {
    const { agent } = fresh();
    upstream.script((_call, response, index) =>
      respondJson(response, 200, {
        id: `resp_${index}`,
        object: 'response',
        status: 'completed',
        model: 'gpt-4o-mini',
        output: [
          {
            type: 'message',
            id: `msg_${index}`,
            role: 'assistant',
            status: 'completed',
            content: [{ type: 'output_text', text: 'I see.', annotations: [] }],
          },
        ],
        usage: { input_tokens: 10, output_tokens: 5, total_tokens: 15 },
      }),
    );
    answer = async ({ prompt }) => (prompt.includes('really') ? loopWith('Where is my parcel now?') : CLEAR);
    const asks = async (input: string, previous_response_id?: string) => {
      const response = await fetch(`${gateway.url}/agents/${agent}/proxy/openai/v1/responses`, {
        method: 'POST',
        headers: { authorization: `Bearer ${AGENT_KEY}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'gpt-4o-mini', input, previous_response_id }),
      });
      const { id } = (await response.json()) as { id: string };
      return { id, decision: response.headers.get('x-observatory-decision') };
    };
    const [own, strangers] = [await asks('I have a question.'), await asks('I have a question.')];
    expect(asked).toEqual([]);
    const second = await asks('Where is my parcel now?', own.id);
    const third = await asks('How do I pay for it?', second.id);
    const others = await asks('Where is my parcel, really?', strangers.id);
    const fourth = await asks('Where is my parcel, really?', third.id);
    expect([second, third, others, fourth].map(({ decision }) => decision)).toEqual([
      'forwarded',
      'forwarded',
      'forwarded',
      'hinted',
    ]);
    expect(new Set(asked.map(({ session_id }) => session_id)).size).toBe(1);
    expect(asked.map(({ prompt }) => prompt).slice(0, 2)).toEqual([
      'I have a question.',
      'Where is my parcel now?',
    ]);
  });

  test('a word or two that go on as before are not looked at', async () => {
    upstream.script(always(openaiChat, { text: 'ok' }));
    const { session } = fresh();
    for (const content of ['continue', 'Yes, please.', '继续', 'ok'])
      await post(session, [{ role: 'user', content }]);
    expect(asked).toEqual([]);
    expect(upstream.calls).toHaveLength(4);
  });

  test('an SDK that retries a failed call asks once', async () => {
    const { session, headers } = fresh();
    answer = async () => CLEAR;
    upstream.script((call, response, index) =>
      index === 0 ? respondJson(response, 500, {}) : openaiChat.answer(call, response, { text: 'ok' }),
    );
    await openaiChat.ask(gateway.url, 'Try hard, and again', { headers, maxRetries: 2 });
    expect(upstream.calls).toHaveLength(2);
    expect(asked.map((query) => query.prompt)).toEqual(['Try hard, and again']);
    expect((await callsOf(session)).map((call: any) => call.is_retry)).toEqual([true, false]);
  });

  test('what a limit sent back is compared when its SDK tries again, and once', async () => {
    const { session, agent } = fresh();
    answer = async ({ prompt }) => (prompt.includes('really') ? loopWith('Where is my parcel now?') : CLEAR);
    const ok = always(openaiChat, { text: 'ok' });
    upstream.script(ok);
    const setRate = (requests_per_minute: number | null) =>
      gateway.operator('PATCH', `/v1/agents/${agent}/policy`, { requests_per_minute });
    const asks = async (content: string, attempt: number) =>
      (
        await post(session, [{ role: 'user', content }], {
          'x-observatory-agent': agent,
          'x-stainless-retry-count': String(attempt),
        })
      ).status;
    expect(await asks('Where is my parcel now?', 0)).toBe(200);
    await setRate(1);
    const reworded = 'Where is my parcel, really?';
    await asks('What else is there to do?', 0);
    expect(await asks(reworded, 0)).toBe(429);
    await setRate(null);
    upstream.script((_call, response) => respondJson(response, 500, {}));
    expect(await asks(reworded, 1)).toBe(500);
    upstream.script(ok);
    expect(await asks(reworded, 2)).toBe(200);
    expect(asked.filter(({ prompt }) => prompt === reworded)).toHaveLength(1);
    expect(await loopsOf(session)).toHaveLength(1);
  });

  test('a client that asks again by itself after a failure is known by the first id', async () => {
    const { session } = fresh();
    answer = async () => CLEAR;
    upstream.script((call, response, index) =>
      index === 0 ? respondJson(response, 503, {}) : openaiChat.answer(call, response, { text: 'ok' }),
    );
    for (let round = 0; round < 3; round += 1)
      await post(session, [{ role: 'user', content: 'Try by hand' }]);
    const [first, second, third] = asked.map((query) => query.request_id);
    expect(second).toBe(first);
    expect(third).not.toBe(first);
  });

  test('the session and the tenant go along, whatever the id is made of', async () => {
    answer = async () => CLEAR;
    upstream.script(always(openaiChat, { text: 'ok' }));
    const faces = '🙂'.repeat(50);
    // As a client's UTF-8 comes: a header is bytes.
    for (const session of ['a|b', 'a:b', '*', Buffer.from(faces).toString('latin1')])
      await post(session, [{ role: 'user', content: 'Is it the same?' }]);
    expect(asked.map((query) => [query.tenant_id, query.session_id])).toEqual([
      ['default', 'a|b'],
      ['default', 'a:b'],
      ['default', '*'],
      ['default', faces],
    ]);
  });

  test('of ten megabytes only what a model reads is sent', async () => {
    answer = async () => CLEAR;
    upstream.script(always(openaiChat, { text: 'ok' }));
    const response = await post(fresh().session, [{ role: 'user', content: 'x'.repeat(10_000_000) }]);
    expect(response.status).toBe(200);
    expect(asked[0]?.prompt.length).toBeLessThanOrEqual(8_000);
    expect(upstream.calls[0]?.body.length).toBeGreaterThan(10_000_000);
  });
});

describe('fails open', () => {
  const openCount = async (reason: string) => (await system()).semantic_loop.fail_open[reason] ?? 0;
  const goesOn = async (vendor = openaiChat) => {
    upstream.script(always(vendor, { text: 'As without.' }));
    const { headers } = fresh();
    expect((await vendor.ask(gateway.url, `Whatever ${WORD}`, { headers })).text).toBe('As without.');
    expect(JSON.stringify(upstream.calls[0]?.json)).not.toContain(LOOP_INTERVENTION_DEFAULT);
  };

  test.each([
    ['erring', 'error', new Error(`leaked ${WORD}`)],
    ['full', 'busy', new SidecarFailure('busy', 'queue full')],
    ['strict', 'invalid', new SidecarFailure('invalid', 'no prompt')],
    ['without a store', 'unavailable', new SidecarFailure('unavailable', 'redis is away')],
  ])('when the sidecar is %s', async (_, reason, error) => {
    const before = await openCount(reason);
    answer = () => Promise.reject(error);
    for (const vendor of VENDORS) await goesOn(vendor);
    expect(await openCount(reason)).toBe(before + VENDORS.length);
  });

  test('when the sidecar is slow, after the time it has', async () => {
    const before = await openCount('timeout');
    answer = () => new Promise(() => {});
    await goesOn();
    expect(await openCount('timeout')).toBe(before + 1);
    expect((await system()).semantic_loop).toMatchObject({ timeout_ms: 1_000 });
  });

  test('when a client leaves while we wait: nothing of its call is left', async () => {
    const [reached, hold] = [deferred(), deferred()];
    // One that is never answered would cost the stream, and with it a check of the next test.
    onTestFinished(() => hold.resolve());
    answer = async () => {
      reached.resolve();
      await hold.promise;
      return CLEAR;
    };
    upstream.script(always(openaiChat, { text: 'never' }));
    // A sidecar that had nothing to say for a while was given up, and is being found again.
    await expect.poll(async () => (await system()).sidecar.state, { timeout: 15_000 }).toBe('serving');
    const { session, headers } = fresh();
    const abort = new AbortController();
    const call = openaiChat.ask(gateway.url, 'Wait for me here', { headers, signal: abort.signal });
    call.catch(() => {});
    await reached.promise;
    abort.abort();
    await expect.poll(() => callsOf(session)).toMatchObject([{ decision: 'aborted', status: 499 }]);
    expect(upstream.calls).toEqual([]);
    expect((await system()).semantic_loop.checks.left).toBe(1);
  });

  test('never past an operator who ends the session while we wait', async () => {
    const { session, headers } = fresh();
    answer = async () => {
      const ended = await gateway.operator('POST', `/v1/sessions/${session}/terminate`, { reason: 'enough' });
      expect(ended.status).toBe(200);
      return CLEAR;
    };
    upstream.script(always(openaiChat, { text: 'never' }));
    await expect(openaiChat.ask(gateway.url, 'May I go on?', { headers })).rejects.toMatchObject({
      status: 403,
    });
    expect(upstream.calls).toEqual([]);
    await expect.poll(() => callsOf(session)).toMatchObject([{ decision: 'terminated', cost_usd: 0 }]);
  });

  test('when the request has no place for the hint: it reaches the upstream as it came', async () => {
    const before = await openCount('modification');
    const { session, headers } = fresh();
    upstream.script(always(anthropic, { text: 'ok' }));
    const body = JSON.stringify({
      model: 'claude-sonnet-4-5',
      max_tokens: 9,
      system: 42,
      messages: [{ role: 'user', content: 'An odd one, is it not?' }],
    });
    const response = await fetch(`${gateway.url}/proxy/anthropic/v1/messages`, {
      method: 'POST',
      headers: { 'x-api-key': AGENT_KEY, 'content-type': 'application/json', ...headers },
      body,
    });
    expect(response.headers.get('x-observatory-decision')).toBe('forwarded');
    await expect.poll(() => loopsOf(session)).toMatchObject([{ action: 'noted', occurrence: 1 }]);
    expect(upstream.calls[0]?.body.toString()).toBe(body);
    expect(await openCount('modification')).toBe(before + 1);
  });

  test('when there is no sidecar, and stays ready; it is found again when it comes', async () => {
    await sidecar?.close();
    sidecar = null;
    await expect.poll(async () => (await system()).sidecar.state).toBe('down');
    expect((await system()).sidecar).toMatchObject({ is_supervised: false, detail: expect.any(String) });
    expect((await fetch(`${gateway.url}/readyz`)).status).toBe(200);
    const before = await openCount('unavailable');
    for (const vendor of VENDORS) await goesOn(vendor);
    expect(await openCount('unavailable')).toBe(before + VENDORS.length);
    await serve();
    await serving();
    expect((await system()).sidecar).toMatchObject({ model_id: 'scripted', dimension: 384, store: 'memory' });
    upstream.script(always(openaiChat, { text: 'ok' }));
    await openaiChat.ask(gateway.url, 'And once again?', { headers: fresh().headers });
    expect(JSON.stringify(upstream.calls[0]?.json)).toContain(LOOP_INTERVENTION_DEFAULT);
  });

  test('and says so once a minute per reason, a fault as an error, in figures, and never in words of the prompt', async () => {
    const lines = gateway
      .output()
      .split('\n')
      .filter((line) => line.includes('"fail_open"'))
      .map((line) => JSON.parse(line));
    const reasons = lines.map((line) => line.reason);
    expect(reasons.toSorted()).toEqual([...new Set(reasons)].toSorted());
    expect(reasons).toEqual(expect.arrayContaining(['error', 'busy', 'invalid', 'timeout', 'unavailable']));
    const { error, timeout, modification } = Object.fromEntries(
      lines.map((line) => [line.reason, line.level]),
    );
    expect([timeout, error, modification]).toEqual(['warn', 'error', 'error']);
    const metrics = await (await fetch(`${gateway.url}/metrics`)).text();
    expect(metrics).toMatch(/observatory_semantic_loop_fail_open_total\{reason="timeout"\} \d/);
    expect(metrics).toMatch(/observatory_fail_open_total\{site="semantic_loop"\} \d/);
    expect(metrics).toMatch(/observatory_semantic_loop_checks_total\{result="loop"\} \d/);
    expect(metrics).toMatch(/observatory_semantic_loop_check_seconds_count \d/);
    const view = JSON.stringify(await system());
    for (const text of [gateway.output(), metrics, view]) {
      expect(text).not.toContain(WORD);
      expect(text).not.toContain(SECRET);
    }
  });
});

test('a start at whose socket nobody listens says so at once, and once, and when somebody does', async () => {
  const socket = join(folder, 'late.sock');
  const other = await startGateway({
    env: { LOOP_DETECTION_ENABLED: 'true', LOOP_EMBEDDING_SIDECAR_UDS: socket },
  });
  try {
    await expect.poll(() => other.output(), { timeout: 5_000 }).toContain('embedding_sidecar_absent');
    const line = other
      .output()
      .split('\n')
      .find((text) => text.includes('embedding_sidecar_absent'));
    expect(JSON.parse(line ?? '')).toMatchObject({
      level: 'warn',
      socket,
      msg: expect.stringContaining('LOOP_EMBEDDING_SIDECAR_UDS'),
    });
    expect((await fetch(`${other.url}/readyz`)).status).toBe(200);
    const late = await serveAt(socket);
    await expect.poll(() => other.output(), { timeout: 5_000 }).toContain('embedding_sidecar_ready');
    await late.close();
  } finally {
    expect(await other.stop()).toBe(0);
  }
  expect(other.output().match(/embedding_sidecar_absent/g)).toHaveLength(1);
});
