/**
 * The kill switch end to end: an agent that repeats itself is stopped at the request the arithmetic says, in every
 * dialect; one that merely works hard is not.
 */
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import type { IncidentEvidence, LlmCall } from '#contracts';
import { deferred } from '#kernel';
import { respondEvents, respondJson } from '#testing';
import { AGENT_KEY, type RunningGateway, startGateway } from '../start-gateway.js';
import { gateway, startOneGateway, upstream, upstreamsAt } from '../start-one-gateway.js';
import {
  always,
  geminiInteractions,
  openaiChat,
  openaiResponses,
  type Seen,
  type ToolStep,
  type ToolUse,
  VENDORS,
  type Vendor,
} from './vendors.js';

startOneGateway(upstreamsAt);

/** Answers the call at which it stops an agent with an error. */
let erring: RunningGateway;
beforeAll(async () => {
  erring = await startGateway({ env: { ...upstreamsAt(upstream.origin), KILL_RESPONSE: 'error' } });
});
afterAll(async () => {
  expect(await erring.stop()).toBe(0);
});

let serial = 0;
const freshAgent = (name: string) => `${name}-${++serial}`;
const agentOf = async (agent: string) =>
  (await gateway.operator('GET', `/v1/agents/${encodeURIComponent(agent)}`)).body;

/** Newest first. */
const callsOf = async (agent: string, on = gateway): Promise<LlmCall[]> =>
  (await on.operator('GET', `/v1/calls?agent_id=${agent}`)).body.items;

/** What the vendor's SDK throws, code and all where the vendor has a place for it. */
function refusalBy({ name, upstream: upstreamName }: Vendor): object {
  const message = expect.stringContaining('This agent was stopped by Observatory');
  if (upstreamName === 'openai')
    return { status: 403, type: 'permission_error', code: 'agent_killed', message };
  const said = { type: 'error', error: { type: 'permission_error', message } };
  if (upstreamName === 'anthropic') return { status: 403, error: said };
  if (name === geminiInteractions.name)
    return { status: 403, message, body: expect.stringMatching(/"PERMISSION_DENIED".*"AGENT_KILLED"/) };
  return {
    status: 403,
    message: expect.stringMatching(/stopped by Observatory.*"PERMISSION_DENIED".*"AGENT_KILLED"/),
  };
}

/** Equal question, equal answer: 3n - 5 at request n, so 10 at the 5th and 13 at the 6th. */
const FATAL_REQUEST = 6;
/** Equal call, equal result, the question being the 1st request: 4.5n - 11 at request n, so 7 at the 4th and 11.5 at the 5th. */
const FATAL_TOOL_STEP = 5;

/**
 * Works on one question until its model makes no further call.
 *
 * @param resultOf the step, counted from 1
 */
async function work(ask: Vendor['ask'], agent: string, resultOf: (step: number) => string): Promise<Seen> {
  const steps: ToolStep[] = [];
  const options = {
    agent,
    headers: { 'x-observatory-session': agent },
    tools: ['read_file', 'search'],
    steps,
  };
  for (;;) {
    const seen = await ask(gateway.url, 'See to it.', options);
    const [call] = seen.toolCalls;
    if (call === undefined) return seen;
    steps.push({ call, result: resultOf(steps.length + 1) });
  }
}

