/** A paused session's calls wait, go on, expire or end; what an operator says reaches the model. */
import { gzipSync } from 'node:zlib';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { buildDecisionLog, respondEvents, respondJson } from '#testing';
import { AGENT_KEY, type RunningGateway, startGateway } from '../start-gateway.js';
import { gateway, startAgain, startOneGateway, upstream, upstreamsAt } from '../start-one-gateway.js';
import { always, anthropic, openaiChat, VENDORS, type Vendor } from './vendors.js';

/** For the tests that wait for its end; the others give it up long before, however busy the machine. */
const SHORT_HOLD_MS = 2_000;

let hasty: RunningGateway;
startOneGateway(upstreamsAt);
beforeAll(async () => {
  const env = { ...upstreamsAt(upstream.origin), HITL_HOLD_MS: String(SHORT_HOLD_MS) };
  hasty = await startGateway({ env });
});
afterAll(async () => {
  expect(await hasty.stop()).toBe(0);
});

let serial = 0;
/** A session that made one call, so that an operator can act on it. */
async function begun(
  vendor: Vendor,
  on = gateway,
): Promise<{ session: string; headers: Record<string, string> }> {
  const session = `held-${++serial}`;
  const headers = { 'x-observatory-session': session };
  upstream.script(always(vendor, { text: 'begun' }));
  await vendor.ask(on.url, 'Begin', { headers });
  await expect.poll(async () => (await on.operator('GET', `/v1/sessions/${session}`)).status).toBe(200);
  upstream.script(always(vendor, { text: 'after the pause' }));
  return { session, headers };
}
const command = async (session: string, name: string, body: object = {}, on = gateway) => {
  const answer = await on.operator('POST', `/v1/sessions/${session}/${name}`, body);
  expect(answer).toMatchObject({ status: 200 });
};
const held = async (session: string) =>
  (await gateway.operator('GET', `/v1/held-calls?session_id=${session}`)).body.items;
const controlOf = async (session: string) =>
  (await gateway.operator('GET', `/v1/sessions/${session}`)).body.control;

describe.each(VENDORS)('$name', (vendor) => {
  test('waits while paused, takes the guidance along, and goes on', async () => {
    const { session, headers } = await begun(vendor);
    await command(session, 'pause', { reason: 'let me look' });
    const asked = vendor.ask(gateway.url, 'Go on', { headers });
    await expect.poll(() => held(session)).toHaveLength(1);
    await expect.poll(() => controlOf(session)).toMatchObject({ state: 'paused', mode: 'enforced' });
    expect(upstream.calls).toHaveLength(0);
    await command(session, 'inject', { prompt: 'Use the staging database, never production.' });
    await command(session, 'resume');
    expect((await asked).text).toBe('after the pause');
    expect(vendor.textOf(upstream.calls[0]?.json)).toContain('Use the staging database, never production.');
    expect(await held(session)).toHaveLength(0);
    // Nobody but the proxy listens here: what it carried out waits for nobody.
    await expect.poll(() => controlOf(session)).toMatchObject({ pending_directive_count: 0 });
    // Said once.
    await vendor.ask(gateway.url, 'And again', { headers });
    expect(vendor.textOf(upstream.calls[1]?.json)).not.toContain('staging database');
  });

  test('ends for good when its session is terminated, without the SDK trying again', async () => {
    const { session, headers } = await begun(vendor);
    await command(session, 'pause', { reason: 'stop' });
    const asked = vendor.ask(gateway.url, 'Go on', { headers, maxRetries: 3 });
    asked.catch(() => {});
    await expect.poll(() => held(session)).toHaveLength(1);
    await command(session, 'terminate', { reason: 'enough' });
    await expect(asked).rejects.toMatchObject({
      status: 403,
      message: expect.stringContaining(
        'has ended. Do not retry in it; another session may begin. Reason: enough',
      ),
    });
    expect(upstream.calls).toHaveLength(0);
    const calls = async () => (await gateway.operator('GET', `/v1/calls?session_id=${session}`)).body.items;
    await expect.poll(calls).toMatchObject([{ status: 403 }, { decision: 'forwarded' }]);
  });
});

