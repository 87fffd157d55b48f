import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { openaiChat } from './openai-chat.js';

const bytes = (name: string) => readFileSync(new URL(`./fixtures/${name}`, import.meta.url));
const json = (name: string) => JSON.parse(bytes(name).toString('utf8'));
const PATH = '/chat/completions';
const read = (messages: unknown, more: object = {}) => openaiChat.readRequest({ messages, ...more }, PATH);

function readStream(chunks: string | Uint8Array) {
  const reader = openaiChat.streamReader();
  reader.push(typeof chunks === 'string' ? Buffer.from(chunks) : chunks);
  return reader;
}

/** As OpenAI's kind writes it. */
const TOLD = { prompt_tokens: 1_000, completion_tokens: 500, total_tokens: 1_500 };
const TRAINS = { id: 'call_a1', name: 'find_trains', arguments: '{"to":"Gdańsk"}' };
const WEATHER = { id: 'call_a2', name: 'weather', arguments: '{"city":"Gdańsk"}' };
const USAGE = {
  input_tokens: 120,
  cached_input_tokens: 64,
  cache_write_tokens: 0,
  output_tokens: 45,
  reasoning_tokens: 20,
};

describe('Chat Completions requests', () => {
  it('brings tool results, matched with the calls they answer, and not the tools declared or the old user text', () => {
    expect(openaiChat.readRequest(json('request-tools.json'), PATH)).toEqual({
      model: 'gpt-4o-mini',
      stream: true,
      system_text: 'You book trains.',
      first_user_text: 'Two seats to Gdańsk, please.',
      end_user: null,
      newest: {
        user_text: '',
        tool_results: [
          { call: WEATHER, text: 'rain\n12 degrees', failed: false },
          { call: TRAINS, text: 'IC 5302 at 09:14', failed: false },
          { call: null, text: 'late', failed: false },
        ],
        attachment_digests: [],
      },
      output_tokens_max: 800,
      choice_count: 1,
      message_count: 6,
      answers_in_tool: false,
    });
  });

  it('reads the user text after the last answer from strings and from parts, attachments by digest', () => {
    const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } };
    const { newest, first_user_text, system_text } = read([
      { role: 'system', content: 'one' },
      { role: 'developer', content: [{ type: 'text', text: 'two' }] },
      { role: 'user', content: 'old' },
      { role: 'assistant', content: 'answer' },
      { role: 'developer', content: 'three, on the way' },
      { role: 'user', content: 'new' },
      { role: 'user', content: [{ type: 'text', text: 'a' }, image, { type: 'text', text: 'b' }, image] },
    ]);
    expect(newest.user_text).toBe('new\na\nb');
    expect(newest.attachment_digests).toHaveLength(2);
    expect(newest.attachment_digests[0]).toMatch(/^[0-9a-f]{32}$/);
    expect(newest.attachment_digests[0]).toBe(newest.attachment_digests[1]);
    expect(first_user_text).toBe('old');
    expect(system_text).toBe('one\ntwo');
  });

  it('takes the nearest call where a vendor begins its ids anew, and matches the older functions by name', () => {
    const call = (name: string) => ({
      role: 'assistant',
      tool_calls: [{ id: 'call_0', type: 'function', function: { name, arguments: '{}' } }],
    });
    const repeated = read([
      call('far'),
      { role: 'tool', tool_call_id: 'call_0' },
      call('near'),
      { role: 'tool', tool_call_id: 'call_0', content: 'x' },
    ]);
    expect(repeated.newest.tool_results.map((result) => result.call?.name)).toEqual(['near']);
    const legacy = read([
      { role: 'assistant', content: null, function_call: { name: 'f', arguments: '{"a":1}' } },
      { role: 'function', name: 'f', content: 'done' },
    ]);
    expect(legacy.newest.tool_results).toEqual([
      { call: { id: null, name: 'f', arguments: '{"a":1}' }, text: 'done', failed: false },
    ]);
  });

  it('looks through a prefill at the end, but takes a long assistant text for the model’s own', () => {
    const user = { role: 'user', content: 'as JSON, please' };
    expect(read([user, { role: 'assistant', content: '{' }]).newest.user_text).toBe('as JSON, please');
    expect(read([user, { role: 'assistant', content: 'x'.repeat(300) }]).newest.user_text).toBe('');
  });

  it('counts the bound on output over all choices asked for', () => {
    expect(read([], { max_tokens: 100, n: 3 }).output_tokens_max).toBe(300);
    expect(read([], { max_tokens: -1 }).output_tokens_max).toBeNull();
    expect(read([]).output_tokens_max).toBeNull();
    expect(read([], { n: 3 })).toMatchObject({ output_tokens_max: null, choice_count: 3 });
    expect(read([], { max_tokens: 100, n: 2, best_of: 5 })).toMatchObject({
      output_tokens_max: 500,
      choice_count: 5,
    });
    expect(read([], { max_completion_tokens: 1, max_tokens: 100 }).output_tokens_max).toBe(100);
    for (const n of [0, '3', null]) expect(read([], { n }).choice_count).toBe(1);
  });

  it('adds an injected text to the system prompt: Qwen and MiniMax refuse a request with a second one', () => {
    const user = { role: 'user', content: 'hi' };
    const told = (first: object) =>
      openaiChat.injectSystem({ messages: [first, user] }, 'Stop.') as { messages: unknown[] };
    for (const role of ['system', 'developer']) {
      expect(told({ role, content: 'Be terse.', name: 'a' }).messages).toEqual([
        { role, content: 'Be terse.\n\nStop.', name: 'a' },
        user,
      ]);
      const parts = [{ type: 'text', text: 'Be terse.' }];
      expect(told({ role, content: parts }).messages).toEqual([
        { role, content: [...parts, { type: 'text', text: 'Stop.' }] },
        user,
      ]);
      for (const content of ['', null]) {
        expect(told({ role, content }).messages).toEqual([{ role, content: 'Stop.' }, user]);
      }
    }
    const odd = { role: 'system', content: { text: 'Be terse.' } };
    expect(told(odd).messages).toEqual([{ role: 'system', content: 'Stop.' }, odd, user]);
    const late = { role: 'system', content: 'It is late.' };
    expect(openaiChat.injectSystem({ messages: [user, late] }, 'Stop.')).toEqual({
      messages: [{ role: 'system', content: 'Stop.' }, user, late],
    });
  });

  it('puts it first where there is none, and leaves the request it is given, and odd ones, as they are', () => {
    const request = Object.freeze({ model: 'm', messages: Object.freeze([{ role: 'user', content: 'hi' }]) });
    expect(openaiChat.injectSystem(request, 'Stop.')).toEqual({
      model: 'm',
      messages: [
        { role: 'system', content: 'Stop.' },
        { role: 'user', content: 'hi' },
      ],
    });
    for (const odd of [null, 'text', [], { messages: 'none' }, {}]) {
      expect(openaiChat.injectSystem(odd, 'Stop.')).toBe(odd);
    }
  });
});