describe.each(VENDORS)('$name', (vendor: Vendor) => {
  test.each([
    ['whole', vendor.ask],
    ['streamed', vendor.askStreaming],
  ] as const)('an agent that repeats itself is stopped at its 6th request, %s', async (_, ask) => {
    const agent = freshAgent('looper');
    const headers = { 'x-observatory-session': agent };
    upstream.script(always(vendor, { text: 'The order 4711 is still being processed.' }));
    const answers = [];
    for (let request = 1; request <= FATAL_REQUEST; request += 1)
      answers.push(await ask(gateway.url, `Where is order ${request}?`, { agent, headers, maxRetries: 2 }));
    expect(upstream.calls).toHaveLength(FATAL_REQUEST - 1);
    expect(answers.at(-1)?.text).toContain('stopped by Observatory');

    await expect(
      ask(gateway.url, 'Another question altogether', { agent, headers, maxRetries: 2 }),
    ).rejects.toMatchObject({ status: 403 });
    expect(upstream.calls).toHaveLength(FATAL_REQUEST - 1);
    // The SDK asked once each time.
    expect((await callsOf(agent)).map(({ decision }) => decision)).toEqual([
      'inactive',
      'killed',
      ...Array(FATAL_REQUEST - 1).fill('forwarded'),
    ]);

    expect(await agentOf(agent)).toMatchObject({ policy: { active: false, deactivated_by: 'kill_switch' } });
    const { body } = await gateway.operator('GET', `/v1/incidents?agent_id=${agent}`);
    expect(body.items).toHaveLength(1);
    expect(body.items[0]).toMatchObject({
      threshold: 10,
      breakdown: { similar_prompts: 5, similar_responses: 4, repeated_tool_calls: 0, score: 13 },
      reactivated_by: null,
    });
    expect(body.items[0].evidence).toHaveLength(FATAL_REQUEST);

    expect((await gateway.operator('POST', `/v1/agents/${agent}/reactivate`)).body).toEqual({ status: 'ok' });
    const after = await ask(gateway.url, `Where is order ${FATAL_REQUEST}?`, { agent, headers });
    expect(after.text).toContain('still being processed');
  });

  test.each([
    ['whole', vendor.ask],
    ['streamed', vendor.askStreaming],
  ] as const)('an agent that makes one call for ever is stopped at its 5th request, %s', async (_, ask) => {
    const agent = freshAgent('tool-looper');
    // The same call, whatever the order of its keys.
    const call = (step: number): ToolUse => ({
      name: 'search',
      arguments: step % 2 ? { query: 'the order', limit: 9 } : { limit: 9, query: 'the order' },
    });
    upstream.script(always(vendor, (step) => ({ toolCall: call(step) })));
    const seen = await work(ask, agent, () => 'nothing found');
    expect(seen.text).toContain('stopped by Observatory');
    expect(upstream.calls).toHaveLength(FATAL_TOOL_STEP - 1);
    const { body } = await gateway.operator('GET', `/v1/incidents?agent_id=${agent}`);
    expect(body.items).toMatchObject([
      { breakdown: { similar_prompts: 3, similar_responses: 2, repeated_tool_calls: 3, score: 11.5 } },
    ]);
    const marks = body.items[0].evidence.map(({ tool_calls }: IncidentEvidence) =>
      tool_calls.map(({ name, is_repeated }) => [name, is_repeated]),
    );
    expect(marks).toEqual([[], ...Array(4).fill([['search', true]])]);
  });

  test.each([
    ['whole', vendor.ask],
    ['streamed', vendor.askStreaming],
  ] as const)('is answered an error where the gateway is told to, %s', async (_, ask) => {
    const agent = freshAgent('erring');
    const options = { agent, headers: { 'x-observatory-session': agent }, maxRetries: 2 };
    upstream.script(always(vendor, { text: 'The order is still being processed.' }));
    for (let request = 1; request < FATAL_REQUEST; request += 1)
      await ask(erring.url, 'Where is my order?', options);
    const sent = vi.spyOn(globalThis, 'fetch');
    onTestFinished(() => sent.mockRestore());
    await expect(ask(erring.url, 'Where is my order?', options)).rejects.toMatchObject(refusalBy(vendor));
    const answer: Response = await sent.mock.results[0]?.value;
    expect(answer.headers.get('x-observatory-decision')).toBe('killed');
    expect(answer.headers.get('x-should-retry')).toBe('false');
    expect(sent).toHaveBeenCalledTimes(1);
    expect(upstream.calls).toHaveLength(FATAL_REQUEST - 1);
    expect((await callsOf(agent, erring)).map(({ status, decision }) => [status, decision])).toEqual([
      [403, 'killed'],
      ...Array(FATAL_REQUEST - 1).fill([200, 'forwarded']),
    ]);
  });
});

test('a killed call says so in a header, and its second operator is told that the first was faster', async () => {
  const agent = freshAgent('headers');
  upstream.script(always(openaiChat, { text: 'same' }));
  let last: Response | null = null;
  for (let request = 1; request <= FATAL_REQUEST; request += 1)
    last = await post(agent, { content: 'same again' });
  expect(last?.status).toBe(200);
  expect(last?.headers.get('x-observatory-decision')).toBe('killed');
  const refused = await post(agent, { content: 'more' });
  expect(refused.status).toBe(403);
  expect(refused.headers.get('x-should-retry')).toBe('false');
  const both = await Promise.all(
    [1, 2].map(() => gateway.operator('POST', `/v1/agents/${agent}/reactivate`)),
  );
  expect(both.map(({ body }) => body.note ?? 'done').sort()).toEqual(['already_active', 'done']);
});

