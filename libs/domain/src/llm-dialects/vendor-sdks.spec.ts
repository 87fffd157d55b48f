/** What we write, given to the vendors' own SDKs through a fetch of ours: no network. */
import { readFileSync } from 'node:fs';
import Anthropic from '@anthropic-ai/sdk';
import { ApiError, GoogleGenAI, type Interactions } from '@google/genai';
import OpenAI from 'openai';
import { describe, expect, it } from 'vitest';
import type { DialectName } from '#contracts';
import { DIALECT_BY_NAME, type OwnAnswer } from './index.js';

const TEXT = 'An operator stopped this agent: “Gdańsk” 🚆\n\ndata: do not retry.';
const FORBIDDEN = { status: 403, code: 'agent_killed', message: 'Stopped.' };

/** Streams come in pieces of seven bytes, with a keep-alive comment before them where the dialect has one. */
function respondWith({ contentType, body }: OwnAnswer, status = 200, comment = ''): typeof fetch {
  const isStream = contentType.startsWith('text/event-stream');
  const bytes = Buffer.from(isStream ? comment + body : body);
  return async () => {
    const pieces = new ReadableStream<Uint8Array>({
      start(controller) {
        for (let at = 0; at < bytes.length; at += 7)
          controller.enqueue(new Uint8Array(bytes.subarray(at, at + 7)));
        controller.close();
      },
    });
    return new Response(pieces, { status, headers: { 'content-type': contentType } });
  };
}

function answering(name: DialectName, stream: boolean, query = 'alt=sse'): typeof fetch {
  const dialect = DIALECT_BY_NAME[name];
  const answer = { id: 'a1', model: 'm-1', text: TEXT, stream, atMs: 1_761_000_000_000, query };
  return respondWith(dialect.writeAnswer(answer), 200, dialect.keepAliveComment ?? '');
}

const refusing = (
  name: DialectName,
  error: { status: number; code: string; message: string },
): typeof fetch => respondWith(DIALECT_BY_NAME[name].writeError(error), error.status);

/** A held stream that ends in an error. */
function breaking(name: DialectName): typeof fetch {
  const dialect = DIALECT_BY_NAME[name];
  const body = dialect.writeStreamError({ status: 409, code: 'hold_expired', message: 'Paused.' });
  return respondWith({ contentType: 'text/event-stream', body }, 200, dialect.keepAliveComment ?? '');
}

async function all<T>(stream: AsyncIterable<T>): Promise<T[]> {
  const items: T[] = [];
  for await (const item of stream) items.push(item);
  return items;
}

describe('the openai SDK, Chat Completions', () => {
  const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: 'user', content: 'hi' }];
  const client = (fetch: typeof globalThis.fetch) =>
    new OpenAI({ apiKey: 'k', maxRetries: 0, fetch }).chat.completions;

  it('takes our answer', async () => {
    const answer = await client(answering('openai-chat', false)).create({ model: 'm', messages });
    expect(answer).toMatchObject({ id: 'chatcmpl-a1', model: 'm-1', created: 1_761_000_000 });
    expect(answer.choices[0]).toMatchObject({
      finish_reason: 'stop',
      message: { role: 'assistant', content: TEXT },
    });
  });

  it('takes our stream, as chunks and put together by its helper', async () => {
    const chunks = await all(
      await client(answering('openai-chat', true)).create({ model: 'm', messages, stream: true }),
    );
    expect(chunks.map((chunk) => chunk.choices[0]?.delta.content ?? '').join('')).toBe(TEXT);
    const final = await client(answering('openai-chat', true))
      .stream({ model: 'm', messages })
      .finalChatCompletion();
    expect(final.choices[0]).toMatchObject({
      finish_reason: 'stop',
      message: { role: 'assistant', content: TEXT },
    });
  });

  it('takes our errors, before a stream and inside one', async () => {
    const refused = client(refusing('openai-chat', FORBIDDEN)).create({ model: 'm', messages });
    await expect(refused).rejects.toBeInstanceOf(OpenAI.PermissionDeniedError);
    await expect(refused).rejects.toMatchObject({
      status: 403,
      code: 'agent_killed',
      message: '403 Stopped.',
    });
    const stream = await client(breaking('openai-chat')).create({ model: 'm', messages, stream: true });
    await expect(all(stream)).rejects.toMatchObject({ code: 'hold_expired', message: 'Paused.' });
  });
});