describe('Chat Completions answers', () => {
  it('reads the first choice', () => {
    expect(openaiChat.readAnswer(json('answer-tools.json'))).toEqual({
      model: 'gpt-4o-mini-2024-07-18',
      text: "I'll look.",
      tool_calls: [TRAINS],
      finish: 'tool_calls',
      usage: USAGE,
      failed: false,
      answer_id: 'chatcmpl-Bx1',
      // It has a second choice.
      lossless: false,
      chars_beside: 'another choice'.length,
    });
  });

  it.each([
    ['stop', 'stop'],
    ['length', 'length'],
    ['tool_calls', 'tool_calls'],
    ['function_call', 'tool_calls'],
    ['content_filter', 'filtered'],
    ['recitation', 'other'],
    [null, null],
  ])('reads the finish reason %s as %s', (finish_reason, finish) => {
    expect(openaiChat.readAnswer({ choices: [{ finish_reason }] }).finish).toBe(finish);
  });

  it('reads refusals as text and errors as failures', () => {
    const refused = { choices: [{ message: { content: null, refusal: 'No.' }, finish_reason: 'stop' }] };
    expect(openaiChat.readAnswer(refused)).toMatchObject({ text: 'No.', finish: 'stop', usage: null });
    expect(openaiChat.readAnswer({ error: { message: 'bad' } })).toMatchObject({
      failed: true,
      finish: null,
    });
  });

  it('counts what was cached where DeepSeek tells it, too', () => {
    const usage = { prompt_tokens: 10, completion_tokens: 5, prompt_cache_hit_tokens: 7 };
    expect(openaiChat.readAnswer({ choices: [], usage }).usage).toMatchObject({ cached_input_tokens: 7 });
  });

  it('counts reasoning that a compatible vendor has in the total only', () => {
    const usage = {
      prompt_tokens: 10,
      completion_tokens: 5,
      total_tokens: 35,
      completion_tokens_details: { reasoning_tokens: 20 },
    };
    expect(openaiChat.readAnswer({ choices: [], usage }).usage).toMatchObject({
      output_tokens: 25,
      reasoning_tokens: 20,
    });
  });
});

