/** Answers given again, taken by the vendors' own SDKs through a fetch of ours: no network. */
import Anthropic from '@anthropic-ai/sdk';
import { type GenerateContentResponse, GoogleGenAI } from '@google/genai';
import OpenAI from 'openai';
import { describe, expect, it } from 'vitest';
import type { CachedAnswer, DialectName, LlmAnswer, LlmToolCall, Usage } from '#contracts';
import { DIALECT_BY_NAME, type OwnAnswer, type ReplayToWrite } from './index.js';

const USAGE: Usage = {
  input_tokens: 100,
  cached_input_tokens: 20,
  cache_write_tokens: 10,
  output_tokens: 40,
  reasoning_tokens: 8,
};
const CACHED = { ...USAGE, cached_input_tokens: 100, cache_write_tokens: 0 };
const TEXT = `“Gdańsk” 🚆\n\ndata: [DONE]\n${'żółw 👩‍👩‍👧 '.repeat(40)}`;
const CALLS = [
  { id: 'call_1', name: 'find_trains', arguments: '{"to": "Gdańsk 🚆", "seats":[1,2]}' },
  { id: 'call_2', name: 'now', arguments: '{}' },
];
const ANSWERS: Record<string, Pick<CachedAnswer, 'text' | 'tool_calls'>> = {
  'a text': { text: TEXT, tool_calls: [] },
  'tool calls': { text: '', tool_calls: CALLS },
  'text and tool calls': { text: TEXT, tool_calls: CALLS },
  'an empty text': { text: '', tool_calls: [] },
};
const KINDS = Object.keys(ANSWERS);

const cached = (dialect: DialectName, kind: string): CachedAnswer => {
  const { text, tool_calls } = ANSWERS[kind] as (typeof ANSWERS)[string];
  const finish = tool_calls.length > 0 ? 'tool_calls' : 'stop';
  return { dialect, answer_id: 'resp_kept', model: 'm-1', text, tool_calls, finish, usage: USAGE };
};

type Caller = Omit<ReplayToWrite, 'answer' | 'id' | 'atMs'>;
const write = (to: DialectName, answer: CachedAnswer, caller: Caller): OwnAnswer | null =>
  DIALECT_BY_NAME[to].writeReplay({ ...caller, answer, id: 'r1', atMs: 1_761_000_000_000 });

/** What we read of it ourselves, as the filling of another cache would. */
function read(to: DialectName, { contentType, body }: OwnAnswer, stream: boolean): LlmAnswer {
  if (!stream) {
    expect(contentType).toBe('application/json');
    return DIALECT_BY_NAME[to].readAnswer(JSON.parse(body));
  }
  const reader = DIALECT_BY_NAME[to].streamReader();
  const bytes = Buffer.from(body);
  for (let at = 0; at < bytes.length; at += 7) reader.push(bytes.subarray(at, at + 7));
  return reader.answer();
}

/** Streams come in pieces of 23 bytes, as sockets may have it. */
function answering(own: OwnAnswer | null): typeof fetch {
  if (own === null) throw new Error('it cannot be replayed');
  const bytes = Buffer.from(own.body);
  return async () =>
    new Response(
      new ReadableStream<Uint8Array>({
        start(controller) {
          for (let at = 0; at < bytes.length; at += 23)
            controller.enqueue(new Uint8Array(bytes.subarray(at, at + 23)));
          controller.close();
        },
      }),
      { headers: { 'content-type': own.contentType } },
    );
}

async function all<T>(stream: AsyncIterable<T>): Promise<T[]> {
  const items: T[] = [];
  for await (const item of stream) items.push(item);
  return items;
}

const CALLER: Record<DialectName, (stream: boolean) => Caller> = {
  'openai-chat': (stream) => ({
    body: { model: 'm', messages: [], stream, stream_options: { include_usage: true } },
    path: '/chat/completions',
  }),
  'openai-responses': (stream) => ({
    body: { model: 'm', input: '', stream, store: false },
    path: '/responses',
  }),
  anthropic: (stream) => ({ body: { model: 'm', messages: [], stream }, path: '/v1/messages' }),
  gemini: (stream) => ({
    body: { contents: [] },
    path: `/v1beta/models/m:${stream ? 'streamGenerateContent' : 'generateContent'}`,
    query: stream ? 'alt=sse' : '',
  }),
  'gemini-interactions': (stream) => ({
    body: { model: 'm', input: '', stream, store: false },
    path: '/v1beta/interactions',
  }),
};
const NAMES = Object.keys(CALLER) as DialectName[];
/** From each dialect into each. */
const CASES = NAMES.flatMap((from) => NAMES.flatMap((to) => KINDS.map((kind) => [from, to, kind] as const)));