test('an agent that hangs up once it has read what it waits for is seen, and stopped like any other', async () => {
  const agent = freshAgent('leaver');
  const said = { choices: [{ index: 0, delta: { content: 'Action: look into the drawer again' } }] };
  upstream.script((_call, response) =>
    respondEvents(response, [`data: ${JSON.stringify(said)}\n\n`], { end: false }),
  );
  /** @returns the decision, once the call is over for the gateway too */
  const askAndLeave = async (serialOfCall: number) => {
    const leave = new AbortController();
    const request = { content: 'Where did I leave my keys this time?', stream: true };
    const answer = await post(agent, request, { 'x-observatory-session': agent }, leave.signal);
    await answer.body?.getReader().read();
    leave.abort();
    const calls = async () => (await gateway.operator('GET', `/v1/calls?agent_id=${agent}`)).body.items;
    await expect.poll(calls).toHaveLength(serialOfCall);
    return answer.headers.get('x-observatory-decision');
  };
  const decisions: (string | null)[] = [];
  for (let request = 1; request <= FATAL_REQUEST; request += 1) decisions.push(await askAndLeave(request));
  expect(decisions.at(-1)).toBe('killed');
  expect(upstream.calls).toHaveLength(FATAL_REQUEST - 1);
  const session = async () => (await gateway.operator('GET', `/v1/sessions/${agent}`)).body;
  await expect
    .poll(session)
    .toMatchObject({ step_count: FATAL_REQUEST - 1, failure_count: 0, severity: 'loop' });
});

test('an agent that calls each of its requests the same retry is stopped all the same', async () => {
  const agent = freshAgent('pretender');
  upstream.script(always(openaiChat, { text: 'same' }));
  const decisions: (string | null)[] = [];
  // The first may be a retry, of a request that broke on its way.
  for (let request = 0; request <= FATAL_REQUEST; request += 1) {
    const answer = await post(agent, { content: 'same again' }, { 'x-stainless-retry-count': '1' });
    decisions.push(answer.headers.get('x-observatory-decision'));
  }
  expect(decisions).toContain('killed');
  expect((await agentOf(agent)).policy.active).toBe(false);
});

describe.each(VENDORS)('$name, is not fired by', (vendor: Vendor) => {
  test('a tool task of 40 steps on one user message with a constant tool list', async () => {
    const agent = freshAgent('worker');
    upstream.script(
      always(vendor, (step) =>
        step < 40
          ? { toolCall: { name: 'read_file', arguments: { path: `src/${step}.ts` } } }
          : { text: 'done' },
      ),
    );
    const seen = await work(vendor.ask, agent, (step) => `export const file${step} = ${step * 7};`);
    expect(seen.text).toBe('done');
    expect(upstream.calls).toHaveLength(41);
    expect((await agentOf(agent)).policy.active).toBe(true);
  });

  test('polling whose results change', async () => {
    const agent = freshAgent('poller');
    const toolCall = { name: 'get_progress', arguments: { job: 17 } };
    upstream.script(always(vendor, (step) => (step < 30 ? { toolCall } : { text: 'done' })));
    const seen = await work(vendor.ask, agent, (step) => `${step} %`);
    expect(seen.text).toBe('done');
    expect((await agentOf(agent)).policy.active).toBe(true);
  });

  test('a client that tries again after 500s', async () => {
    const agent = freshAgent('retrier');
    upstream.script((_call, response) => respondJson(response, 500, { error: { message: 'overloaded' } }));
    for (let attempt = 0; attempt < 12; attempt += 1)
      await expect(vendor.ask(gateway.url, 'Please answer', { agent })).rejects.toMatchObject({
        status: 500,
      });
    expect(upstream.calls).toHaveLength(12);
    expect((await agentOf(agent)).policy.active).toBe(true);
  });

  test('fifty users who greet one bot', async () => {
    const agent = freshAgent('greeter');
    upstream.script(always(vendor, { text: 'Hello! How can I help you?' }));
    for (let user = 0; user < 50; user += 1)
      await vendor.ask(gateway.url, 'Hi', {
        agent,
        system: 'You are a friendly bot.',
        headers: { 'x-observatory-session': `${agent}-user-${user}` },
      });
    expect(upstream.calls).toHaveLength(50);
    expect((await agentOf(agent)).policy.active).toBe(true);
  });

  test('a long system prompt that all its questions share', async () => {
    const agent = freshAgent('librarian');
    upstream.script(
      always(vendor, (index) => ({
        text: `Answer about ${TOPICS[index % TOPICS.length]} in its own words, number ${index}.`,
      })),
    );
    const system = 'You are the librarian of a very large library. '.repeat(400);
    const headers = { 'x-observatory-session': agent };
    for (const topic of TOPICS) await vendor.ask(gateway.url, topic, { agent, system, headers });
    expect(upstream.calls).toHaveLength(TOPICS.length);
    expect((await agentOf(agent)).policy.active).toBe(true);
  });
});