describe('the openai SDK, Responses', () => {
  const client = (fetch: typeof globalThis.fetch) =>
    new OpenAI({ apiKey: 'k', maxRetries: 0, fetch }).responses;

  it('takes our answer', async () => {
    const answer = await client(answering('openai-responses', false)).create({ model: 'm', input: 'hi' });
    expect(answer).toMatchObject({ id: 'resp_a1', status: 'completed', output_text: TEXT, model: 'm-1' });
  });

  it('takes our stream, as numbered events and put together by its helper', async () => {
    const events = await all(
      await client(answering('openai-responses', true)).create({ model: 'm', input: 'hi', stream: true }),
    );
    expect(events.map((event) => event.sequence_number)).toEqual(events.map((_, index) => index));
    expect(events.map((event) => event.type)).toEqual([
      'response.created',
      'response.in_progress',
      'response.output_item.added',
      'response.content_part.added',
      'response.output_text.delta',
      'response.output_text.done',
      'response.content_part.done',
      'response.output_item.done',
      'response.completed',
    ]);
    const final = await client(answering('openai-responses', true))
      .stream({ model: 'm', input: 'hi' })
      .finalResponse();
    expect(final).toMatchObject({ status: 'completed', output_text: TEXT });
  });

  it('takes our errors, before a stream and inside one', async () => {
    const refused = client(refusing('openai-responses', FORBIDDEN)).create({ model: 'm', input: 'hi' });
    await expect(refused).rejects.toMatchObject({ status: 403, code: 'agent_killed' });
    const stream = await client(breaking('openai-responses')).create({
      model: 'm',
      input: 'hi',
      stream: true,
    });
    await expect(all(stream)).rejects.toMatchObject({ code: 'hold_expired', message: 'Paused.' });
    const helped = client(breaking('openai-responses')).stream({ model: 'm', input: 'hi' });
    await expect(helped.finalResponse()).rejects.toMatchObject({ message: 'Paused.' });
  });
});

describe('the Anthropic SDK', () => {
  const request = { model: 'm', max_tokens: 10, messages: [{ role: 'user' as const, content: 'hi' }] };
  const client = (fetch: typeof globalThis.fetch) =>
    new Anthropic({ apiKey: 'k', maxRetries: 0, fetch }).messages;

  it('takes our answer', async () => {
    const answer = await client(answering('anthropic', false)).create(request);
    expect(answer).toMatchObject({
      id: 'msg_a1',
      role: 'assistant',
      stop_reason: 'end_turn',
      content: [{ type: 'text', text: TEXT }],
      usage: { input_tokens: 0, output_tokens: 0 },
    });
  });

  it('takes our stream, as events and put together by its helper', async () => {
    const events = await all(await client(answering('anthropic', true)).create({ ...request, stream: true }));
    expect(events[0]?.type).toBe('message_start');
    expect(events.at(-1)?.type).toBe('message_stop');
    const final = await client(answering('anthropic', true)).stream(request).finalMessage();
    expect(final).toMatchObject({ stop_reason: 'end_turn', content: [{ type: 'text', text: TEXT }] });
  });

  it.each([
    [400, 'invalid_request_error'],
    [401, 'authentication_error'],
    [403, 'permission_error'],
    [404, 'not_found_error'],
    [409, 'conflict_error'],
    [413, 'request_too_large'],
    [422, 'invalid_request_error'],
    [429, 'rate_limit_error'],
    [502, 'api_error'],
    [503, 'overloaded_error'],
    [504, 'timeout_error'],
  ])('takes our error of status %i as its type %s', async (status, type) => {
    const refused = client(refusing('anthropic', { ...FORBIDDEN, status })).create(request);
    await expect(refused).rejects.toMatchObject({
      status,
      error: { type: 'error', error: { type, message: 'Stopped.' } },
    });
  });

  it('takes our error inside a stream', async () => {
    const stream = await client(breaking('anthropic')).create({ ...request, stream: true });
    await expect(all(stream)).rejects.toMatchObject({
      error: { error: { type: 'conflict_error', message: 'Paused.' } },
    });
  });
});