describe('a replay is read without loss, streamed or not', () => {
  it.each(CASES)('from %s to %s, of %s', (from, to, kind) => {
    const answer = cached(from, kind);
    for (const stream of [false, true]) {
      const own = write(to, answer, CALLER[to](stream));
      const again = read(to, own as OwnAnswer, stream);
      expect(again).toMatchObject({
        model: 'm-1',
        text: answer.text,
        finish: answer.finish,
        failed: false,
        lossless: true,
        // Anthropic reports no thinking that it does not show.
        usage: to === 'anthropic' ? { ...CACHED, reasoning_tokens: 0 } : CACHED,
      });
      expect(again.tool_calls.map(({ id, name }) => ({ id, name }))).toEqual(
        answer.tool_calls.map(({ id, name }) => ({ id, name })),
      );
      // Where the vendor has objects, they say the same; where it has text, it is the same text.
      const isText = to.startsWith('openai') || (to === 'anthropic' && stream);
      for (const [index, call] of again.tool_calls.entries()) {
        const original = answer.tool_calls[index]?.arguments ?? '';
        if (isText) expect(call.arguments).toBe(original);
        else expect(JSON.parse(call.arguments)).toEqual(JSON.parse(original));
      }
    }
  });
});

describe('the openai SDK takes a replay, Chat Completions', () => {
  const client = (answer: CachedAnswer, stream: boolean, options?: object) => {
    const body = { model: 'm', messages: [], stream, ...(options ? { stream_options: options } : {}) };
    const fetch = answering(write('openai-chat', answer, { body, path: '/chat/completions' }));
    return new OpenAI({ apiKey: 'k', maxRetries: 0, fetch }).chat.completions;
  };
  const usage = {
    prompt_tokens: 100,
    completion_tokens: 40,
    total_tokens: 140,
    prompt_tokens_details: { cached_tokens: 100 },
    completion_tokens_details: { reasoning_tokens: 8 },
  };

  it.each(KINDS)('of %s', async (kind) => {
    const answer = cached('openai-chat', kind);
    const expected = {
      finish_reason: answer.finish,
      message: { content: kind === 'tool calls' ? null : answer.text },
    };
    const calls = answer.tool_calls.map((call) => ({
      id: call.id,
      type: 'function',
      function: { name: call.name, arguments: call.arguments },
    }));

    const whole = await client(answer, false).create({ model: 'm', messages: [] });
    expect(whole).toMatchObject({ id: 'chatcmpl-r1', model: 'm-1', choices: [expected], usage });
    expect(whole.choices[0]?.message.tool_calls ?? []).toEqual(calls);

    const chunks = await all(await client(answer, true).create({ model: 'm', messages: [], stream: true }));
    expect(chunks.map((chunk) => chunk.choices[0]?.delta.content ?? '').join('')).toBe(answer.text);
    expect(chunks.every((chunk) => chunk.choices.length === 1 && chunk.usage === undefined)).toBe(true);

    const runner = client(answer, true, { include_usage: true }).stream({ model: 'm', messages: [] });
    const final = await runner.finalChatCompletion();
    expect(final).toMatchObject({ choices: [{ finish_reason: answer.finish }], usage });
    expect(final.choices[0]?.message.content ?? '').toBe(answer.text);
    expect(final.choices[0]?.message.tool_calls ?? []).toMatchObject(calls);
  });

  it.each([true, false])(
    'ending a call that was forced with `stop`, as the vendor did (streamed: %s)',
    (stream) => {
      const forced = { ...cached('openai-chat', 'tool calls'), finish: 'stop' as const };
      const own = write('openai-chat', forced, CALLER['openai-chat'](stream));
      expect(own?.body).toContain('"finish_reason":"stop"');
      expect(own?.body).not.toContain('"finish_reason":"tool_calls"');
      expect(read('openai-chat', own as OwnAnswer, stream)).toMatchObject({ finish: 'stop', lossless: true });
    },
  );

  it('under the id at which the vendor keeps it, where the caller has it kept', () => {
    const replay = (answer: CachedAnswer, more: object) =>
      write('openai-chat', answer, {
        body: { messages: [], store: true, ...more },
        path: '/chat/completions',
      });
    const own = { ...cached('openai-chat', 'a text'), answer_id: 'chatcmpl-kept' };
    expect(replay(own, {})?.body).toContain('"id":"chatcmpl-kept"');
    expect(replay(own, { stream: true })?.body).not.toContain('chatcmpl-r1');
    expect(replay(own, { store: false })?.body).toContain('"id":"chatcmpl-r1"');
    expect(replay({ ...own, answer_id: null }, {})).toBeNull();
    expect(replay(cached('anthropic', 'a text'), {})).toBeNull();
  });

  it('with usage in a chunk of its own only where it was asked for', async () => {
    const streamed = client(cached('openai-chat', 'a text'), true, { include_usage: true });
    const chunks = await all(await streamed.create({ model: 'm', messages: [], stream: true }));
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage });
    expect(chunks.slice(0, -1).every((chunk) => chunk.usage === null)).toBe(true);
  });
});

