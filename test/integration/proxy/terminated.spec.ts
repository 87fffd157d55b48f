/** An operator who ends a session ends the calls that are at their upstream, too: whatever has come of their answer by then. */
import type { ServerResponse } from 'node:http';
import OpenAI from 'openai';
import { describe, expect, test } from 'vitest';
import { respondEvents } from '#testing';
import { AGENT_KEY } from '../start-gateway.js';
import { gateway, startOneGateway, upstream, upstreamsAt } from '../start-one-gateway.js';
import { openaiChat, VENDORS, type Vendor } from './vendors.js';

startOneGateway((origin) => ({
  ...upstreamsAt(origin),
  LLM_CACHE_BACKEND: 'memory',
}));

let serial = 0;
const freshSession = () => `ended-${++serial}`;
const headersOf = (session: string) => ({ 'x-observatory-session': session });
const command = async (session: string, name: string, body: object = {}) => {
  const answer = await gateway.operator('POST', `/v1/sessions/${session}/${name}`, body);
  expect(answer).toMatchObject({ status: 200 });
};
const terminate = (session: string) => command(session, 'terminate', { reason: 'enough' });
const callsOf = async (session: string) =>
  (await gateway.operator('GET', `/v1/calls?session_id=${session}`)).body.items;
const sent = (count: number) => expect.poll(() => upstream.calls.length).toBe(count);
/** Of the SDKs' errors, whichever has it where. */
const told = (error: unknown): string => `${error} ${JSON.stringify(error)}`;

/** Answers as the vendor does, and stops in the middle. */
const halfway =
  (vendor: Vendor) =>
  (call: (typeof upstream.calls)[number], response: ServerResponse): unknown => {
    response.end = (() => response) as typeof response.end;
    const write = response.write.bind(response);
    let events = 0;
    response.write = ((event: string) => (++events > 4 ? true : write(event))) as typeof response.write;
    return vendor.answer(call, response, { text: 'one two three four five six seven eight nine ten' });
  };

describe.each(VENDORS)('$name', (vendor) => {
  test('a session is there, and can be paused and ended, while its first call waits for its answer', async () => {
    const session = freshSession();
    upstream.script(() => {});
    const asked = vendor.ask(gateway.url, 'Go on', { headers: headersOf(session), maxRetries: 0 });
    asked.catch(() => {});
    await sent(1);
    const shown = { step_count: 0, last_intent: 'Go on', last_status: 'pending', cost_unknown: false };
    expect(await gateway.operator('GET', `/v1/sessions/${session}`)).toMatchObject({
      status: 200,
      body: shown,
    });
    await command(session, 'pause', { reason: 'let me look' });
    await terminate(session);
    await expect(asked).rejects.toMatchObject({ status: 403 });
    await expect
      .poll(async () => (await gateway.operator('GET', `/v1/sessions/${session}`)).body)
      .toMatchObject({ ended: true, control: { state: 'terminated' } });
  });

  test('a call that waits for its answer is refused as the next one is, and its upstream is let go', async () => {
    const session = freshSession();
    upstream.script(() => {});
    const asked = vendor.ask(gateway.url, 'Go on', { headers: headersOf(session), maxRetries: 3 });
    asked.catch(() => {});
    await sent(1);
    await terminate(session);
    await upstream.calls[0]?.aborted;
    const refused: any = await asked.catch((error) => error);
    expect(refused).toMatchObject({ status: 403 });
    expect(told(refused)).toContain(
      'has ended. Do not retry in it; another session may begin. Reason: enough',
    );
    expect(upstream.calls).toHaveLength(1);
    await expect.poll(() => callsOf(session)).toMatchObject([{ decision: 'cut_off', status: 403 }]);
  });

  test('a stream in the middle of its answer ends with an error, which the SDK raises', async () => {
    const session = freshSession();
    upstream.script(halfway(vendor));
    const asked = vendor.askStreaming(gateway.url, 'Go on', { headers: headersOf(session), maxRetries: 3 });
    asked.catch(() => {});
    await sent(1);
    await terminate(session);
    await upstream.calls[0]?.aborted;
    const raised = await asked.catch((error) => error);
    expect(raised).toBeInstanceOf(Error);
    expect(told(raised)).toContain(
      'has ended. Do not retry in it; another session may begin. Reason: enough',
    );
    expect(upstream.calls).toHaveLength(1);
    await expect.poll(() => callsOf(session)).toMatchObject([{ decision: 'cut_off', status: 403 }]);
  });
});

const client = (session: string) =>
  new OpenAI({
    baseURL: `${gateway.url}/proxy/openai/v1`,
    apiKey: AGENT_KEY,
    maxRetries: 3,
    defaultHeaders: headersOf(session),
  });
const delta = (content: string) =>
  `data: ${JSON.stringify({ id: 'c', model: 'gpt-4o-mini', choices: [{ index: 0, delta: { content } }] })}\n\n`;
const streamOf = (session: string, content = 'Go on') =>
  client(session).chat.completions.create({
    model: 'gpt-4o-mini',
    max_tokens: 1_000,
    stream: true,
    messages: [{ role: 'user', content }],
  });

