import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { CachedAnswer } from '#contracts';
import { geminiInteractions } from './gemini-interactions.js';

const bytes = (name: string) => readFileSync(new URL(`./fixtures/${name}`, import.meta.url));
const json = (name: string) => JSON.parse(bytes(name).toString('utf8'));
const PATH = '/v1beta/interactions';
const read = (body: object) => geminiInteractions.readRequest(body, PATH);

function readStream(chunks: string | Uint8Array) {
  const reader = geminiInteractions.streamReader();
  reader.push(typeof chunks === 'string' ? Buffer.from(chunks) : chunks);
  reader.end();
  return reader;
}
const events = (...all: object[]) => all.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('');

describe('requests', () => {
  it('are read with results matched to calls by id', () => {
    const { newest, ...request } = read(json('request-tools.json'));
    expect(request).toEqual({
      model: 'gemini-3.5-flash',
      stream: false,
      system_text: 'You book trains.',
      first_user_text: 'Two seats to Gdańsk.',
      continues: null,
      is_kept: true,
      output_tokens_max: 400,
      message_count: 7,
    });
    const call = (id: string, to: string) => ({ id, name: 'find_trains', arguments: `{"to":"${to}"}` });
    expect(newest).toMatchObject({
      user_text: '',
      tool_results: [
        { call: call('call_a2', 'Sopot'), text: 'no such station', failed: true },
        {
          call: call('call_a1', 'Gdańsk'),
          text: expect.stringMatching(/^IC 5302 at 09:14\n\{"attachment":"/),
          failed: false,
        },
        { call: null, text: '{"sky":"rain","degrees":12}', failed: false },
      ],
    });
    expect(newest.attachment_digests).toHaveLength(1);
  });

  it('have results that are wrapped as contents, which say of themselves that a tool failed', () => {
    const input = (result: unknown) => ({ input: [{ type: 'function_result', call_id: 'c', result }] });
    const resultOf = (result: unknown) => read(input(result)).newest.tool_results[0];
    const content = [{ type: 'text', text: 'Error: no such file' }];
    expect(resultOf({ content })).toMatchObject({ text: 'Error: no such file', failed: true });
    expect(resultOf({ error: 'no such file' })).toMatchObject({ failed: true });
    expect(resultOf({ content, rows: 3 })).toMatchObject({
      text: JSON.stringify({ content, rows: 3 }),
      failed: false,
    });
  });

  it('go on from an earlier interaction, whose calls are not in them', () => {
    expect(read(json('request-continued.json'))).toMatchObject({
      continues: 'v1_1',
      first_user_text: '',
      newest: { user_text: '', tool_results: [{ call: null, text: 'IC 5302 at 09:14', failed: false }] },
    });
  });

  it.each([
    ['a text', 'hi there'],
    ['a content', { type: 'text', text: 'hi there' }],
    ['contents', [{ type: 'text', text: 'hi there' }]],
    ['a step', { type: 'user_input', content: [{ type: 'text', text: 'hi there' }] }],
    ['steps', [{ type: 'user_input', content: [{ type: 'text', text: 'hi there' }] }]],
    ['turns', [{ role: 'user', content: 'hi there' }]],
  ])('may have %s for their input', (_, input) => {
    expect(read({ input })).toMatchObject({
      first_user_text: 'hi there',
      newest: { user_text: 'hi there' },
      message_count: 1,
    });
    const canonical = geminiInteractions.canonicalRequest({ input }, PATH);
    expect(canonical.messages).toEqual([{ role: 'user', parts: ['hi there'], extra: null }]);
  });

  it("are told from the model's words by steps, and by roles where they are turns", () => {
    const said = (type: string, text: string) => ({ type, content: [{ type: 'text', text }] });
    const turn = (role: string, content: string) => ({ role, content });
    for (const input of [
      [said('user_input', 'a'), said('model_output', 'b'), said('user_input', 'c')],
      [turn('user', 'a'), turn('model', 'b'), turn('user', 'c')],
    ])
      expect(read({ input })).toMatchObject({ first_user_text: 'a', newest: { user_text: 'c' } });
  });

  it('keep apart what stands behind a result and what stands before it', () => {
    const text = { type: 'text', text: 'and now?' };
    const result = { type: 'function_result', call_id: 'c', result: 'r' };
    const messages = (...input: object[]) => geminiInteractions.canonicalRequest({ input }, PATH).messages;
    expect(messages(text, result)).not.toEqual(messages(result, text));
    expect(read({ input: [result, text] }).newest).toMatchObject({ user_text: 'and now?' });
  });

  it('bring nothing new where they ask for the rest of an answer that was cut', () => {
    const asked = { model: 'm', store: false, input: 'Write a long story.' };
    expect(read({ ...asked, continuation_token: 't' }).newest).toEqual({
      user_text: '',
      tool_results: [],
      attachment_digests: [],
    });
    expect(read(asked).newest.user_text).toBe('Write a long story.');
  });

  it('are given words at the end of the instruction, but where none may be there or none may change', () => {
    const inject = (request: object) => geminiInteractions.injectSystem(request, 'Stop.');
    for (const none of [{}, { system_instruction: null }, { system_instruction: '' }])
      expect(inject({ input: 'hi', previous_interaction_id: 'v1_1', ...none })).toEqual({
        input: 'hi',
        previous_interaction_id: 'v1_1',
        system_instruction: 'Stop.',
      });
    const told = inject({ system_instruction: 'Be kind.' });
    expect(told).toEqual({ system_instruction: 'Be kind.\n\nStop.' });
    for (const request of [{ cached_content: 'c' }, { continuation_token: 't' }, { system_instruction: 7 }])
      expect(inject(request)).toBe(request);
  });
});

const ANSWER = {
  model: 'gemini-3.5-flash',
  text: "I'll look for trains to Gdańsk.",
  tool_calls: [{ id: 'call_b1', name: 'find_trains', arguments: '{"to":"Gdańsk"}' }],
  chars_beside: 'thinking of trains'.length,
  finish: 'tool_calls',
  usage: {
    input_tokens: 90,
    cached_input_tokens: 64,
    cache_write_tokens: 0,
    output_tokens: 70,
    reasoning_tokens: 32,
    search_count: 2,
  },
  service_tier: 'flex',
  failed: false,
  answer_id: 'v1_2',
  // Thoughts are left out of it.
  lossless: false,
};

describe('answers', () => {
  it('are read whole', () => {
    expect(geminiInteractions.readAnswer(json('answer-tools.json'))).toEqual(ANSWER);
  });

  it('are read from a stream, a call without arguments too', () => {
    const reader = readStream(bytes('stream-tools.chunks.txt'));
    const now = { id: 'call_b2', name: 'now', arguments: '{}' };
    expect(reader.answer()).toEqual({ ...ANSWER, tool_calls: [...ANSWER.tool_calls, now] });
    expect(reader).toMatchObject({ isComplete: true, isTruncated: false });
  });

  it('that break off with an error have failed, and are not over', () => {
    const reader = readStream(bytes('stream-error.chunks.txt'));
    expect(reader.answer()).toMatchObject({
      text: 'Half of ',
      finish: null,
      failed: true,
      answer_id: 'v1_2',
      lossless: false,
    });
    expect(reader.isComplete).toBe(false);
  });

  it.each([
    ['completed', 'stop'],
    ['requires_action', 'tool_calls'],
    ['incomplete', 'length'],
    ['requires_continuation', 'length'],
    ['failed', 'other'],
    ['cancelled', 'other'],
    ['budget_exceeded', 'other'],
    ['in_progress', null],
    ['queued', null],
    ['something new', null],
  ])('with the status %s end as %s', (status, finish) => {
    const interaction = { id: 'v1_1', status };
    const whole = geminiInteractions.readAnswer(interaction);
    const streamed = readStream(events({ event_type: 'interaction.completed', interaction })).answer();
    for (const answer of [whole, streamed])
      expect(answer).toMatchObject({ finish, failed: status === 'failed' });
  });

  it.each([
    ['arguments_delta', 'arguments'],
    ['arguments', 'partial_arguments'],
  ])('have the arguments of a call in pieces of the type %s', (type, member) => {
    const piece = (text: string) => ({ event_type: 'step.delta', index: 4, delta: { type, [member]: text } });
    const step = { type: 'function_call', id: '1', name: 'f' };
    const reader = readStream(
      events({ event_type: 'step.start', index: 4, step }, piece('{"to":'), piece('"a"}')),
    );
    expect(reader.answer().tool_calls).toEqual([{ id: '1', name: 'f', arguments: '{"to":"a"}' }]);
  });

  it('are taken from the last event where it has the steps', () => {
    const reader = readStream(
      events(
        { event_type: 'step.start', index: 0, step: { type: 'model_output' } },
        { event_type: 'step.delta', index: 0, delta: { type: 'text', text: 'Hel' } },
        {
          event_type: 'interaction.completed',
          interaction: {
            id: 'v1_1',
            status: 'completed',
            steps: [{ type: 'model_output', content: [{ type: 'text', text: 'Hello' }] }],
          },
        },
      ),
    );
    expect(reader.answer()).toMatchObject({ text: 'Hello', finish: 'stop', lossless: true });
  });

  it.each([
    ['a thought', [{ type: 'thought', signature: 's' }]],
    ['two texts', [{ type: 'model_output', content: ['a', 'b'].map((text) => ({ type: 'text', text })) }]],
    ['two messages', ['a', 'b'].map((text) => ({ type: 'model_output', content: [{ type: 'text', text }] }))],
    ['a picture', [{ type: 'model_output', content: [{ type: 'image', data: 'AAAA' }] }]],
    [
      'a source',
      [
        {
          type: 'model_output',
          content: [{ type: 'text', text: 'a', annotations: [{ type: 'url_citation' }] }],
        },
      ],
    ],
    ['a search of the vendor', [{ type: 'google_search_call', id: '1', arguments: { queries: ['q'] } }]],
    ['a call without an id', [{ type: 'function_call', name: 'f', arguments: {} }]],
    ['a new member', [{ type: 'model_output', content: [{ type: 'text', text: 'a' }], mood: 'glad' }]],
  ])('with %s cannot be given again', (_, steps) => {
    const interaction = { id: 'v1_1', status: 'completed', steps };
    expect(geminiInteractions.readAnswer(interaction).lossless).toBe(false);
    expect(geminiInteractions.readAnswer({ ...interaction, steps: [] }).lossless).toBe(true);
  });

  it.each([
    ['a thought', { type: 'thought' }, { type: 'thought_signature', signature: 's' }],
    ['a picture', { type: 'model_output' }, { type: 'image', data: 'AAAA' }],
    ['a source', { type: 'model_output' }, { type: 'text_annotation_delta', annotations: [{}] }],
    ['a search of the vendor', { type: 'google_search_call', id: '1' }, { type: 'google_search_call' }],
    ['an error of a message', { type: 'model_output', error: { code: 3 } }, { type: 'text', text: 'a' }],
    [
      'a call that is signed',
      { type: 'function_call', id: '1', name: 'f', arguments: {}, signature: 's' },
      { type: 'arguments_delta', arguments: '{}' },
    ],
  ])('streamed with %s cannot be given again', (_, step, delta) => {
    const said = [
      { event_type: 'step.start', index: 0, step },
      { event_type: 'step.delta', index: 0, delta },
      { event_type: 'step.stop', index: 0 },
    ];
    const end = { event_type: 'interaction.completed', interaction: { id: 'v1_1', status: 'completed' } };
    expect(readStream(events(...said, end)).answer()).toMatchObject({ lossless: false });
    expect(readStream(events(end)).answer().lossless).toBe(true);
  });
});

describe('an answer given again', () => {
  const kept: CachedAnswer = {
    dialect: 'gemini-interactions',
    answer_id: 'v1_kept',
    model: 'm-1',
    text: 'Hello',
    tool_calls: [],
    finish: 'stop',
    usage: null,
  };
  const replay = (answer: CachedAnswer, body: object) =>
    geminiInteractions.writeReplay({ answer, body, path: PATH, id: 'r1', atMs: 0 });

  it('has the id at which the vendor keeps it, unless the caller has it not kept', () => {
    expect(replay(kept, {})?.body).toContain('"id":"v1_kept"');
    expect(replay(kept, { stream: true })?.body).not.toContain('v1_r1');
    expect(replay(kept, { store: false })?.body).toContain('"id":"v1_r1"');
    expect(replay({ ...kept, answer_id: null }, {})).toBeNull();
    expect(replay({ ...kept, dialect: 'gemini' }, {})).toBeNull();
    expect(replay(kept, { background: true })).toBeNull();
  });
});