describe('the openai SDK takes a replay, Responses', () => {
  const client = (answer: CachedAnswer, body: object) => {
    const fetch = answering(write('openai-responses', answer, { body, path: '/responses' }));
    return new OpenAI({ apiKey: 'k', maxRetries: 0, fetch }).responses;
  };

  it.each(KINDS)('of %s', async (kind) => {
    const answer = cached('openai-responses', kind);
    const calls = answer.tool_calls.map((call) => ({
      type: 'function_call',
      status: 'completed',
      call_id: call.id,
      name: call.name,
      arguments: call.arguments,
    }));
    const expected = {
      id: 'resp_kept',
      status: 'completed',
      model: 'm-1',
      output_text: answer.text,
      usage: {
        input_tokens: 100,
        input_tokens_details: { cached_tokens: 100 },
        output_tokens: 40,
        output_tokens_details: { reasoning_tokens: 8 },
        total_tokens: 140,
      },
    };
    const whole = await client(answer, { model: 'm', input: 'hi' }).create({ model: 'm', input: 'hi' });
    expect(whole).toMatchObject(expected);
    expect(whole.output.filter((item) => item.type === 'function_call')).toMatchObject(calls);

    const streamed = client(answer, { model: 'm', input: 'hi', stream: true });
    const events = await all(await streamed.create({ model: 'm', input: 'hi', stream: true }));
    expect(events.map((event) => event.sequence_number)).toEqual(events.map((_, index) => index));
    const deltas = events.filter((event) => event.type === 'response.output_text.delta');
    expect(deltas.map((event) => event.delta).join('')).toBe(answer.text);
    const final = await client(answer, { model: 'm', input: 'hi', stream: true })
      .stream({ model: 'm', input: 'hi' })
      .finalResponse();
    expect(final).toMatchObject(expected);
    expect(final.output.filter((item) => item.type === 'function_call')).toMatchObject(calls);
  });

  it('says back what the request asked for', async () => {
    const said = {
      instructions: 'Be brief.',
      temperature: 0,
      metadata: { run: '7' },
      tools: [{ type: 'function' as const, name: 'f', parameters: {}, strict: false }],
      previous_response_id: 'resp_0',
      store: false,
      text: { verbosity: 'low' as const },
      reasoning: { effort: 'low' as const },
    };
    const request = { model: 'm', input: 'hi', ...said };
    const answer = await client(cached('openai-responses', 'a text'), request).create(request);
    expect(answer).toMatchObject({
      ...said,
      model: 'm-1',
      id: 'resp_r1',
      text: { format: { type: 'text' }, verbosity: 'low' },
      reasoning: { effort: 'low', summary: null },
    });
  });

  it('is refused where the vendor would have to know an id that it does not, or to do more than answer', () => {
    const refused = (answer: CachedAnswer, body: object) =>
      write('openai-responses', answer, { body: { input: 'hi', ...body }, path: '/responses' });
    const own = cached('openai-responses', 'a text');
    const foreign = cached('openai-chat', 'a text');
    expect(refused(foreign, {})).toBeNull();
    expect(refused(foreign, { store: true })).toBeNull();
    expect(refused(foreign, { store: null })).toBeNull();
    expect(refused({ ...own, answer_id: null }, {})).toBeNull();
    expect(refused(own, { background: true })).toBeNull();
    expect(refused(own, { conversation: 'conv_1' })).toBeNull();
    expect(refused(own, {})?.body).toContain('"id":"resp_kept"');
    expect(refused(own, { store: false })?.body).toContain('"id":"resp_r1"');
    expect(refused(foreign, { store: false })?.body).toContain('"id":"resp_r1"');
  });
});