describe('the Google SDK', () => {
  const request = { model: 'm', contents: 'hi' };
  const client = (fetch: typeof globalThis.fetch) =>
    new GoogleGenAI({ apiKey: 'k', httpOptions: { fetch } }).models;

  it('takes our answer', async () => {
    const answer = await client(answering('gemini', false)).generateContent(request);
    expect(answer.text).toBe(TEXT);
    expect(answer).toMatchObject({
      modelVersion: 'm-1',
      responseId: 'a1',
      candidates: [{ finishReason: 'STOP' }],
    });
  });

  it('takes our stream', async () => {
    const chunks = await all(await client(answering('gemini', true)).generateContentStream(request));
    expect(chunks.map((chunk) => chunk.text).join('')).toBe(TEXT);
  });

  it.each([
    [400, 'INVALID_ARGUMENT'],
    [403, 'PERMISSION_DENIED'],
    [409, 'ABORTED'],
    [429, 'RESOURCE_EXHAUSTED'],
    [503, 'UNAVAILABLE'],
  ])('takes our error of status %i as its %s', async (status, name) => {
    const refused = client(refusing('gemini', { ...FORBIDDEN, status })).generateContent(request);
    await expect(refused).rejects.toBeInstanceOf(ApiError);
    await expect(refused).rejects.toMatchObject({ status, message: expect.stringContaining(name) });
  });

  it('takes our error inside a stream', async () => {
    const stream = await client(breaking('gemini')).generateContentStream(request);
    await expect(all(stream)).rejects.toMatchObject({ name: 'ApiError', status: 409 });
  });

  it('streams as a JSON array where no events were asked for', () => {
    const answer = { id: 'a1', model: 'm-1', text: TEXT, stream: true, atMs: 0 };
    for (const query of [undefined, '', '?alt=json']) {
      const { contentType, body } = DIALECT_BY_NAME.gemini.writeAnswer({ ...answer, query });
      expect(contentType).toBe('application/json');
      expect(JSON.parse(body)).toMatchObject([{ candidates: [{ content: { parts: [{ text: TEXT }] } }] }]);
    }
  });
});

describe('the Google SDK, interactions', () => {
  const request = { model: 'm', input: 'hi' };
  const client = (fetch: typeof globalThis.fetch) =>
    new GoogleGenAI({ apiKey: 'k', httpOptions: { fetch } }).interactions;

  it('takes our answer', async () => {
    const answer = await client(answering('gemini-interactions', false)).create(request);
    expect(answer).toMatchObject({ id: 'v1_a1', model: 'm-1', status: 'completed', output_text: TEXT });
  });

  it('takes our stream', async () => {
    const stream = await client(answering('gemini-interactions', true)).create({ ...request, stream: true });
    const events = await all(stream);
    expect(events.map(textOfEvent).join('')).toBe(TEXT);
    expect(events.at(-1)).toMatchObject({
      event_type: 'interaction.completed',
      interaction: { id: 'v1_a1', status: 'completed' },
    });
  });

  it.each([
    [400, 'INVALID_ARGUMENT'],
    [403, 'PERMISSION_DENIED'],
    [404, 'NOT_FOUND'],
  ])('takes our error of status %i as its %s, and asks no second time', async (status, name) => {
    let count = 0;
    const fetch: typeof globalThis.fetch = (...request) => {
      count += 1;
      return refusing('gemini-interactions', { ...FORBIDDEN, status })(...request);
    };
    const refused = client(fetch).create(request);
    const body = expect.stringContaining(`"status":"${name}"`);
    await expect(refused).rejects.toMatchObject({ status, message: `${status} Stopped.`, body });
    expect(count).toBe(1);
  });

  it('takes our error inside a stream as the last of its events', async () => {
    const stream = await client(breaking('gemini-interactions')).create({ ...request, stream: true });
    expect(await all(stream)).toEqual([
      { event_type: 'error', error: { code: 'hold_expired', message: 'Paused.' } },
    ]);
  });
});