test('a session of calls only, whose agent reports its steps under another, can be paused', async () => {
  const agent = 'reports-itself';
  const log = buildDecisionLog({
    identity: { agent_id: agent },
    meta: { session_id: 'its-ticket' },
  } as never);
  expect((await gateway.ingest(log)).status).toBe(202);
  const session = 'its-calls';
  const headers = { 'x-observatory-session': session };
  upstream.script(always(openaiChat, { text: 'begun' }));
  await openaiChat.ask(gateway.url, 'Begin', { headers, agent });
  await command(session, 'pause', { reason: 'look' });
  const asked = openaiChat.ask(gateway.url, 'Go on', { headers, agent });
  await expect.poll(() => held(session)).toHaveLength(1);
  await command(session, 'resume');
  expect((await asked).text).toBe('begun');
});

test('guidance that an upstream answered with an error in its stream is said again', async () => {
  const { session, headers } = await begun(openaiChat);
  await command(session, 'inject', { prompt: 'Use the staging database.' });
  upstream.script((_call, response) =>
    respondEvents(response, ['data: {"error":{"message":"overloaded","type":"server_error"}}\n\n']),
  );
  await expect(openaiChat.askStreaming(gateway.url, 'Go on', { headers })).rejects.toThrow('overloaded');
  upstream.script(always(openaiChat, { text: 'understood' }));
  await openaiChat.askStreaming(gateway.url, 'Go on', { headers });
  expect(openaiChat.textOf(upstream.calls[0]?.json)).toContain('staging database');
});

test('guidance goes into a request whose numbers stay as they were written', async () => {
  const { session, headers } = await begun(anthropic);
  await command(session, 'inject', { prompt: 'Use the staging database.' });
  const input = '{"order":12345678901234567890,"share":1.0,"limit":1E+2,"text":"0.10, \\"1.0\\" \\u00e9"}';
  const messages = `[{"role":"user","content":"Go on"},{"role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"get","input":${input}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"-0.0"}]}]`;
  const answer = await fetch(`${gateway.url}/proxy/anthropic/v1/messages`, {
    method: 'POST',
    headers: { ...headers, 'x-api-key': AGENT_KEY, 'content-type': 'application/json' },
    body: `{"model":"claude-sonnet-4-5","max_tokens":256,"temperature":0.0,"messages":${messages}}`,
  });
  expect(answer.status).toBe(200);
  const arrived = upstream.calls[0]?.body.toString() ?? '';
  expect(anthropic.textOf(JSON.parse(arrived))).toContain('Use the staging database.');
  expect(arrived).toContain('"order":12345678901234567890,"share":1.0,"limit":1E+2,');
  expect(arrived).toContain('"temperature":0.0');
});

test('guidance outlives the steps of calls that its model never had', async () => {
  const { session, headers } = await begun(openaiChat);
  const countSteps = async () =>
    (await gateway.operator('GET', `/v1/sessions/${session}`)).body.step_count as number;
  await command(session, 'inject', { prompt: 'Use the staging database.' });
  upstream.script((_call, response) => respondJson(response, 500, { error: { message: 'overloaded' } }));
  for (const stepCount of [2, 3]) {
    await expect(openaiChat.ask(gateway.url, `Go on ${stepCount}`, { headers })).rejects.toThrow(
      'overloaded',
    );
    await expect.poll(countSteps).toBe(stepCount);
  }
  expect(await controlOf(session)).toMatchObject({ pending_directive_count: 1 });
  upstream.script(always(openaiChat, { text: 'understood' }));
  await openaiChat.ask(gateway.url, 'And now', { headers });
  expect(openaiChat.textOf(upstream.calls[0]?.json)).toContain('staging database');
});