describe('the Anthropic SDK takes a replay', () => {
  const request = { model: 'm', max_tokens: 10, messages: [{ role: 'user' as const, content: 'hi' }] };
  const client = (answer: CachedAnswer, stream: boolean) => {
    const fetch = answering(
      write('anthropic', answer, { body: { ...request, stream }, path: '/v1/messages' }),
    );
    return new Anthropic({ apiKey: 'k', maxRetries: 0, fetch }).messages;
  };

  it.each(KINDS)('of %s', async (kind) => {
    const answer = cached('anthropic', kind);
    const expected = {
      id: 'msg_r1',
      model: 'm-1',
      stop_reason: answer.finish === 'stop' ? 'end_turn' : 'tool_use',
      content: [
        ...(answer.text === '' ? [] : [{ type: 'text', text: answer.text }]),
        ...answer.tool_calls.map((call) => ({
          type: 'tool_use',
          id: call.id,
          name: call.name,
          input: JSON.parse(call.arguments),
        })),
      ],
      usage: {
        input_tokens: 0,
        cache_read_input_tokens: 100,
        cache_creation_input_tokens: 0,
        output_tokens: 40,
      },
    };
    expect(await client(answer, false).create(request)).toMatchObject(expected);
    expect(await client(answer, true).stream(request).finalMessage()).toMatchObject(expected);
    const events = await all(await client(answer, true).create({ ...request, stream: true }));
    const open = events.filter((event) => event.type === 'content_block_start').length;
    expect(events.filter((event) => event.type === 'content_block_stop')).toHaveLength(open);
    expect(events.at(-1)?.type).toBe('message_stop');
  });
});

describe('the Google SDK takes a replay', () => {
  const request = { model: 'm', contents: 'hi' };
  const client = (answer: CachedAnswer, method: string, query: string) => {
    const path = `/v1beta/models/m:${method}`;
    const fetch = answering(write('gemini', answer, { body: { contents: [] }, path, query }));
    return new GoogleGenAI({ apiKey: 'k', httpOptions: { fetch } }).models;
  };

  it.each(KINDS)('of %s', async (kind) => {
    const answer = cached('gemini', kind);
    const calls = answer.tool_calls.map((call) => ({
      id: call.id,
      name: call.name,
      args: JSON.parse(call.arguments),
    }));
    const usageMetadata = {
      promptTokenCount: 100,
      cachedContentTokenCount: 100,
      candidatesTokenCount: 32,
      thoughtsTokenCount: 8,
      totalTokenCount: 140,
    };
    const whole = await client(answer, 'generateContent', '').generateContent(request);
    expect(whole).toMatchObject({ modelVersion: 'm-1', responseId: 'r1', usageMetadata });
    expect(whole.candidates).toMatchObject([{ finishReason: 'STOP' }]);
    expect(textOf(whole)).toBe(answer.text);
    expect(whole.functionCalls ?? []).toEqual(calls);

    const streamed = client(answer, 'streamGenerateContent', 'alt=sse');
    const chunks = await all(await streamed.generateContentStream(request));
    expect(chunks.map(textOf).join('')).toBe(answer.text);
    expect(chunks.flatMap((chunk) => chunk.functionCalls ?? [])).toEqual(calls);
    expect(chunks.at(-1)).toMatchObject({ usageMetadata, candidates: [{ finishReason: 'STOP' }] });
    expect(chunks.filter((chunk) => chunk.candidates?.[0]?.finishReason !== undefined)).toHaveLength(1);
  });

  /** As its own `text`, which warns of parts that are calls. */
  const textOf = ({ candidates }: GenerateContentResponse): string =>
    (candidates?.[0]?.content?.parts ?? []).map((part) => part.text ?? '').join('');

  it('as a JSON array where no events were asked for', () => {
    const answer = cached('gemini', 'text and tool calls');
    const path = '/v1beta/models/m:streamGenerateContent';
    const own = write('gemini', answer, { body: {}, path }) as OwnAnswer;
    expect(own.contentType).toBe('application/json');
    expect(JSON.parse(own.body).length).toBeGreaterThan(2);
    expect(read('gemini', own, true)).toMatchObject({ text: TEXT, finish: 'tool_calls', lossless: true });
  });
});

