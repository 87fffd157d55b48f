/** An agent whose conversation Google keeps: each call of it brings no more than what its tools came back with. */
import { GoogleGenAI, type Interactions } from '@google/genai';
import { expect, test } from 'vitest';
import type { LlmCall } from '#contracts';
import { respondEvents, respondJson } from '#testing';
import { AGENT_KEY } from '../start-gateway.js';
import { gateway, startAgain, startOneGateway, upstream, upstreamsAt } from '../start-one-gateway.js';

startOneGateway((origin) => ({ ...upstreamsAt(origin), LLM_CACHE_BACKEND: 'memory' }));

const MODEL = 'gemini-2.5-flash';
const USAGE = { total_input_tokens: 1_000, total_output_tokens: 10, total_thought_tokens: 90 };

interface Asked {
  stream?: boolean;
  background?: boolean;
  system_instruction?: string;
  previous_interaction_id?: string;
}

let serial = 0;
const freshAgent = () => `interacts-${++serial}`;
const interactionsOf = (agent: string) =>
  new GoogleGenAI({
    apiKey: AGENT_KEY,
    httpOptions: { baseUrl: `${gateway.url}/agents/${agent}/proxy/gemini` },
  }).interactions;
/** Newest first. */
const callsOf = async (agent: string): Promise<LlmCall[]> =>
  (await gateway.operator('GET', `/v1/calls?agent_id=${agent}`)).body.items;
const command = async (session: string, name: string, body: object = {}) =>
  expect(await gateway.operator('POST', `/v1/sessions/${session}/${name}`, body)).toMatchObject({
    status: 200,
  });
const isShown = (session: string) =>
  expect.poll(async () => (await gateway.operator('GET', `/v1/sessions/${session}`)).status).toBe(200);

/** Thinks, and calls `read_meter`, each time under another id. */
function callsForEver(): void {
  upstream.script(({ json }, response, index) => {
    const id = `v1_${serial}_${index}`;
    const call = { type: 'function_call', id: `call_${index}`, name: 'read_meter', arguments: { meter: 7 } };
    const steps = [{ type: 'thought', signature: 'EvEFCu4FAQw' }, call];
    const interaction = { id, object: 'interaction', model: MODEL, status: 'requires_action', usage: USAGE };
    if (!(json as Asked).stream) return respondJson(response, 200, { ...interaction, steps });
    const event = (event_type: string, rest: object) =>
      `event: ${event_type}\ndata: ${JSON.stringify({ event_type, ...rest })}\n\n`;
    return respondEvents(response, [
      event('interaction.created', { interaction: { id, model: MODEL, status: 'in_progress' } }),
      ...steps.flatMap((step, at) => [
        event('step.start', { index: at, step }),
        event('step.stop', { index: at }),
      ]),
      event('interaction.completed', { interaction }),
      'event: done\ndata: [DONE]\n\n',
    ]);
  });
}

/** What the caller of the SDK has of an interaction. */
interface Had {
  id: string;
  call: Interactions.FunctionCallStep | undefined;
  text: string;
}

async function ask(agent: string, isStream: boolean, input: unknown, previous?: string): Promise<Had> {
  const asked = {
    model: MODEL,
    input: input as string,
    ...(previous !== undefined && { previous_interaction_id: previous }),
  };
  const had: Had = { id: '', call: undefined, text: '' };
  if (!isStream) {
    const { id, steps = [], output_text = '' } = await interactionsOf(agent).create(asked);
    const call = steps.find((step) => step.type === 'function_call');
    return { id, call, text: output_text };
  }
  for await (const event of await interactionsOf(agent).create({ ...asked, stream: true })) {
    if (event.event_type === 'interaction.created') had.id = event.interaction.id;
    if (event.event_type === 'step.start' && event.step.type === 'function_call') had.call = event.step;
    if (event.event_type === 'step.delta' && event.delta.type === 'text') had.text += event.delta.text;
  }
  return had;
}

const resultOf = ({ call }: Had, result: string) => [
  { type: 'function_result', call_id: call?.id, name: call?.name, result },
];

