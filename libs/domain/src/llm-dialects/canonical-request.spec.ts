import { describe, expect, it } from 'vitest';
import type { CanonicalRequest, DialectName } from '#contracts';
import { DIALECT_BY_NAME } from './index.js';

const PATHS: Record<DialectName, string> = {
  'openai-chat': '/chat/completions',
  'openai-responses': '/responses',
  anthropic: '/v1/messages',
  gemini: '/v1beta/models/m:generateContent',
  'gemini-interactions': '/v1beta/interactions',
};
const canonical = (name: DialectName, body: unknown, path = PATHS[name], query?: string): CanonicalRequest =>
  DIALECT_BY_NAME[name].canonicalRequest(body, path, query);
/** Without what is no part of a key. */
const form = (...of: Parameters<typeof canonical>) => ({ ...canonical(...of), dialect: undefined });
const user = (content: unknown) => ({ role: 'user', content });
/** Of Gemini: two calls of one function, and their results. */
const calls = (...ids: string[]) => ({
  role: 'model',
  parts: ids.map((id) => ({ functionCall: { id, name: 'f', args: {} } })),
});
const results = (...ids: string[]) => ({
  role: 'user',
  parts: ids.map((id) => ({ function_response: { id, name: 'f', response: { output: 'a' } } })),
});

