import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { BoundThoughts, ToldWords } from '../dialect.js';
import { DIALECT_LIMITS } from '../dialect-limits.js';
import { anthropic } from './anthropic.js';

const bytes = (name: string) => readFileSync(new URL(`./fixtures/${name}`, import.meta.url));
const json = (name: string) => JSON.parse(bytes(name).toString('utf8'));
const PATH = '/v1/messages';
const read = (messages: unknown) => anthropic.readRequest({ messages }, PATH);

function readStream(chunks: string | Uint8Array) {
  const reader = anthropic.streamReader();
  reader.push(typeof chunks === 'string' ? Buffer.from(chunks) : chunks);
  return reader;
}

const TRAINS = { id: 'toolu_1', name: 'find_trains', arguments: '{"to":"Gdańsk"}' };
const ANSWER = {
  thinking_signature: 'c2ln',
  model: 'claude-sonnet-4-5-20250929',
  text: "I'll look for Gdańsk.",
  tool_calls: [TRAINS, { id: 'toolu_2', name: 'now', arguments: '{}' }],
  chars_beside: 'trains'.length,
  finish: 'tool_calls',
  usage: {
    input_tokens: 1_320,
    cached_input_tokens: 1_000,
    cache_write_tokens: 300,
    output_tokens: 60,
    reasoning_tokens: 15,
  },
  failed: false,
  answer_id: 'msg_01',
  // Thinking is left out of it.
  lossless: false,
};

