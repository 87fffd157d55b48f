import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { openaiResponses } from './openai-responses.js';

const bytes = (name: string) => readFileSync(new URL(`./fixtures/${name}`, import.meta.url));
const json = (name: string) => JSON.parse(bytes(name).toString('utf8'));
const PATH = '/responses';
const read = (body: unknown) => openaiResponses.readRequest(body, PATH);

function readStream(chunks: string | Uint8Array) {
  const reader = openaiResponses.streamReader();
  reader.push(typeof chunks === 'string' ? Buffer.from(chunks) : chunks);
  return reader;
}

const TRAINS = { id: 'call_b1', name: 'find_trains', arguments: '{"to":"Gdańsk"}' };
const ANSWER = {
  model: 'gpt-5-mini-2025-08-07',
  text: "I'll look for trains to Gdańsk.",
  tool_calls: [TRAINS],
  chars_beside: 'thinking of trains'.length,
  finish: 'tool_calls',
  usage: {
    input_tokens: 90,
    cached_input_tokens: 64,
    cache_write_tokens: 0,
    output_tokens: 70,
    reasoning_tokens: 32,
  },
  failed: false,
  answer_id: 'resp_2',
  // Reasoning is left out of it.
  lossless: false,
};

describe('Responses requests', () => {
  it('brings what comes after the last item of the model, results with their calls', () => {
    expect(read(json('request-tools.json'))).toEqual({
      model: 'gpt-5-mini',
      stream: false,
      system_text: 'You book trains.\nPrefer direct ones.',
      first_user_text: 'Two seats to Gdańsk.',
      end_user: null,
      continues: null,
      is_kept: true,
      conversation: null,
      newest: {
        user_text: 'Hurry.',
        tool_results: [
          { call: TRAINS, text: 'IC 5302 at 09:14', failed: false },
          { call: { id: 'call_b2', name: 'run_sql', arguments: 'select 1' }, text: '1 row', failed: false },
        ],
        attachment_digests: [],
      },
      output_tokens_max: 500,
      message_count: 8,
      answers_in_tool: false,
    });
  });

  it('leaves the call unknown where the vendor keeps the conversation', () => {
    expect(read(json('request-continued.json')).newest.tool_results).toEqual([
      { call: null, text: 'IC 5302 at 09:14', failed: false },
    ]);
  });

  it('names what it goes on from, whichever way the vendor lets it', () => {
    expect(read({ previous_response_id: 'resp_1', input: 'Go on.' })).toMatchObject({
      continues: 'resp_1',
      conversation: null,
    });
    for (const conversation of ['conv_1', { id: 'conv_1' }])
      expect(read({ conversation, input: 'Go on.' })).toMatchObject({ conversation: 'conv_1' });
    expect(read({ previous_response_id: 7, conversation: {}, input: [] })).toMatchObject({
      continues: null,
      conversation: null,
    });
  });

  it('takes a string for one user message', () => {
    expect(read({ model: 'm', input: 'Hello.', stream: true })).toMatchObject({
      stream: true,
      first_user_text: 'Hello.',
      end_user: null,
      newest: { user_text: 'Hello.', tool_results: [], attachment_digests: [] },
      message_count: 1,
    });
  });

  it('reads the calls and results of tools that clients run without a function', () => {
    const { newest } = read({
      input: [
        { type: 'computer_call', id: 'cu_1', call_id: 'call_c', action: { type: 'screenshot' } },
        { type: 'apply_patch_call', call_id: 'call_p', operation: { type: 'delete_file', path: 'a' } },
        {
          type: 'computer_call_output',
          call_id: 'call_c',
          output: { type: 'computer_screenshot', image_url: 'data:,x' },
        },
        { type: 'apply_patch_call_output', call_id: 'call_p', status: 'failed', output: 'no such file' },
      ],
    });
    const digest = newest.attachment_digests[0];
    expect(digest).toMatch(/^[0-9a-f]{32}$/);
    expect(newest.tool_results).toEqual([
      {
        call: { id: 'call_c', name: 'computer', arguments: '{"type":"screenshot"}' },
        text: `{"attachment":"${digest}"}`,
        failed: false,
      },
      {
        call: { id: 'call_p', name: 'apply_patch', arguments: '{"type":"delete_file","path":"a"}' },
        text: 'no such file',
        failed: true,
      },
    ]);
  });

  it.each(['additional_tools', 'compaction_trigger', 'configuration_update'])(
    'takes an item of the client that is no message for none of the model: %s',
    (type) => {
      const { newest } = read({
        input: [
          { type: 'function_call', call_id: 'call_a', name: 'find', arguments: '{}' },
          { type: 'function_call_output', call_id: 'call_a', output: 'none' },
          { role: 'user', content: 'Look again.' },
          { type, reasoning: { effort: 'high' } },
        ],
      });
      expect(newest).toMatchObject({ user_text: 'Look again.', tool_results: [{ text: 'none' }] });
      expect(newest.continued).toBeUndefined();
    },
  );

  it('reads a search for tools that the client ran, and what it found', () => {
    const find = {
      type: 'tool_search_call',
      call_id: 'call_t',
      execution: 'client',
      arguments: { goal: 'mail' },
    };
    const found = {
      type: 'tool_search_output',
      call_id: 'call_t',
      execution: 'client',
      tools: [{ name: 'send' }],
    };
    const call = { id: 'call_t', name: 'tool_search', arguments: '{"goal":"mail"}' };
    expect(read({ input: [find, found] }).newest.tool_results).toEqual([
      { call, text: '{"name":"send"}', failed: false },
    ]);
    expect(openaiResponses.readAnswer({ status: 'completed', output: [find] })).toMatchObject({
      tool_calls: [call],
      finish: 'tool_calls',
    });
  });

  it.each([
    { type: 'tool_search_call', call_id: null, execution: 'server', arguments: { goal: 'mail' } },
    { type: 'tool_search_call', id: 'ts_1', arguments: { goal: 'mail' } },
    {
      type: 'shell_call',
      call_id: 'call_s',
      action: { commands: ['ls'] },
      environment: { type: 'container_reference', container_id: 'cntr_1' },
    },
  ])('takes what ran at the vendor for no call: %j', (item) => {
    expect(openaiResponses.readAnswer({ status: 'completed', output: [item] })).toMatchObject({
      tool_calls: [],
      finish: 'stop',
    });
  });

  it('injects at the end of the instructions, or as the instructions', () => {
    expect(openaiResponses.injectSystem({ input: 'x' }, 'Stop.')).toEqual({
      input: 'x',
      instructions: 'Stop.',
    });
    expect(openaiResponses.injectSystem(Object.freeze({ instructions: 'Be kind.' }), 'Stop.')).toEqual({
      instructions: 'Be kind.\n\nStop.',
    });
    for (const odd of [null, [], { instructions: 7 }])
      expect(openaiResponses.injectSystem(odd, 'x')).toBe(odd);
  });

  it('injects behind the input where xAI goes on from an earlier response: it refuses instructions there', () => {
    const told = { role: 'system', content: 'Stop.' };
    const asked = { role: 'user', content: 'hi' };
    for (const model of ['grok-4.7', 'xai/grok-4.7', 'x-ai/Grok-5']) {
      const continued = { model, previous_response_id: 'resp_1' };
      expect(openaiResponses.injectSystem({ ...continued, input: 'hi' }, 'Stop.')).toEqual({
        ...continued,
        input: [asked, told],
      });
      expect(openaiResponses.injectSystem({ ...continued, input: [asked] }, 'Stop.')).toEqual({
        ...continued,
        input: [asked, told],
      });
      const odd = { ...continued, input: 7 };
      expect(openaiResponses.injectSystem(odd, 'Stop.')).toBe(odd);
      const begun = { model, previous_response_id: null, input: 'hi' };
      expect(openaiResponses.injectSystem(begun, 'Stop.')).toEqual({ ...begun, instructions: 'Stop.' });
    }
    const other = { model: 'gpt-6-sol', previous_response_id: 'resp_1', input: 'hi' };
    expect(openaiResponses.injectSystem(other, 'Stop.')).toEqual({ ...other, instructions: 'Stop.' });
  });
});