describe('Chat Completions streams', () => {
  it.each([
    ['Groq', [{ index: 0, delta: {}, finish_reason: 'stop' }], { x_groq: { id: 'req_1', usage: TOLD } }],
    ['Moonshot', [{ index: 0, delta: {}, finish_reason: 'stop', usage: TOLD }], {}],
    ['OpenAI, when it is asked for', [], { usage: TOLD }],
  ])('says what it took where %s tells it', (_, choices, more) => {
    const events = [
      { choices: [{ index: 0, delta: { content: 'Hi' } }], usage: null },
      { choices, ...more },
    ];
    const stream = events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('');
    expect(readStream(stream).answer().usage).toMatchObject({ input_tokens: 1_000, output_tokens: 500 });
  });

  it('gathers text, and usage from the last chunk', () => {
    const reader = readStream(bytes('stream-text.chunks.txt'));
    expect(reader.isComplete).toBe(true);
    expect(reader.isTruncated).toBe(false);
    expect(reader.answer()).toEqual({
      model: 'gpt-4o-mini-2024-07-18',
      text: 'The train to Gdańsk 🚆 leaves at 09:14.',
      tool_calls: [],
      finish: 'stop',
      usage: USAGE,
      failed: false,
      answer_id: 'chatcmpl-Bx2',
      lossless: true,
    });
  });

  it('reads what is refused and what is spoken as text, and the older call as one', () => {
    const answerTo = (...deltas: object[]) =>
      readStream(
        deltas.map((delta) => `data: ${JSON.stringify({ choices: [{ index: 0, delta }] })}\n\n`).join(''),
      ).answer();
    expect(answerTo({ refusal: 'No' }, { refusal: '.' }).text).toBe('No.');
    expect(answerTo({ audio: { transcript: 'Good ' } }, { audio: { transcript: 'day' } }).text).toBe(
      'Good day',
    );
    const { name, arguments: json } = TRAINS;
    const { tool_calls } = answerTo(
      { function_call: { name, arguments: '' } },
      { function_call: { arguments: json } },
    );
    expect(tool_calls).toEqual([{ id: null, name, arguments: json }]);
  });

  it('joins the fragments of tool calls, and a name that comes with each of them is one name', () => {
    const { tool_calls, finish } = readStream(bytes('stream-tools.chunks.txt')).answer();
    expect(tool_calls).toEqual([TRAINS, WEATHER]);
    expect(finish).toBe('tool_calls');
  });

  it('ends as failed on an error in the middle, and keeps what came before', () => {
    const reader = readStream(bytes('stream-error.chunks.txt'));
    expect(reader.answer()).toMatchObject({ text: 'The tr', failed: true, finish: null });
    expect(reader.isComplete).toBe(false);
  });

  it('ignores what is not JSON, other choices, what follows the end, and half an event', () => {
    const chunk = (content: string, index = 0) =>
      `data: ${JSON.stringify({ choices: [{ index, delta: { content } }] })}\n\n`;
    const noise = `data: {"choices":\n\ndata: 7\n\ndata: null\n\n: ping\n\nid: 4\n\n`;
    const stream = chunk('a') + noise + chunk('other', 1) + chunk('b');
    expect(readStream(stream + chunk('c').slice(0, -1)).answer().text).toBe('ab');
    expect(readStream(`${stream}data: [DONE]\n\n${chunk('c')}`).answer().text).toBe('ab');
  });

  it('counts what is written beside the first choice: the others, their calls, and reasoning that is shown', () => {
    const chunk = (index: number, delta: object) =>
      `data: ${JSON.stringify({ choices: [{ index, delta }] })}\n\n`;
    const call = (body: object) => ({ tool_calls: [{ index: 0, function: body }] });
    const stream = [
      chunk(0, { reasoning_content: 'Hm, ' }),
      chunk(0, { reasoning: 'well.', reasoning_details: [{ text: 'well.' }] }),
      chunk(0, { content: 'first' }),
      chunk(1, { content: 'second' }),
      chunk(2, { reasoning_content: 'so' }),
      chunk(2, { refusal: 'No.' }),
      chunk(3, call({ name: 'look', arguments: '' })),
      chunk(3, call({ arguments: '{"a":1}' })),
      chunk(4, { function_call: { name: 'f', arguments: '{}' } }),
      chunk(5, { audio: { transcript: 'Hi' } }),
    ];
    const answer = readStream(stream.join('')).answer();
    expect(answer).toMatchObject({ text: 'first', tool_calls: [], lossless: false });
    expect(answer.chars_beside).toBe('Hm, well.secondsoNo.look{"a":1}f{}Hi'.length);
  });

  it('tells calls under one index apart, or under none, by their ids and names', () => {
    const chunk = (index: number | undefined, id: string, name: string | undefined, args: string) =>
      `data: ${JSON.stringify({
        choices: [{ index: 0, delta: { tool_calls: [{ index, id, function: { name, arguments: args } }] } }],
      })}\n\n`;
    const calls = (...chunks: string[]) => readStream(chunks.join('')).answer().tool_calls;
    for (const index of [0, undefined]) {
      expect(
        calls(
          chunk(index, 'a', 'look', '{"at":1}'),
          chunk(index, 'b', 'look', '{"at":'),
          chunk(index, '', '', '2}'),
          chunk(index, 'c', 'go', '{}'),
        ),
      ).toEqual([
        { id: 'a', name: 'look', arguments: '{"at":1}' },
        { id: 'b', name: 'look', arguments: '{"at":2}' },
        { id: 'c', name: 'go', arguments: '{}' },
      ]);
      // Some make up an id for each fragment.
      expect(calls(chunk(index, 'a', 'look', '{"at"'), chunk(index, 'b', undefined, ':1}'))).toEqual([
        { id: 'a', name: 'look', arguments: '{"at":1}' },
      ]);
    }
  });

  it('takes [DONE] for the end without the blank line after it', () => {
    const isComplete = (stream: string) => {
      const reader = readStream(stream);
      reader.end();
      return reader.isComplete;
    };
    for (const end of ['data: [DONE]', 'data:[DONE]\n', 'data: [DONE]\r\n'])
      expect(isComplete(end)).toBe(true);
    for (const other of ['data: [DON', 'data: x\ndata: [DONE]', 'data: {}\n\n'])
      expect(isComplete(other)).toBe(false);
  });
});