const textOfEvent = (event: Interactions.InteractionSSEEvent): string =>
  event.event_type === 'step.delta' && event.delta.type === 'text' ? event.delta.text : '';

describe('a recorded stream is read by us as the vendor’s SDK puts it together', () => {
  function record(name: DialectName, file: string) {
    const body = readFileSync(new URL(`./${name}/fixtures/${file}.chunks.txt`, import.meta.url));
    const reader = DIALECT_BY_NAME[name].streamReader();
    reader.push(body);
    const { text, tool_calls } = reader.answer();
    const fetch = respondWith({ contentType: 'text/event-stream', body: body.toString('utf8') });
    return { text, tool_calls, fetch };
  }

  it('for Chat Completions', async () => {
    const { fetch, text, tool_calls } = record('openai-chat', 'stream-tools');
    const client = new OpenAI({ apiKey: 'k', fetch });
    const { choices } = await client.chat.completions
      .stream({ model: 'm', messages: [] })
      .finalChatCompletion();
    const message = choices[0]?.message;
    expect(message?.content ?? '').toBe(text);
    expect(message?.tool_calls).toMatchObject(
      tool_calls.map((call) => ({ id: call.id, function: { name: call.name, arguments: call.arguments } })),
    );
  });

  it('for Responses', async () => {
    const { fetch, text, tool_calls } = record('openai-responses', 'stream-tools');
    const response = await new OpenAI({ apiKey: 'k', fetch }).responses
      .stream({ model: 'm', input: '' })
      .finalResponse();
    expect(response.output_text).toBe(text);
    expect(response.output.filter((item) => item.type === 'function_call')).toMatchObject(
      tool_calls.map((call) => ({ call_id: call.id, name: call.name, arguments: call.arguments })),
    );
  });

  it('for Messages', async () => {
    const { fetch, text, tool_calls } = record('anthropic', 'stream-tools');
    const client = new Anthropic({ apiKey: 'k', fetch });
    const { content } = await client.messages
      .stream({ model: 'm', max_tokens: 1, messages: [] })
      .finalMessage();
    expect(content.find((block) => block.type === 'text')?.text).toBe(text);
    expect(content.filter((block) => block.type === 'tool_use')).toMatchObject(
      tool_calls.map((call) => ({ id: call.id, name: call.name, input: JSON.parse(call.arguments) })),
    );
  });

  it('for streamGenerateContent', async () => {
    const { fetch, text, tool_calls } = record('gemini', 'stream-tools');
    const client = new GoogleGenAI({ apiKey: 'k', httpOptions: { fetch } });
    const chunks = await all(await client.models.generateContentStream({ model: 'm', contents: '' }));
    const parts = chunks.flatMap((chunk) => chunk.candidates?.[0]?.content?.parts ?? []);
    expect(parts.map((part) => (part.thought ? '' : (part.text ?? ''))).join('')).toBe(text);
    expect(chunks.flatMap((chunk) => chunk.functionCalls ?? [])).toMatchObject(
      tool_calls.map((call) => ({ name: call.name, args: JSON.parse(call.arguments) })),
    );
  });

  it('for interactions', async () => {
    const { fetch, text, tool_calls } = record('gemini-interactions', 'stream-tools');
    const client = new GoogleGenAI({ apiKey: 'k', httpOptions: { fetch } });
    const events = await all(await client.interactions.create({ model: 'm', input: '', stream: true }));
    expect(events.map(textOfEvent).join('')).toBe(text);
    const calls = events.flatMap((event) =>
      event.event_type === 'step.start' && event.step.type === 'function_call' ? [event.step] : [],
    );
    expect(calls).toMatchObject(tool_calls.map(({ id, name }) => ({ id, name })));
  });
});