test('a resume that no call waited for is obeyed by the next call', async () => {
  const { session, headers } = await begun(openaiChat);
  await command(session, 'pause', { reason: 'look' });
  await command(session, 'resume');
  expect(await controlOf(session)).toMatchObject({ pending_directive_count: 1 });
  await openaiChat.ask(gateway.url, 'Go on', { headers });
  await expect.poll(() => controlOf(session)).toMatchObject({ pending_directive_count: 0 });
});

describe('a conversation that the vendor keeps', () => {
  const client = () =>
    new OpenAI({ baseURL: `${gateway.url}/agents/keeper/proxy/openai/v1`, apiKey: AGENT_KEY, maxRetries: 0 });
  const create = (body: object) =>
    client().responses.create({
      model: 'gpt-4o-mini',
      ...body,
    } as OpenAI.Responses.ResponseCreateParamsNonStreaming);
  const sessionsOf = async (): Promise<string[]> =>
    (await gateway.operator('GET', '/v1/calls?agent_id=keeper')).body.items.map(
      (call: { session_id: string }) => call.session_id,
    );
  const result = (output: string) => [{ type: 'function_call_output', call_id: 'call_1', output }];
  /** Answers in the order of the calls: resp_1, resp_2, ... */
  const answers = () =>
    upstream.script((_call, response, index) =>
      respondJson(response, 200, {
        id: `resp_${++serial}_${index}`,
        object: 'response',
        status: 'completed',
        model: 'gpt-4o-mini',
        output: [],
      }),
    );

  test('is held by a pause though a turn brings no more than a result, and named by an earlier answer', async () => {
    answers();
    const first = await create({ input: 'Write the report' });
    const second = await create({ previous_response_id: first.id, input: result('12 rows') });
    await expect.poll(sessionsOf).toHaveLength(2);
    const [session] = await sessionsOf();
    expect(new Set(await sessionsOf())).toEqual(new Set([session]));
    await expect
      .poll(async () => (await gateway.operator('GET', `/v1/sessions/${session}`)).status)
      .toBe(200);
    await command(session as string, 'pause', { reason: 'let me look' });
    const third = create({ previous_response_id: second.id, input: result('13 rows') });
    await expect.poll(() => held(session as string)).toHaveLength(1);
    await command(session as string, 'resume');
    await third;
    // Another agent's words are nobody's way in, nor are those of an answer that was never seen.
    await create({ previous_response_id: 'resp_unknown', input: result('14 rows') });
    await expect.poll(sessionsOf).toHaveLength(4);
    expect((await sessionsOf())[0]).not.toBe(session);
  });

  test('has ended for good once it was terminated, also after a restart, whoever goes on from an answer of it', async () => {
    answers();
    const before = (await sessionsOf()).length;
    const first = await create({ input: `Write another report, ${++serial}` });
    await expect.poll(sessionsOf).toHaveLength(before + 1);
    const [session] = await sessionsOf();
    await expect
      .poll(async () => (await gateway.operator('GET', `/v1/sessions/${session}`)).status)
      .toBe(200);
    await command(session as string, 'terminate', { reason: 'enough' });
    const goOn = () => create({ previous_response_id: first.id, input: result('12 rows') });
    await expect(goOn()).rejects.toMatchObject({ status: 403 });
    await gateway.stop();
    await startAgain();
    await expect(goOn()).rejects.toMatchObject({ status: 403 });
  });

  test('is one session by the name it has there', async () => {
    answers();
    for (const conversation of ['conv_1', { id: 'conv_1' }, 'conv_2'])
      await create({ conversation, input: `Go on, ${++serial}` });
    await expect.poll(async () => (await sessionsOf()).length).toBeGreaterThanOrEqual(3);
    await expect
      .poll(async () => {
        const [third, second, first] = await sessionsOf();
        return [first === second, third === second];
      })
      .toEqual([true, false]);
  });
});