describe('a replay', () => {
  const withCall = (dialect: DialectName, call: Partial<LlmToolCall>) => ({
    ...cached(dialect, 'tool calls'),
    tool_calls: [{ id: 'c1', name: 'f', arguments: '{}', ...call }],
  });

  it.each(['{"a":', '[1]', '"text"', '7', 'null', '{"id":9007199254740993}'])(
    'is refused where arguments are an object and %s is none that could be written the same',
    (json) => {
      const answer = withCall('openai-chat', { arguments: json });
      for (const stream of [false, true]) {
        expect(write('anthropic', answer, CALLER.anthropic(stream))).toBeNull();
        expect(write('gemini', answer, CALLER.gemini(stream))).toBeNull();
        const own = write('openai-chat', answer, CALLER['openai-chat'](stream)) as OwnAnswer;
        expect(read('openai-chat', own, stream).tool_calls[0]?.arguments).toBe(json);
      }
    },
  );

  it('has no arguments as no text where they came from, and elsewhere as an empty object', () => {
    const args = (from: DialectName, to: DialectName) => {
      const own = write(to, withCall(from, { arguments: '' }), CALLER[to](false)) as OwnAnswer;
      return read(to, own, false).tool_calls[0]?.arguments;
    };
    expect(args('openai-chat', 'openai-chat')).toBe('');
    expect(args('gemini', 'openai-chat')).toBe('{}');
    expect(args('openai-chat', 'anthropic')).toBe('{}');
    expect(args('openai-chat', 'gemini')).toBe('{}');
  });

  it('makes an id for a call where the vendor needs one, or one of another kind', () => {
    const id = (to: DialectName, id: string | null, stream: boolean) => {
      const own = write(to, withCall('gemini', { id }), CALLER[to](stream)) as OwnAnswer;
      return read(to, own, stream).tool_calls[0]?.id;
    };
    for (const stream of [false, true]) {
      expect(id('openai-chat', null, stream)).toBe('call_r1_0');
      expect(id('openai-responses', null, stream)).toBe('call_r1_0');
      expect(id('anthropic', null, stream)).toBe('toolu_r1_0');
      expect(id('gemini', null, stream)).toBeNull();
      expect(id('openai-chat', 'functions.f:0', stream)).toBe('functions.f:0');
      expect(id('anthropic', 'functions.f:0', stream)).toBe('toolu_r1_0');
    }
  });

  it.each(NAMES)(
    'in %s has several deltas of a long text, and not one for each word of a very long one',
    (to) => {
      const deltas = (text: string) => {
        const own = write(to, { ...cached(to, 'a text'), text }, CALLER[to](true)) as OwnAnswer;
        expect(read(to, own, true).text).toBe(text);
        return own.body.match(/data: /g)?.length ?? 0;
      };
      expect(deltas('word '.repeat(1_000))).toBeGreaterThan(20);
      expect(deltas('🚆'.repeat(50_000))).toBeLessThan(300);
    },
  );

  it.each(NAMES)('in %s names the model that was asked for where the vendor named none', (to) => {
    const own = write(to, { ...cached(to, 'a text'), model: null }, CALLER[to](false)) as OwnAnswer;
    expect(read(to, own, false)).toMatchObject({ model: 'm' });
  });

  it.each(NAMES)('in %s, of which the vendor told no usage, tells none', (to) => {
    for (const stream of [false, true]) {
      const own = write(to, { ...cached(to, 'a text'), usage: null }, CALLER[to](stream)) as OwnAnswer;
      const { usage } = read(to, own, stream);
      if (to === 'anthropic') expect(usage).toMatchObject({ input_tokens: 0, output_tokens: 0 });
      else expect(usage).toBeNull();
    }
  });
});