test.each([
  ['whole', false],
  ['streamed', true],
])(
  'one that reads the same again and again is stopped, %s, and its session shows the steps',
  async (_, isStream) => {
    const agent = freshAgent();
    callsForEver();
    let last = await ask(agent, isStream, 'Read meter 7 until it stands still.');
    let count = 1;
    for (; last.call !== undefined && count < 20; count += 1)
      last = await ask(agent, isStream, resultOf(last, 'It stands at 4711 cubic metres.'), last.id);
    expect(last.text).toContain('stopped by Observatory');
    // As with any other vendor: the question is the 1st request.
    expect(count).toBe(5);
    await expect.poll(() => callsOf(agent)).toHaveLength(count);
    const calls = await callsOf(agent);
    expect(calls.map(({ decision }) => decision)).toEqual(['killed', ...Array(4).fill('forwarded')]);
    expect(new Set(calls.map(({ session_id }) => session_id)).size).toBe(1);
    const [, answered] = calls;
    expect(answered).toMatchObject({
      dialect: 'gemini-interactions',
      model: MODEL,
      usage: { input_tokens: 1_000, output_tokens: 100, reasoning_tokens: 90 },
      tool_calls: [{ name: 'read_meter' }],
    });
    // 0.3 and 2.5 dollars a million.
    expect(answered?.cost_usd).toBeCloseTo(0.00055, 6);
    const steps = `/v1/sessions/${answered?.session_id}/decision-logs`;
    await expect
      .poll(async () => JSON.stringify((await gateway.operator('GET', steps)).body))
      .toContain('read_meter');
  },
);

test('one that gets on is left alone', async () => {
  const agent = freshAgent();
  callsForEver();
  let last = await ask(agent, false, 'Read meter 7, day by day.');
  for (let day = 1; day <= 8; day += 1)
    last = await ask(
      agent,
      false,
      resultOf(last, `On day ${day} it stood at ${day ** 5 * 37} cubic metres.`),
      last.id,
    );
  expect(last.call?.name).toBe('read_meter');
});

test('guidance is said in the next call alone, beside the id that it goes on from', async () => {
  const agent = freshAgent();
  callsForEver();
  const first = await ask(agent, false, 'Read meter 7.');
  await expect.poll(() => callsOf(agent)).toHaveLength(1);
  const session = (await callsOf(agent))[0]?.session_id as string;
  await isShown(session);
  await command(session, 'inject', { prompt: 'Read meter 8 as well.' });
  const second = await ask(agent, false, resultOf(first, '12 cubic metres'), first.id);
  await ask(agent, false, resultOf(second, '13 cubic metres'), second.id);
  const [asked, told, after] = upstream.calls.map(({ json }) => json as Asked);
  expect(asked).not.toHaveProperty('system_instruction');
  expect(told).toMatchObject({
    previous_interaction_id: first.id,
    system_instruction: expect.stringContaining('Read meter 8 as well.'),
  });
  expect(after).not.toHaveProperty('system_instruction');
});

test('is held by a pause, and has ended for good once it was terminated, after a restart too', async () => {
  const agent = freshAgent();
  callsForEver();
  const first = await ask(agent, false, 'Read meter 7.');
  await expect.poll(() => callsOf(agent)).toHaveLength(1);
  const session = (await callsOf(agent))[0]?.session_id as string;
  await isShown(session);
  await command(session, 'pause', { reason: 'let me look' });
  const goOn = () => ask(agent, false, resultOf(first, '12 cubic metres'), first.id);
  const second = goOn();
  const held = async () => (await gateway.operator('GET', `/v1/held-calls?session_id=${session}`)).body.items;
  await expect.poll(held).toHaveLength(1);
  await command(session, 'resume');
  await second;
  await command(session, 'terminate', { reason: 'enough' });
  await expect(goOn()).rejects.toMatchObject({ status: 403 });
  await gateway.stop();
  await startAgain();
  await expect(goOn()).rejects.toMatchObject({ status: 403 });
});