test.each(VENDORS)(
  'a held call that expires is told to try again, and the SDK does: $name',
  async (vendor) => {
    const { session, headers } = await begun(vendor, hasty);
    await command(session, 'pause', { reason: 'a long look' }, hasty);
    const asked = vendor.ask(hasty.url, 'Patience', { headers, maxRetries: 3 });
    const lastDecision = async () =>
      (await hasty.operator('GET', `/v1/calls?session_id=${session}`)).body.items[0]?.decision;
    await expect.poll(lastDecision, { timeout: SHORT_HOLD_MS * 3 }).toBe('hold_expired');
    await command(session, 'resume', {}, hasty);
    expect((await asked).text).toBe('after the pause');
  },
);

test.each(VENDORS)('a held call that expires tells why its session is paused: $name', async (vendor) => {
  const { session, headers } = await begun(vendor, hasty);
  await command(session, 'pause', { reason: 'a "long" look' }, hasty);
  const asked = vendor.ask(hasty.url, 'Patience', { headers, maxRetries: 0 });
  const message = expect.stringMatching(/is paused; try again later\. Reason: a \\*"long\\*" look/);
  await expect(asked).rejects.toMatchObject({ message });
});

/** Of a session that is paused at the hasty gateway: resolves once the stream has begun, which it does while it is held. */
async function begunStream(headers: Record<string, string>): Promise<Response> {
  const response = await fetch(`${hasty.url}/proxy/openai/v1/chat/completions`, {
    method: 'POST',
    headers: { ...headers, authorization: `Bearer ${AGENT_KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      model: 'gpt-4o-mini',
      stream: true,
      messages: [
        { role: 'user', content: 'Begin' },
        { role: 'assistant', content: 'begun' },
        { role: 'user', content: 'stream' },
      ],
    }),
  });
  expect(response.status).toBe(200);
  return response;
}

test('a held stream that has begun ends with the reason for which its session was terminated', {
  timeout: 40_000,
}, async () => {
  const { session, headers } = await begun(openaiChat, hasty);
  await command(session, 'pause', { reason: 'look' }, hasty);
  const response = await begunStream(headers);
  // Nothing was decided yet: a call that is about to end must not say that it was forwarded.
  expect(response.headers.get('x-observatory-decision')).toBeNull();
  expect(response.headers.get('x-observatory-call')).not.toBeNull();
  await command(session, 'terminate', { reason: 'wrong customer' }, hasty);
  expect(await response.text()).toContain('Reason: wrong customer');
});

test('a held stream is kept alive with comments past the hold, and then streams', {
  timeout: 40_000,
}, async () => {
  const { session, headers } = await begun(openaiChat, hasty);
  await command(session, 'pause', { reason: 'look' }, hasty);
  // The head came while the session is still paused.
  const response = await begunStream(headers);
  expect(upstream.calls).toHaveLength(0);
  await command(session, 'resume', {}, hasty);
  const text = await response.text();
  expect(text.startsWith(':')).toBe(true);
  expect(text).toContain('[DONE]');
});

const EVENTS = 'data: {"choices":[{"index":0,"delta":{"content":"unread"}}]}\n\n';
test.each<[string, number, Record<string, string>, Buffer, string]>([
  ['an error', 500, { 'content-type': 'application/json' }, Buffer.from('{}'), 'The upstream answered 500.'],
  [
    'no stream',
    200,
    { 'content-type': 'application/json' },
    Buffer.from('{}'),
    'The upstream answered 200 without the stream',
  ],
  [
    'a compressed stream',
    200,
    { 'content-type': 'text/event-stream', 'content-encoding': 'gzip' },
    gzipSync(EVENTS),
    'The upstream compressed its stream',
  ],
])(
  'a held stream that has begun ends with an error where the upstream has %s for it',
  {
    timeout: 40_000,
  },
  async (_, status, answerHeaders, body, words) => {
    const { session, headers } = await begun(openaiChat, hasty);
    await command(session, 'pause', { reason: 'look' }, hasty);
    const response = await begunStream(headers);
    upstream.script((_call, answer) => answer.writeHead(status, answerHeaders).end(body));
    await command(session, 'resume', {}, hasty);
    const events = (await response.text()).split('\n').filter((line) => line.startsWith('data: {'));
    expect(events.map((line) => JSON.parse(line.slice('data: '.length)))).toMatchObject([
      { error: { message: expect.stringContaining(words), code: 'upstream_error' } },
    ]);
  },
);

test('a client that hangs up while held frees its slot', async () => {
  const { session, headers } = await begun(openaiChat);
  await command(session, 'pause', { reason: 'look' });
  const abort = new AbortController();
  const client = new OpenAI({ baseURL: `${gateway.url}/proxy/openai/v1`, apiKey: AGENT_KEY, maxRetries: 0 });
  const asked = client.chat.completions.create(
    { model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'leave' }] },
    { headers, signal: abort.signal },
  );
  asked.catch(() => {});
  await expect.poll(() => held(session)).toHaveLength(1);
  abort.abort();
  await expect.poll(() => held(session)).toHaveLength(0);
  await command(session, 'resume');
  expect(upstream.calls).toHaveLength(0);
});

describe('a call that is held while somebody edits its upstream', () => {
  const NAME = 'own';
  const put = async (fields: object) =>
    expect((await gateway.operator('PUT', `/v1/upstreams/${NAME}`, fields)).status).toBe(200);
  /** @returns the answer's status and code, and by which key it came to the vendor */
  async function heldDuring(edit: () => Promise<unknown>): Promise<unknown[]> {
    await put({ base_url: `${upstream.origin}/v1`, api_key: 'sk-before' });
    const { session } = await begun(openaiChat);
    await command(session, 'pause', { reason: 'look' });
    const asked = fetch(`${gateway.url}/proxy/${NAME}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${AGENT_KEY}`, 'x-observatory-session': session },
      body: JSON.stringify({ model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Go on' }] }),
    });
    await expect.poll(() => held(session)).toHaveLength(1);
    await edit();
    await command(session, 'resume');
    const response = await asked;
    const { error } = (await response.json()) as { error?: { code: string } };
    return [response.status, error?.code, upstream.calls[0]?.headers.authorization];
  }

  test('goes by the key that it has then', async () => {
    expect(await heldDuring(() => put({ api_key: 'sk-after' }))).toEqual([200, undefined, 'Bearer sk-after']);
  });

  test('goes nowhere if it is there no more', async () => {
    expect(await heldDuring(() => gateway.operator('DELETE', `/v1/upstreams/${NAME}`))).toEqual([
      404,
      'upstream_not_found',
      undefined,
    ]);
  });

  test('goes nowhere if it is elsewhere then, and may try again', async () => {
    const elsewhere = upstream.origin.replace('127.0.0.1', 'localhost');
    expect(await heldDuring(() => put({ base_url: `${elsewhere}/v1`, api_key: 'sk-after' }))).toEqual([
      503,
      'upstream_changed',
      undefined,
    ]);
  });

  test('goes nowhere if its key was taken away', async () => {
    expect(await heldDuring(() => put({ api_key: null }))).toEqual([401, 'unauthorized', undefined]);
  });
});

test('shutting down tells held calls to try again', async () => {
  const second = await startGateway({
    env: {
      OBSERVATORY_UPSTREAM_OPENAI_URL: `${upstream.origin}/v1`,
      OBSERVATORY_UPSTREAM_OPENAI_KEY: 'sk-scripted',
    },
  });
  upstream.script(always(openaiChat, { text: 'begun' }));
  const headers = { 'x-observatory-session': 'drained' };
  await openaiChat.ask(second.url, 'Begin', { headers });
  await expect.poll(async () => (await second.operator('GET', '/v1/sessions/drained')).status).toBe(200);
  await second.operator('POST', '/v1/sessions/drained/pause', { reason: 'look' });
  const asked = openaiChat.ask(second.url, 'Hold me', { headers });
  asked.catch(() => {});
  await expect.poll(async () => (await second.operator('GET', '/v1/held-calls')).body.items).toHaveLength(1);
  const code = second.stop();
  await expect(asked).rejects.toMatchObject({ status: 409 });
  expect(await code).toBe(0);
});