describe('Messages requests', () => {
  it('reads a user message of nothing but tool results as no user text', () => {
    const request = anthropic.readRequest(json('request-tool-results.json'), PATH);
    const digest = request.newest.attachment_digests[0];
    expect(digest).toMatch(/^[0-9a-f]{32}$/);
    expect(request).toEqual({
      model: 'claude-sonnet-4-5',
      stream: true,
      system_text: 'You book trains.\nTimetable: long.',
      first_user_text: 'Two seats to Gdańsk.',
      end_user: null,
      newest: {
        user_text: '',
        tool_results: [
          { call: TRAINS, text: 'timetable offline', failed: true },
          {
            call: { id: 'toolu_2', name: 'screenshot', arguments: '{}' },
            text: `page 1\n{"attachment":"${digest}"}`,
            failed: false,
          },
        ],
        attachment_digests: [digest],
      },
      output_tokens_max: 1_024,
      message_count: 3,
      answers_in_tool: false,
    });
  });

  it('takes the model from the path where Vertex AI has it', () => {
    const path =
      '/v1/projects/p/locations/global/publishers/anthropic/models/claude-opus-5@default:streamRawPredict';
    const body = { anthropic_version: 'vertex-2023-10-16', stream: true, messages: [] };
    expect(anthropic.readRequest(body, `${path}?alt=sse`)).toMatchObject({
      model: 'claude-opus-5@default',
      stream: true,
    });
    expect(anthropic.readRequest({ ...body, model: 'claude-opus-5' }, PATH).model).toBe('claude-opus-5');
    expect(anthropic.readRequest(body, PATH).model).toBeNull();
    const canonical = (model: string) => anthropic.canonicalRequest(body, path.replace('opus-5', model));
    expect(canonical('opus-5')).not.toEqual(canonical('haiku-5-5'));
  });

  it('goes on from the answer that its thread names, which the vendor keeps', () => {
    const messages = [{ role: 'user', content: 'And now?' }];
    const read = (thread?: object) => anthropic.readRequest({ messages, thread }, '/v1/messages');
    expect(read({ type: 'continue', previous_message_id: 'msg_1' })).toMatchObject({
      continues: 'msg_1',
      is_kept: true,
    });
    expect(read({ type: 'create' })).toMatchObject({ continues: null, is_kept: true });
    expect(read().is_kept).toBeUndefined();
  });

  it('reads text beside tool results, and images and documents by digest', () => {
    const { newest } = read([
      { role: 'user', content: 'old' },
      { role: 'assistant', content: 'answer' },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'nowhere', content: 'x' },
          { type: 'text', text: 'and this' },
          { type: 'image', source: { type: 'url', url: 'https://example.org/a.png' } },
          { type: 'document', source: { type: 'file', file_id: 'file_1' } },
        ],
      },
    ]);
    expect(newest.user_text).toBe('and this');
    expect(newest.tool_results).toEqual([{ call: null, text: 'x', failed: false }]);
    expect(new Set(newest.attachment_digests).size).toBe(2);
  });

  it('looks through a prefill, but not through a turn that the model paused', () => {
    const user = { role: 'user', content: 'as JSON, please' };
    expect(read([user, { role: 'assistant', content: [{ type: 'text', text: '{' }] }]).newest.user_text).toBe(
      'as JSON, please',
    );
    expect(read([user, { role: 'assistant', content: '{' }]).newest.user_text).toBe('as JSON, please');
    const paused = {
      role: 'assistant',
      content: [{ type: 'server_tool_use', id: 's1', name: 'web_search', input: {} }],
    };
    expect(read([user, paused]).newest.user_text).toBe('');
  });

  it('injects at the end of the system text or blocks, cache marks kept', () => {
    const messages: unknown[] = [];
    const cached = [{ type: 'text', text: 'Be kind.', cache_control: { type: 'ephemeral' } }];
    expect(anthropic.injectSystem({ messages, system: cached }, 'Stop.')).toEqual({
      messages,
      system: [...cached, { type: 'text', text: 'Stop.' }],
    });
    expect(anthropic.injectSystem({ messages, system: 'Be kind.' }, 'Stop.')).toEqual({
      messages,
      system: 'Be kind.\n\nStop.',
    });
    expect(anthropic.injectSystem({ messages }, 'Stop.')).toEqual({ messages, system: 'Stop.' });
    for (const odd of [null, { messages: {} }, { messages, system: 7 }])
      expect(anthropic.injectSystem(odd, 'x')).toBe(odd);
  });

  it('injects behind the newest message, results of tools first, once the model has thought of what came before', () => {
    const request = json('request-tool-results.json');
    const before = structuredClone(request);
    const newest = before.messages.at(-1);
    const told = { ...newest, content: [...newest.content, { type: 'text', text: 'Stop.' }] };
    expect(anthropic.injectSystem(request, 'Stop.')).toEqual({
      ...before,
      messages: [...before.messages.slice(0, -1), told],
    });
    expect(request).toEqual(before);
    const thought = { role: 'assistant', content: [{ type: 'redacted_thinking', data: 'c2ln' }] };
    const said = (content: unknown, role = 'user') => ({ messages: [thought, { role, content }] });
    expect(anthropic.injectSystem(said('Go on'), 'Stop.')).toEqual(
      said([
        { type: 'text', text: 'Go on' },
        { type: 'text', text: 'Stop.' },
      ]),
    );
    for (const odd of [said('I will', 'assistant'), said(7), { messages: [thought] }])
      expect(anthropic.injectSystem(odd, 'Stop.')).toBe(odd);
  });
});

describe('words that the model has thought of', () => {
  const bound = anthropic.boundThoughts as BoundThoughts;
  const thought = (signature: string) => ({
    role: 'assistant',
    content: [
      { type: 'thinking', thinking: '', signature },
      { type: 'text', text: 'Yes' },
    ],
  });
  const said = (text: string, ...more: string[]) => ({
    role: 'user',
    content: [text, ...more].map((each) => ({ type: 'text', text: each })),
  });
  const request = {
    system: 'Be kind.',
    messages: [said('a'), thought('s1'), said('b'), thought('s2'), said('c')],
  };
  const under =
    (told: Record<string, ToldWords>) =>
    (signature: string): ToldWords | null =>
      told[signature] ?? null;

  it('stand where they stood, and nowhere else', () => {
    const told = {
      s1: { words: ['One.', 'Two.'], isBehindMessage: false },
      s2: { words: ['Three.'], isBehindMessage: true },
    };
    expect(bound.tellAgain(request, under(told))).toEqual({
      system: 'Be kind.\n\nOne.\n\nTwo.',
      messages: [said('a'), thought('s1'), said('b', 'Three.'), thought('s2'), said('c')],
    });
  });

  it('leave a request as it is that has none of these thoughts, or not what they stood behind', () => {
    expect(bound.tellAgain(request, under({}))).toBe(request);
    const behind = under({ s1: { words: ['One.'], isBehindMessage: true } });
    for (const odd of [null, { messages: 7 }, { messages: [thought('s1')] }])
      expect(bound.tellAgain(odd, behind)).toBe(odd);
  });

  it('go behind a message from the first thoughts on', () => {
    expect(bound.isBehindMessage(request)).toBe(true);
    expect(bound.isBehindMessage({ messages: [said('a')] })).toBe(false);
    expect(bound.isBehindMessage({ messages: [said('a')], thread: { id: 't' } })).toBe(true);
  });
});