test('what was cut off counts as used, as far as it was estimated', async () => {
  const session = freshSession();
  upstream.script((_call, response) => respondEvents(response, [delta('half')], { end: false }));
  const pieces = (await streamOf(session))[Symbol.asyncIterator]();
  expect((await pieces.next()).value?.choices[0]?.delta.content).toBe('half');
  await terminate(session);
  await expect(pieces.next()).rejects.toThrow(
    'has ended. Do not retry in it; another session may begin. Reason: enough',
  );
  await expect.poll(() => callsOf(session)).toMatchObject([{ decision: 'cut_off', usage: null }]);
  expect((await callsOf(session))[0].cost_usd).toBeCloseTo(0.0006, 4);
});

test('a stream that stops within an event still ends with an error', async () => {
  const session = freshSession();
  const half = delta('half');
  upstream.script((_call, response) =>
    respondEvents(response, [delta('whole'), half.slice(0, half.length - 20)], { end: false }),
  );
  const pieces = (await streamOf(session))[Symbol.asyncIterator]();
  await pieces.next();
  await terminate(session);
  await expect(pieces.next()).rejects.toThrow();
  await expect.poll(() => callsOf(session)).toMatchObject([{ decision: 'cut_off' }]);
  expect(upstream.calls).toHaveLength(1);
});

test('a stream whose length was named ends with its connection: an event more would not fit in it', async () => {
  const session = freshSession();
  upstream.script((_call, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream', 'content-length': 10_000 });
    response.write(delta('half'));
  });
  const answer = await fetch(`${gateway.url}/proxy/openai/v1/chat/completions`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${AGENT_KEY}`,
      'content-type': 'application/json',
      ...headersOf(session),
    },
    body: JSON.stringify({ model: 'm', stream: true, messages: [{ role: 'user', content: 'Go on' }] }),
  });
  const read = answer.text();
  read.catch(() => {});
  await terminate(session);
  await expect(read).rejects.toThrow();
  await expect.poll(() => callsOf(session)).toMatchObject([{ decision: 'cut_off' }]);
});

test('a whole answer that has begun is no whole one, and what is asked again is refused', async () => {
  const session = freshSession();
  upstream.script((_call, response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.write('{"id":"c","choices":[');
  });
  const asked = openaiChat.ask(gateway.url, 'Go on', { headers: headersOf(session), maxRetries: 3 });
  asked.catch(() => {});
  await sent(1);
  await terminate(session);
  await expect(asked).rejects.toThrow();
  await expect
    .poll(async () => (await callsOf(session)).at(-1))
    .toMatchObject({ decision: 'cut_off', status: 403 });
  expect(upstream.calls).toHaveLength(1);
});

test('a pause lets a running answer finish, and stops what comes next', async () => {
  const session = freshSession();
  let finish: () => void = () => {};
  upstream.script(async (call, response) => {
    await new Promise<void>((resolve) => {
      finish = resolve;
    });
    return openaiChat.answer(call, response, { text: 'whole' });
  });
  const asked = openaiChat.ask(gateway.url, 'Go on', { headers: headersOf(session) });
  await sent(1);
  await command(session, 'pause', { reason: 'look' });
  finish();
  expect((await asked).text).toBe('whole');
  await terminate(session);
});

test("the calls of other sessions go on, one that waits for the ended call's answer included", async () => {
  const [ended, waits] = [freshSession(), freshSession()];
  upstream.script((call, response, index) =>
    index === 0 ? undefined : openaiChat.answer(call, response, { text: 'its own' }),
  );
  const ask = (session: string, agent = 'ends') =>
    openaiChat.ask(gateway.url, 'The same of both', { headers: headersOf(session), agent, temperature: 0 });
  const cut = ask(ended);
  cut.catch(() => {});
  await sent(1);
  const asked = ask(waits, 'waits');
  const runningCount = async () =>
    (await gateway.operator('GET', '/v1/agents/waits')).body.running_call_count;
  await expect.poll(runningCount).toBe(1);
  await terminate(ended);
  await expect(cut).rejects.toMatchObject({ status: 403 });
  expect((await asked).text).toBe('its own');
  // What was cut off is in no cache: the answer there is the other's.
  expect((await ask(freshSession())).text).toBe('its own');
  expect(upstream.calls).toHaveLength(2);
});

test('an abandoned pause that expires into a termination cuts off what is still at its upstream', async () => {
  const session = freshSession();
  upstream.script(() => {});
  const asked = openaiChat.ask(gateway.url, 'Nobody has asked this before', { headers: headersOf(session) });
  asked.catch(() => {});
  await sent(1);
  const changed = await gateway.operator('PATCH', '/v1/config', {
    hitl_pause_ttl_ms: 50,
    hitl_expiry_action: 'terminate',
  });
  expect(changed.status).toBe(200);
  await command(session, 'pause', { reason: 'look' });
  await expect(asked).rejects.toMatchObject({ status: 403 });
  await expect.poll(() => callsOf(session)).toMatchObject([{ decision: 'cut_off' }]);
});