describe('Responses answers', () => {
  it('reads text and calls, reasoning left out', () => {
    expect(openaiResponses.readAnswer(json('answer-tools.json'))).toEqual(ANSWER);
  });

  it('tells a failed response and a running one from a finished one', () => {
    expect(openaiResponses.readAnswer({ status: 'failed', error: { message: 'x' } })).toMatchObject({
      failed: true,
      finish: 'other',
    });
    expect(openaiResponses.readAnswer({ status: 'in_progress', output: [] })).toMatchObject({
      failed: false,
      finish: null,
    });
    expect(openaiResponses.readAnswer({ status: 'failed' }).failed).toBe(true);
    // What is said of its usage is charged, too.
    expect(openaiResponses.readAnswer({ status: 'cancelled' })).toMatchObject({
      failed: false,
      finish: 'other',
    });
    const filtered = { status: 'incomplete', incomplete_details: { reason: 'content_filter' } };
    expect(openaiResponses.readAnswer(filtered).finish).toBe('filtered');
  });
});

it('counts all that is shown of what was thought, in summaries and in full', () => {
  const thought = (summary: string, content?: string) => ({
    type: 'reasoning',
    summary: [{ type: 'summary_text', text: summary }],
    ...(content && { content: [{ type: 'reasoning_text', text: content }] }),
  });
  const output = [thought('Hm.', 'Let me see.'), thought('Ah.')];
  expect(openaiResponses.readAnswer({ status: 'completed', output }).chars_beside).toBe(3 + 11 + 3);
});