describe('Messages answers', () => {
  it('reads text and calls without thinking, and counts what was cached as input', () => {
    expect(anthropic.readAnswer(json('answer-tools.json'))).toEqual(ANSWER);
  });

  it.each([
    ['end_turn', 'stop'],
    ['stop_sequence', 'stop'],
    ['max_tokens', 'length'],
    ['model_context_window_exceeded', 'length'],
    ['refusal', 'filtered'],
    ['pause_turn', 'other'],
    [null, null],
  ])('reads the stop reason %s as %s', (reason, finish) => {
    expect(anthropic.readAnswer({ stop_reason: reason }).finish).toBe(finish);
  });

  it('reads an error as a failure', () => {
    expect(anthropic.readAnswer({ type: 'error', error: { type: 'api_error' } }).failed).toBe(true);
  });
});

describe('Messages streams', () => {
  it('gathers the same answer from the events', () => {
    const reader = readStream(bytes('stream-tools.chunks.txt'));
    expect(reader.answer()).toEqual(ANSWER);
    expect(reader.isComplete).toBe(true);
  });

  it('knows the input tokens of a stream that breaks off', () => {
    const whole = bytes('stream-tools.chunks.txt').toString('utf8');
    const reader = readStream(whole.slice(0, whole.indexOf('event: message_delta')));
    expect(reader.isComplete).toBe(false);
    expect(reader.answer()).toMatchObject({ finish: null, usage: { input_tokens: 1_320, output_tokens: 1 } });
  });

  it('counts what was thought, which costs, of a stream that breaks off in the middle of it', () => {
    const whole = bytes('stream-tools.chunks.txt').toString('utf8');
    const [start = ''] = whole.split('\n\n', 1);
    const event = (data: object) => `data: ${JSON.stringify({ index: 0, ...data })}\n\n`;
    const thought = event({
      type: 'content_block_delta',
      delta: { type: 'thinking_delta', thinking: 'Let me see. '.repeat(1_000) },
    });
    const begun = event({ type: 'content_block_start', content_block: { type: 'thinking', thinking: '' } });
    const reader = readStream(`${start}\n\n${begun}${thought}${thought}`);
    expect(reader.answer()).toMatchObject({ text: '', chars_beside: 24_000, lossless: false });
  });

  it('keeps the input that its beginning told of where its end tells of none', () => {
    const whole = bytes('stream-tools.chunks.txt').toString('utf8');
    const less = whole.replace('"input_tokens":null', '"input_tokens":0,"cache_read_input_tokens":0');
    expect(less).not.toBe(whole);
    expect(readStream(less).answer().usage).toEqual(ANSWER.usage);
  });

  it('tells what is written to the cache for an hour from what is written for five minutes', () => {
    const usage = {
      input_tokens: 10,
      cache_creation_input_tokens: 900,
      cache_creation: { ephemeral_5m_input_tokens: 300, ephemeral_1h_input_tokens: 600 },
      output_tokens: 5,
    };
    const counted = { input_tokens: 910, cache_write_tokens: 900, cache_write_hour_tokens: 600 };
    expect(anthropic.readAnswer({ usage }).usage).toMatchObject(counted);
    const events = [
      { type: 'message_start', message: { content: [], usage } },
      { type: 'message_delta', delta: {}, usage: { output_tokens: 9, cache_creation_input_tokens: 900 } },
    ];
    const stream = events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('');
    expect(readStream(stream).answer().usage).toMatchObject(counted);
    const none = { ...usage, cache_creation: null };
    expect(anthropic.readAnswer({ usage: none }).usage).not.toHaveProperty('cache_write_hour_tokens');
  });

  it('counts what summing up the conversation and asking an advisor took, which the sums leave out', () => {
    const part = (type: string, input_tokens: number, output_tokens: number) => ({
      type,
      input_tokens,
      cache_read_input_tokens: 10,
      cache_creation_input_tokens: 1,
      output_tokens,
    });
    const iterations = [
      { ...part('compaction', 180_000, 3_500), cache_creation: { ephemeral_1h_input_tokens: 1 } },
      part('message', 20_000, 600),
      part('advisor_message', 800, 1_500),
      part('message', 3_000, 400),
    ];
    const usage = { ...part('', 23_000, 1_000), iterations };
    const counted = {
      input_tokens: 203_800 + 3 * 11,
      cached_input_tokens: 30,
      cache_write_tokens: 3,
      cache_write_hour_tokens: 1,
      output_tokens: 6_000,
      reasoning_tokens: 0,
    };
    expect(anthropic.readAnswer({ usage }).usage).toEqual(counted);
    const events = [
      { type: 'message_start', message: { content: [], usage: part('', 23_000, 1) } },
      { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage },
    ];
    const stream = events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('');
    expect(readStream(stream).answer().usage).toEqual(counted);
    expect(anthropic.readAnswer({ usage: { ...usage, iterations: null } }).usage?.output_tokens).toBe(1_000);
  });

  it('is by the model that it last fell back to', () => {
    const hop = (index: number, from: string, to: string) => ({
      type: 'content_block_start',
      index,
      content_block: { type: 'fallback', from: { model: from }, to: { model: to } },
    });
    const events = [
      { type: 'message_start', message: { model: 'claude-haiku-4-5', content: [] } },
      hop(0, 'claude-haiku-4-5', 'claude-sonnet-5'),
      hop(1, 'claude-sonnet-5', 'claude-opus-5'),
      { type: 'content_block_start', index: 2, content_block: { type: 'text', text: 'Hi' } },
    ];
    const stream = events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('');
    expect(readStream(stream).answer()).toMatchObject({
      model: 'claude-opus-5',
      text: 'Hi',
      lossless: false,
    });
  });

  it('ends as failed on an error event', () => {
    const reader = readStream(bytes('stream-error.chunks.txt'));
    expect(reader.answer()).toMatchObject({ text: "I'll look", failed: true, finish: null });
    expect(reader.isComplete).toBe(false);
  });

  it('ignores events it does not know and a message that begins twice', () => {
    const whole = bytes('stream-tools.chunks.txt').toString('utf8');
    const [start = ''] = whole.split('\n\n', 1);
    const noise = `event: novelty\ndata: {"type":"novelty"}\n\ndata: {"type":"content_block_delta"}\n\ndata: {\n\n`;
    expect(readStream(`${start}\n\n${noise}${whole}`).answer()).toEqual(ANSWER);
  });

  it('keeps the signature of the first thoughts, whole or not at all', () => {
    const events = (...all: object[]) => all.map((one) => `data: ${JSON.stringify(one)}\n\n`).join('');
    const begun = (index: number, content_block: object) => ({
      type: 'content_block_start',
      index,
      content_block,
    });
    const signed = (index: number, signature: string) => ({
      type: 'content_block_delta',
      index,
      delta: { type: 'signature_delta', signature },
    });
    const thinking = { type: 'thinking', thinking: '', signature: '' };
    const of = (...all: object[]) => readStream(events(...all)).answer().thinking_signature;
    expect(of(begun(0, thinking), signed(0, 'ab'), signed(0, 'cd'), begun(1, thinking), signed(1, 'x'))).toBe(
      'abcd',
    );
    expect(of(begun(0, { type: 'redacted_thinking', data: 'ef' }))).toBe('ef');
    const long = 'x'.repeat(DIALECT_LIMITS.signatureCharsMax);
    expect(of(begun(0, thinking), signed(0, long))).toBe(long);
    expect(of(begun(0, thinking), signed(0, long), signed(0, 'x'), signed(0, 'y'))).toBeUndefined();
    expect(of(begun(0, { type: 'text', text: '' }))).toBeUndefined();
  });
});