test('an answer that Google keeps is given again under its id, until it is deleted there', async () => {
  const agent = freshAgent();
  const content = [{ type: 'text', text: 'On Saturday.' }];
  upstream.script(({ method }, response, index) =>
    method === 'DELETE'
      ? respondJson(response, 200, {})
      : respondJson(response, 200, {
          id: `v1_kept_${index}`,
          object: 'interaction',
          model: MODEL,
          status: 'completed',
          steps: [{ type: 'model_output', content }],
          usage: USAGE,
        }),
  );
  const asked = () => ask(agent, false, 'When do you open, on what day?');
  const first = await asked();
  expect(await asked()).toEqual(first);
  expect(upstream.calls).toHaveLength(1);
  await interactionsOf(agent).delete(first.id);
  expect((await asked()).id).not.toBe(first.id);
});

test('is seen on Vertex AI as well, where the SDK escapes the slashes of its project', async () => {
  const agent = freshAgent();
  callsForEver();
  const { interactions } = new GoogleGenAI({
    vertexai: true,
    project: 'p',
    location: 'global',
    httpOptions: {
      baseUrl: `${gateway.url}/agents/${agent}/proxy/gemini`,
      headers: { authorization: 'Bearer of-google', 'x-observatory-key': AGENT_KEY },
    },
  });
  await interactions.create({ model: MODEL, input: 'Read meter 7.' });
  await expect
    .poll(() => callsOf(agent))
    .toMatchObject([{ dialect: 'gemini-interactions', model: MODEL, status: 200 }]);
  expect(upstream.calls[0]?.url).toBe('/v1beta1%2Fprojects%2Fp%2Flocations%2Fglobal/interactions');
});

test('an answer that Google had cut goes on in its session, and its rest is no repetition', async () => {
  const agent = freshAgent();
  upstream.script((_call, response, index) =>
    respondJson(response, 200, {
      id: `v1_hop_${index}`,
      object: 'interaction',
      model: MODEL,
      status: index < 7 ? 'requires_continuation' : 'completed',
      ...(index < 7 && { continuation_token: `token-${index}` }),
      steps: [{ type: 'model_output', content: [{ type: 'text', text: `Part ${index}. ` }] }],
      usage: USAGE,
    }),
  );
  const asked = { model: MODEL, input: 'Write a very long story.', store: false };
  const { output_text = '' } = await interactionsOf(agent).create(asked);
  expect(output_text).toContain('Part 7.');
  // It sends the question with each of them, for nothing is kept.
  expect(upstream.calls.map(({ json }) => (json as { input?: string }).input)).toEqual(
    Array(8).fill(asked.input),
  );
  await expect.poll(() => callsOf(agent)).toHaveLength(8);
  const calls = await callsOf(agent);
  expect(new Set(calls.map(({ session_id }) => session_id)).size).toBe(1);
  expect(new Set(calls.map(({ decision }) => decision))).toEqual(new Set(['forwarded']));
});

test('an agent of Google’s is recorded with its tokens, can be ended, and costs nobody knows what', async () => {
  const agent = freshAgent();
  upstream.script((_call, response) =>
    respondJson(response, 200, {
      id: 'v1_research',
      object: 'interaction',
      agent: 'deep-research',
      status: 'completed',
      steps: [{ type: 'model_output', content: [{ type: 'text', text: 'Found.' }] }],
      usage: USAGE,
    }),
  );
  const asked = { agent: 'deep-research', input: 'Look into it.' };
  expect((await interactionsOf(agent).create(asked)).output_text).toBe('Found.');
  await expect
    .poll(() => callsOf(agent))
    .toMatchObject([{ model: null, cost_usd: null, usage: { input_tokens: 1_000 } }]);
  const session = (await callsOf(agent))[0]?.session_id as string;
  await isShown(session);
  await command(session, 'terminate', { reason: 'enough' });
  await expect(interactionsOf(agent).create(asked)).rejects.toMatchObject({ status: 403 });
  expect(upstream.calls).toHaveLength(1);
});