describe('a request in canonical form', () => {
  it('is the same for a plain chat in Chat Completions, Responses and Messages', () => {
    const chat = form('openai-chat', {
      model: 'm',
      temperature: 0,
      max_completion_tokens: 9,
      top_p: 0.5,
      messages: [user('a'), { role: 'assistant', content: 'b' }, user([{ type: 'text', text: 'c' }])],
    });
    const responses = form('openai-responses', {
      model: 'm',
      temperature: 0,
      max_output_tokens: 9,
      top_p: 0.5,
      store: false,
      input: [
        { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'a' }] },
        {
          type: 'message',
          id: 'msg_1',
          role: 'assistant',
          content: [{ type: 'output_text', text: 'b', annotations: [], logprobs: [] }],
        },
        user('c'),
      ],
    });
    const messages = form('anthropic', {
      model: 'm',
      temperature: 0,
      max_tokens: 9,
      top_p: 0.5,
      messages: [
        user('a'),
        { role: 'assistant', content: [{ type: 'text', text: 'b' }] },
        user([{ type: 'text', text: 'c', cache_control: { type: 'ephemeral' } }]),
      ],
    });
    expect(chat).toEqual({
      dialect: undefined,
      model: 'm',
      system: [],
      messages: [
        { role: 'user', parts: ['a'], extra: null },
        { role: 'assistant', parts: ['b'], extra: null },
        { role: 'user', parts: ['c'], extra: null },
      ],
      temperature: 0,
      tools: null,
      tool_choice: null,
      max_tokens: 9,
      rest: { top_p: 0.5 },
    });
    expect(responses).toEqual(chat);
    expect(messages).toEqual(chat);
  });

  it('has a Responses input of one string as one user message', () => {
    expect(form('openai-responses', { input: 'hi' })).toEqual(
      form('openai-responses', { input: [user('hi')] }),
    );
  });

  it('has the system messages that a conversation begins with as its system prompt, and later ones in place', () => {
    const { system, messages } = canonical('openai-chat', {
      messages: [
        { role: 'system', content: 's' },
        { role: 'developer', content: 'd' },
        user('a'),
        { role: 'system', content: 'x' },
      ],
    });
    expect(system.map(({ role }) => role)).toEqual(['system', 'developer']);
    expect(messages.map(({ role }) => role)).toEqual(['user', 'system']);
  });

  it('keeps instructions, system messages and developer messages of Responses apart', () => {
    const forms = [
      { instructions: 's', input: 'a' },
      { input: [{ role: 'system', content: 's' }, user('a')] },
      { input: [{ role: 'developer', content: 's' }, user('a')] },
    ].map((body) => JSON.stringify(form('openai-responses', body)));
    expect(new Set(forms).size).toBe(3);
  });

  it.each<[DialectName, (content: unknown) => object]>([
    ['openai-chat', (content) => ({ messages: [{ role: 'assistant', content }] })],
    ['openai-responses', (content) => ({ input: [{ role: 'assistant', content }] })],
    ['anthropic', (content) => ({ messages: [{ role: 'assistant', content }] })],
    ['gemini', (parts) => ({ contents: [{ role: 'model', parts }] })],
  ])('tells content of any kind from a list that holds it, in %s', (name, withContent) => {
    const contents = [undefined, null, '', 0, [], {}, [null], [0], [[]], [{}]];
    // The way of a body: JSON has no undefined.
    const forms = contents.map((content) =>
      JSON.stringify(form(name, JSON.parse(JSON.stringify(withContent(content))))),
    );
    expect(new Set(forms).size).toBe(contents.length);
  });

  it('reads Gemini in either spelling, with the model of the path', () => {
    const camel = form('gemini', {
      systemInstruction: { parts: [{ text: 's' }] },
      contents: [{ role: 'user', parts: [{ text: 'a' }] }],
      generationConfig: {
        maxOutputTokens: 5,
        temperature: 0,
        topP: 0.5,
        stopSequences: ['x'],
        responseMimeType: 'text/plain',
      },
      toolConfig: { functionCallingConfig: { mode: 'ANY' } },
    });
    const snake = form('gemini', {
      system_instruction: 's',
      contents: { parts: [{ text: 'a' }] },
      generation_config: {
        max_output_tokens: 5,
        temperature: 0,
        top_p: 0.5,
        stop_sequences: ['x'],
        responseMimeType: 'text/plain',
      },
      tool_config: { functionCallingConfig: { mode: 'ANY' } },
    });
    expect(camel).toMatchObject({
      model: 'm',
      temperature: 0,
      max_tokens: 5,
      system: [{ role: 'system', parts: ['s'] }],
      messages: [{ role: 'user', parts: ['a'] }],
      rest: {
        top_p: 0.5,
        stop: ['x'],
        'gemini.generationConfig': { responseMimeType: 'text/plain' },
        path: '/v1beta',
      },
    });
    expect({ ...snake, rest: null }).toEqual({ ...camel, rest: null });
  });

  it.each<[string, DialectName, object, object]>([
    [
      'text parts side by side and one text',
      'openai-chat',
      { messages: [user('ab')] },
      {
        messages: [
          user([
            { type: 'text', text: 'a' },
            { type: 'text', text: 'b' },
          ]),
        ],
      },
    ],
    [
      'an empty list and no content',
      'openai-chat',
      { messages: [user([])] },
      { messages: [{ role: 'user' }] },
    ],
    [
      'the older bound on tokens and the newer',
      'openai-chat',
      { max_tokens: 5 },
      { max_completion_tokens: 5 },
    ],
    [
      'one bound on tokens and two',
      'openai-chat',
      { max_tokens: 5, max_completion_tokens: 5 },
      { max_completion_tokens: 5 },
    ],
    [
      'a message and its only part',
      'openai-chat',
      { messages: [{ role: '', content: [{ a: 1 }] }] },
      { messages: [{ a: 1 }] },
    ],
    ['a kept response and one that is not', 'openai-responses', { input: 'a' }, { input: 'a', store: false }],
    [
      'a response going on from another',
      'openai-responses',
      { input: 'a' },
      { input: 'a', previous_response_id: 'resp_1' },
    ],
    [
      'a reference to one item and to another',
      'openai-responses',
      { input: [{ type: 'item_reference', id: 'a' }] },
      { input: [{ type: 'item_reference', id: 'b' }] },
    ],
    [
      'reasoning of one answer and of another',
      'openai-responses',
      { input: [{ type: 'reasoning', id: 'a', summary: [] }] },
      { input: [{ type: 'reasoning', id: 'b', summary: [] }] },
    ],
    [
      'cited text and plain text',
      'anthropic',
      { messages: [user([{ type: 'text', text: 'a', citations: [{}] }])] },
      { messages: [user('a')] },
    ],
    [
      'a thought and a text',
      'gemini',
      { contents: [{ parts: [{ text: 'a', thought: true }] }] },
      { contents: [{ parts: [{ text: 'a' }] }] },
    ],
    [
      'two results and the same the other way round',
      'gemini',
      { contents: [calls('x', 'y'), results('x', 'y')] },
      { contents: [calls('x', 'y'), results('y', 'x')] },
    ],
    ['a temperature as text', 'openai-chat', { temperature: '0' }, { temperature: 0 }],
    [
      'two spellings of one field',
      'gemini',
      { generationConfig: { topP: 1, top_p: 2 } },
      { generationConfig: { topP: 1 } },
    ],
    [
      'a member called __proto__',
      'openai-chat',
      JSON.parse('{"messages":[{"role":"user","content":"a","__proto__":1}]}'),
      { messages: [user('a')] },
    ],
    ['a field called __proto__', 'openai-chat', JSON.parse('{"__proto__":1}'), {}],
  ])('keeps apart %s', (_, name, one, two) => {
    expect(JSON.stringify(form(name, one))).not.toBe(JSON.stringify(form(name, two)));
  });

  it.each<[string, DialectName, object, object]>([
    ['one stop and a list of it', 'openai-chat', { stop: 'x' }, { stop: ['x'] }],
    ['null and nothing, for what has a default', 'openai-chat', { temperature: null, tools: null }, {}],
    ['the default of what is kept', 'openai-chat', { store: false }, {}],
    ['the default of what is kept', 'openai-responses', { store: true }, {}],
    [
      'calls of the model under another id of the vendor’s',
      'openai-responses',
      { input: [{ type: 'function_call', id: 'fc_1', call_id: 'c', name: 'f', arguments: '{}' }] },
      { input: [{ type: 'function_call', id: 'fc_2', call_id: 'c', name: 'f', arguments: '{}' }] },
    ],
    [
      'no text beside calls, said and not said',
      'openai-chat',
      { messages: [{ role: 'assistant', content: null, tool_calls: [{ id: 'c' }] }] },
      { messages: [{ role: 'assistant', tool_calls: [{ id: 'c' }] }] },
    ],
    [
      'one conversation whose client made up other ids for its calls',
      'gemini',
      { contents: [calls('x', 'y'), results('y', 'x')] },
      { contents: [calls('2', '1'), results('1', '2')] },
    ],
    [
      'a tool whose call comes as it is made, and whole',
      'anthropic',
      { tools: [{ name: 'f', eager_input_streaming: true }] },
      { tools: [{ name: 'f' }] },
    ],
  ])('does not keep apart %s', (_, name, one, two) => {
    expect(form(name, one)).toEqual(form(name, two));
  });

  it('covers where a request goes, and of the query all but its delivery and its key', () => {
    const chat = (path: string, query?: string) => canonical('openai-chat', {}, path, query).rest;
    expect(chat('/chat/completions')).toEqual({});
    expect(chat('//chat/completions/')).toEqual({});
    expect(chat('/openai/deployments/d1/chat/completions', '?api-version=2')).toEqual({
      path: '/openai/deployments/d1',
      query: [['api-version', '2']],
    });
    const gemini = (path: string, query?: string) => canonical('gemini', {}, path, query);
    expect(gemini('/v1beta/models/m:streamGenerateContent', 'alt=sse&key=secret')).toEqual(
      gemini('/v1beta/models/m:generateContent'),
    );
    expect(gemini('/v1/models/m:generateContent').rest).toEqual({ path: '/v1' });
    expect(gemini('/v1/tunedModels/m:generateContent').rest).toEqual({ path: '/v1/tunedModels/m' });
    expect(gemini('/v1/models/m:generateContent', 'fields=candidates').rest).toMatchObject({
      query: [['fields', 'candidates']],
    });
  });
});