describe('is not fired by', () => {
  test.each([
    [
      'openai/v1/chat/completions',
      (id: string) =>
        `{"role":"assistant","tool_calls":[{"id":"c${id}","type":"function","function":{"name":"hide","arguments":"{\\"id\\":${id}}"}}]},` +
        `{"role":"tool","tool_call_id":"c${id}","content":"ok"}`,
      (turns: string[]) =>
        `{"model":"m","messages":[{"role":"user","content":"Hide all spam."}${turns.join('')}]}`,
    ],
    [
      'openai/v1/responses',
      (id: string) =>
        `{"type":"function_call","call_id":"c${id}","name":"hide","arguments":"{\\"id\\":${id}}"},` +
        `{"type":"function_call_output","call_id":"c${id}","output":"ok"}`,
      (turns: string[]) =>
        `{"model":"m","input":[{"role":"user","content":"Hide all spam."}${turns.join('')}]}`,
    ],
    [
      'anthropic/v1/messages',
      (id: string) =>
        `{"role":"assistant","content":[{"type":"tool_use","id":"c${id}","name":"hide","input":{"id":${id}}}]},` +
        `{"role":"user","content":[{"type":"tool_result","tool_use_id":"c${id}","content":"ok"}]}`,
      (turns: string[]) =>
        `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"Hide all spam."}${turns.join('')}]}`,
    ],
    [
      'gemini/v1beta/models/m:generateContent',
      (id: string) =>
        `{"role":"model","parts":[{"functionCall":{"name":"hide","args":{"id":${id}}}}]},` +
        `{"role":"user","parts":[{"functionResponse":{"name":"hide","response":{"ok":true}}}]}`,
      (turns: string[]) =>
        `{"contents":[{"role":"user","parts":[{"text":"Hide all spam."}]}${turns.join('')}]}`,
    ],
  ])('a tool task on ids of 64 bits that differ in their last digits, at %s', async (path, turn, body) => {
    const agent = freshAgent('moderator');
    upstream.script((_call, response) => respondJson(response, 200, {}));
    const turns: string[] = [];
    for (let step = 10; step < 30; step += 1) {
      turns.push(`,${turn(`12345678901234567${step}`)}`);
      const answer = await fetch(`${gateway.url}/agents/${agent}/proxy/${path}`, {
        method: 'POST',
        headers: { 'x-observatory-key': AGENT_KEY, 'content-type': 'application/json' },
        body: body(turns),
      });
      expect(answer.headers.get('x-observatory-decision')).toBe('forwarded');
    }
    expect((await agentOf(agent)).policy.active).toBe(true);
  });

  describe.each([
    ['in sessions that nobody named', {}],
    ['in one named session', { 'x-observatory-session': 'crew' }],
  ] as const)('a supervisor that sends its workers on nine errands, %s', (_, headers) => {
    /** @param role also the system prompt */
    const ask = (agent: string, role: string, path: string, conversation: object, more: RequestInit = {}) =>
      fetch(`${gateway.url}/agents/${agent}/proxy/openai/v1/${path}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${AGENT_KEY}`, 'content-type': 'application/json', ...headers },
        body: JSON.stringify({ model: 'gpt-4o-mini', instructions: role, ...conversation }),
        ...more,
      });
    const send = async (...asked: Parameters<typeof ask>) => {
      const [, role] = asked;
      const answer = await ask(...asked);
      expect([role, answer.headers.get('x-observatory-decision')]).toEqual([role, 'forwarded']);
    };
    const task = { role: 'user', content: 'Write a report about nine things.' };

    test('as LangGraph does, which makes the call that hands back itself', async () => {
      const agent = freshAgent('langgraph');
      const made = (id: string, name: string) => ({
        role: 'assistant',
        content: '',
        tool_calls: [{ id, type: 'function', function: { name, arguments: '{}' } }],
      });
      const came = (id: string, content: string) => ({ role: 'tool', tool_call_id: id, content });
      const messages: object[] = [task];
      for (const [errand, topic] of TOPICS.slice(0, 9).entries()) {
        const worker = errand % 2 ? 'analyst' : 'researcher';
        const sends = { name: `transfer_to_${worker}`, arguments: {} };
        upstream.script(always(openaiChat, { toolCall: sends }));
        const system = { role: 'system', content: 'You are the supervisor.' };
        await send(agent, 'supervisor', 'chat/completions', { messages: [system, ...messages] });
        messages.push(
          made(`out-${errand}`, sends.name),
          came(`out-${errand}`, `Successfully transferred to ${worker}`),
        );
        upstream.script(always(openaiChat, { text: `About "${topic}" nothing is known.` }));
        const own = { role: 'system', content: `You are the ${worker}.` };
        await send(agent, worker, 'chat/completions', { messages: [own, ...messages] });
        messages.push(
          { role: 'assistant', content: `About "${topic}" nothing is known.`, name: worker },
          made(`back-${errand}`, 'transfer_back_to_supervisor'),
          came(`back-${errand}`, 'Successfully transferred back to supervisor'),
        );
      }
      expect((await agentOf(agent)).policy.active).toBe(true);
    });

    /** Asks, and leaves once the upstream has it. */
    const vanish = async (agent: string, role: string, path: string, conversation: object) => {
      upstream.script(() => {});
      const gone = new AbortController();
      const call = ask(agent, role, path, conversation, { signal: gone.signal });
      await expect.poll(() => upstream.calls.length, { timeout: 10_000 }).toBe(1);
      gone.abort();
      await expect(call).rejects.toThrow();
      await upstream.calls[0]?.aborted;
    };

    test.each([
      ['', false],
      [', and whose client leaves the supervisor each time and asks it again', true],
    ])("as OpenAI's Agents SDK does, whose workers make it%s", async (_, vanishes) => {
      const agent = freshAgent('agents-sdk');
      const input: object[] = [task];
      /** One turn of an agent, and what its call comes back with. */
      const turn = async (role: string, name: string, args: ToolUse['arguments'], output: string) => {
        upstream.script(always(openaiResponses, { toolCall: { name, arguments: args } }));
        await send(agent, role, 'responses', { input });
        const call_id = `call_${input.length}`;
        input.push({ type: 'function_call', call_id, name, arguments: JSON.stringify(args) });
        input.push({ type: 'function_call_output', call_id, output });
      };
      for (const topic of TOPICS.slice(0, 9)) {
        if (vanishes) await vanish(agent, 'boss', 'responses', { input });
        await turn('boss', 'transfer_to_alpha', {}, '{"assistant":"alpha"}');
        await turn('alpha', 'search', { topic }, `Nothing is known about "${topic}".`);
        await turn('alpha', 'transfer_to_boss', {}, '{"assistant":"boss"}');
      }
      expect((await agentOf(agent)).policy.active).toBe(true);
    });
  });

  test('fifty end users whom the client names only as the vendor wants them named', async () => {
    const agent = freshAgent('concierge');
    upstream.script(always(openaiChat, { text: 'Hello! How can I help you?' }));
    for (let user = 0; user < 50; user += 1)
      expect((await post(agent, { content: 'Hi', user: `user-${user}` })).status).toBe(200);
    expect((await agentOf(agent)).policy.active).toBe(true);
  });

  test('one question asked thirty times at once, to take a vote', async () => {
    const agent = freshAgent('voter');
    const answered = deferred();
    upstream.script(async (call, response, index) => {
      if (index === 29) answered.resolve();
      await answered.promise;
      openaiChat.answer(call, response, { text: 'same' });
    });
    const votes = await Promise.all(Array.from({ length: 30 }, () => post(agent, { content: 'same again' })));
    const forwarded = votes.filter(({ headers }) => headers.get('x-observatory-decision') === 'forwarded');
    expect(forwarded).toHaveLength(30);
    expect((await agentOf(agent)).policy.active).toBe(true);
    // All of it was one step: who asks on is stopped at the sixth.
    upstream.script(always(openaiChat, { text: 'same' }));
    for (let step = 2; step <= FATAL_REQUEST; step += 1) await post(agent, { content: 'same again' });
    expect(upstream.calls).toHaveLength(FATAL_REQUEST - 2);
    expect((await agentOf(agent)).policy.active).toBe(false);
  });
});

const TOPICS = [
  'Who wrote the Odyssey?',
  'Which shelf holds the atlases of Asia?',
  'Do you lend out microfilm?',
  'How are incunabula kept dry?',
  'When does the reading room close on holidays?',
  'Is there a catalogue of medieval maps?',
  'May I photograph a manuscript for my thesis?',
  'What is the fine for a lost dictionary?',
  'Where do I find newspapers from 1923?',
  'Can children get a card of their own?',
  'Recommend a biography of a mathematician.',
  'Which languages does the folklore section cover?',
];

const post = (
  agent: string,
  { content, ...rest }: { content: string; user?: string; stream?: boolean },
  headers: Record<string, string> = {},
  signal?: AbortSignal,
) =>
  fetch(`${gateway.url}/agents/${agent}/proxy/openai/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${AGENT_KEY}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ model: 'gpt-4o-mini', messages: [{ role: 'user', content }], ...rest }),
    signal,
  });