describe('Responses streams', () => {
  it('gathers the same answer from the events', () => {
    const reader = readStream(bytes('stream-tools.chunks.txt'));
    expect(reader.answer()).toEqual(ANSWER);
    expect(reader.isComplete).toBe(true);
  });

  it('has text and calls also where the last event never comes, or comes without output', () => {
    const whole = bytes('stream-tools.chunks.txt').toString('utf8');
    const cut = whole.slice(0, whole.indexOf('event: response.completed'));
    const partial = readStream(cut);
    expect(partial.answer()).toEqual({ ...ANSWER, finish: null, usage: null });
    expect(partial.isComplete).toBe(false);
    const bare = { type: 'response.completed', response: { status: 'completed', output: [] } };
    partial.push(Buffer.from(`data: ${JSON.stringify(bare)}\n\n`));
    expect(partial.answer()).toEqual({ ...ANSWER, usage: null });
  });

  it.each(['response.reasoning_text.delta', 'response.reasoning_summary_text.delta'])(
    'counts what was thought, which costs, of a stream that breaks off in the middle of it: %s',
    (type) => {
      const event = { type, output_index: 0, delta: 'Let me see. '.repeat(1_000) };
      const text = `event: ${type}\ndata: ${JSON.stringify(event)}\n\n`;
      expect(readStream(Buffer.from(text + text)).answer()).toMatchObject({
        text: '',
        chars_beside: 24_000,
        lossless: false,
      });
    },
  );

  it('counts an event that is repeated once', () => {
    const events = bytes('stream-tools.chunks.txt').toString('utf8').split('\n\n').slice(0, -3);
    const repeated = events.flatMap((event) => [event, event]).join('\n\n');
    expect(readStream(`${repeated}\n\n`).answer().text).toBe(ANSWER.text);
  });

  it('reads refusals, and says that a cut answer was cut', () => {
    expect(readStream(bytes('stream-refusal.chunks.txt')).answer()).toMatchObject({
      text: "I can't help.",
      finish: 'length',
    });
  });

  it('ends as failed on response.failed and on an error event, documented or as it is sent', () => {
    const failed = readStream(bytes('stream-failed.chunks.txt'));
    expect(failed.answer()).toMatchObject({ text: "I'll look", failed: true, finish: 'other' });
    expect(failed.isComplete).toBe(true);
    for (const error of ['{"type":"error","code":"x","message":"y"}', '{"error":{"message":"y"}}']) {
      expect(readStream(`data: ${error}\n\n`).answer().failed).toBe(true);
    }
  });
});
