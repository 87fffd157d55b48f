/** Which answers can be given again from text and tool calls alone, whole and as the stream that says the same. */
import { describe, expect, it } from 'vitest';
import type { DialectName } from '#contracts';
import { DIALECT_BY_NAME } from './index.js';
import { sseEvent } from './sse-event.js';

/** As Azure puts them beside prompts and answers. */
const FILTERS = {
  hate: { filtered: false, severity: 'safe' },
  violence: { filtered: false, severity: 'low' },
  jailbreak: { filtered: false, detected: false },
  protected_material_code: { filtered: false, detected: false },
  custom_blocklists: { filtered: false, details: [{ id: 'names', filtered: false }] },
};

const isLossless = (name: DialectName, body: unknown): boolean =>
  DIALECT_BY_NAME[name].readAnswer(body).lossless;

function isLosslessStream(name: DialectName, stream: string): boolean {
  const reader = DIALECT_BY_NAME[name].streamReader();
  reader.push(Buffer.from(stream));
  return reader.answer().lossless;
}

describe('Chat Completions', () => {
  const call = { id: 'c1', type: 'function', function: { name: 'f', arguments: '{"a":1}' } };
  const answer = (message: object, choice: object = {}, more: object = {}) => ({
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1,
    model: 'm',
    choices: [
      {
        index: 0,
        message: { role: 'assistant', content: 'hi', refusal: null, annotations: [], ...message },
        logprobs: null,
        finish_reason: 'stop',
        ...choice,
      },
    ],
    usage: { prompt_tokens: 1, completion_tokens: 1, completion_tokens_details: { reasoning_tokens: 5 } },
    service_tier: 'default',
    system_fingerprint: 'fp',
    ...more,
  });
  const chunk = (delta: object, choice: object = {}, more: object = {}) =>
    sseEvent(null, {
      id: 'chatcmpl-1',
      object: 'chat.completion.chunk',
      model: 'm',
      choices: [{ index: 0, delta, logprobs: null, finish_reason: null, ...choice }],
      usage: null,
      obfuscation: 'x7',
      ...more,
    });
  const end = chunk({}, { finish_reason: 'stop' }) + sseEvent(null, '[DONE]');
  const fragment = (more: object, index: number | undefined = 0) =>
    chunk({ tool_calls: [{ index, ...more }] });

  it.each([
    ['text', {}],
    ['nothing', { content: null }],
    ['calls', { content: null, tool_calls: [call, { ...call, id: 'c2' }] }],
    ['both', { tool_calls: [call] }],
  ])('are lossless with %s', (_, message) => {
    expect(isLossless('openai-chat', answer(message))).toBe(true);
  });

  it('are lossless, streamed or not, with the results of filters that found nothing', () => {
    const prompt = { prompt_filter_results: [{ prompt_index: 0, content_filter_results: FILTERS }] };
    const results = { content_filter_results: FILTERS };
    expect(isLossless('openai-chat', answer({}, results, prompt))).toBe(true);
    const offsets = { check_offset: 44, start_offset: 44, end_offset: 198 };
    const stream =
      sseEvent(null, { id: '', object: '', model: '', created: 0, choices: [], ...prompt }) +
      chunk({ role: 'assistant', content: '' }, { content_filter_results: {} }) +
      chunk({ content: 'hi' }, results) +
      sseEvent(null, {
        choices: [{ index: 0, finish_reason: null, ...results, content_filter_offsets: offsets }],
      });
    expect(isLosslessStream('openai-chat', stream + end)).toBe(true);
    const found = { content_filter_results: { hate: { filtered: true, severity: 'high' } } };
    expect(isLosslessStream('openai-chat', stream + chunk({}, found) + end)).toBe(false);
  });

  it.each([
    ['a refusal', answer({ content: null, refusal: 'No.' })],
    ['citations', answer({ annotations: [{ type: 'url_citation' }] })],
    ['audio', answer({ audio: { id: 'a', transcript: 'hi' } })],
    ['reasoning', answer({ reasoning_content: 'hm' })],
    ['an unknown member', answer({ images: [{}] })],
    ['the older function call', answer({ function_call: { name: 'f', arguments: '{}' } })],
    ['content in parts', answer({ content: [{ type: 'text', text: 'hi' }] })],
    [
      'a custom tool',
      answer({ tool_calls: [{ id: 'c', type: 'custom', custom: { name: 'f', input: 'x' } }] }),
    ],
    ['a call without a name', answer({ tool_calls: [{ id: 'c', type: 'function', function: {} }] })],
    [
      'arguments that are no text',
      answer({ tool_calls: [{ ...call, function: { name: 'f', arguments: {} } }] }),
    ],
    ['something beside a call', answer({ tool_calls: [{ ...call, extra_content: { signature: 's' } }] })],
    ['logprobs', answer({}, { logprobs: { content: [{ token: 'hi' }] } })],
    [
      'something filtered',
      answer({}, { content_filter_results: { ...FILTERS, violence: { filtered: true, severity: 'high' } } }),
    ],
    [
      'something found in the prompt',
      answer(
        {},
        {},
        {
          prompt_filter_results: [
            { content_filter_results: { jailbreak: { filtered: false, detected: true } } },
          ],
        },
      ),
    ],
    [
      'the source of what it repeats',
      answer({}, { content_filter_results: { protected_material_code: { citation: { license: 'MIT' } } } }),
    ],
    [
      'a filter that failed',
      answer({}, { content_filter_result: { error: { code: 'content_filter_error' } } }),
    ],
    ['filter results in no shape of theirs', answer({}, { content_filter_results: 'none' })],
    ['search results', answer({}, {}, { citations: ['https://example.org'] })],
    ['another choice', answer({}, {}, { choices: [...answer({}).choices, { index: 1, message: {} }] })],
    ['no choice', answer({}, {}, { choices: [] })],
    ['an error', answer({}, {}, { error: { message: 'no' } })],
    ['another role', answer({ role: 'tool' })],
  ])('are not with %s', (_, body) => {
    expect(isLossless('openai-chat', body)).toBe(false);
  });

  it.each([
    ['text', chunk({ role: 'assistant', content: '' }) + chunk({ content: 'hi' }) + end],
    ['nothing', chunk({ role: 'assistant', content: null }) + end],
    [
      'calls in fragments, and a last chunk with usage',
      fragment({ id: 'c1', type: 'function', function: { name: 'f', arguments: '' } }) +
        fragment({ function: { arguments: '{}' } }) +
        fragment({ id: 'c2', type: 'function', function: { name: 'g', arguments: '{}' } }, 1) +
        chunk({}, { finish_reason: 'tool_calls' }) +
        sseEvent(null, { choices: [], usage: { prompt_tokens: 1, completion_tokens: 1 } }) +
        sseEvent(null, '[DONE]'),
    ],
  ])('stream without loss with %s', (_, stream) => {
    expect(isLosslessStream('openai-chat', stream)).toBe(true);
  });

  it.each([
    ['no end', chunk({ content: 'hi' }) + chunk({}, { finish_reason: 'stop' })],
    ['another choice', chunk({ content: 'hi' }) + chunk({ content: 'ho' }, { index: 1 }) + end],
    ['a refusal', chunk({ refusal: 'No.' }) + end],
    ['reasoning', chunk({ reasoning_content: 'hm' }) + end],
    ['logprobs', chunk({ content: 'hi' }, { logprobs: { content: [{}] } }) + end],
    ['what is no JSON', `${chunk({ content: 'hi' })}data: {"cho\n\n${end}`],
    ['an error', chunk({ content: 'hi' }) + sseEvent(null, { error: { message: 'no' } }) + end],
    ['an unknown member', chunk({ content: 'hi' }, {}, { citations: ['x'] }) + end],
    [
      'two calls under one index',
      fragment({ id: 'c1', function: { name: 'f' } }) + fragment({ id: 'c2', function: { name: 'f' } }) + end,
    ],
    [
      'calls without an index',
      chunk({ tool_calls: [{ id: 'c1', function: { name: 'f', arguments: '{}' } }] }) + end,
    ],
    ['a call without a name', fragment({ id: 'c1', function: { arguments: '{}' } }) + end],
  ])('do not with %s', (_, stream) => {
    expect(isLosslessStream('openai-chat', stream)).toBe(false);
  });
});

describe('Responses', () => {
  const text = { type: 'output_text', text: 'hi', annotations: [], logprobs: [] };
  const message = { id: 'msg_1', type: 'message', role: 'assistant', status: 'completed', content: [text] };
  const call = {
    id: 'fc_1',
    type: 'function_call',
    status: 'completed',
    call_id: 'c1',
    name: 'f',
    arguments: '{}',
  };
  const response = (output: unknown, more: object = {}) => ({
    id: 'resp_1',
    object: 'response',
    created_at: 1,
    status: 'completed',
    background: false,
    error: null,
    incomplete_details: null,
    instructions: 'Be brief.',
    model: 'm',
    output,
    tools: [{ type: 'function', name: 'f' }],
    temperature: 0,
    store: true,
    metadata: { run: '1' },
    text: { format: { type: 'text' } },
    usage: { input_tokens: 1, output_tokens: 1 },
    ...more,
  });
  const stream = (body: object, events = '') =>
    sseEvent('response.created', { type: 'response.created', response: { id: 'resp_1' } }) +
    events +
    sseEvent('response.completed', { type: 'response.completed', response: body });

  it.each([
    ['text', [message]],
    ['nothing', []],
    ['calls', [call, { ...call, call_id: 'c2' }]],
    ['both', [message, call]],
  ])('are lossless with %s, streamed or not', (_, output) => {
    expect(isLossless('openai-responses', response(output))).toBe(true);
    expect(isLosslessStream('openai-responses', stream(response(output)))).toBe(true);
  });

  it('are lossless with what the vendor says of itself beside them: how it served them, and what its tools took', () => {
    const told = response([message], {
      access_programs: { cyber: 'standard' },
      image: { context_compression: 'enabled' },
      input_transformations: [],
      tool_usage: {
        image_gen: {
          input_tokens: 0,
          input_tokens_details: { image_tokens: 0, text_tokens: 0 },
          output_tokens: 0,
          total_tokens: 0,
        },
        web_search: { num_requests: 0 },
      },
    });
    expect(isLossless('openai-responses', told)).toBe(true);
    expect(isLosslessStream('openai-responses', stream(told))).toBe(true);
  });

  it('are lossless with the results of filters that found nothing, and not of others', () => {
    const filtered = (blocked: boolean) =>
      response([message], {
        content_filters: [{ source_type: 'prompt', blocked, content_filter_results: FILTERS }],
      });
    expect(isLossless('openai-responses', filtered(false))).toBe(true);
    expect(isLosslessStream('openai-responses', stream(filtered(false)))).toBe(true);
    expect(isLossless('openai-responses', filtered(true))).toBe(false);
  });

  it.each([
    ['reasoning, even empty', response([{ id: 'rs_1', type: 'reasoning', summary: [] }, message])],
    ['a search', response([{ id: 'ws_1', type: 'web_search_call', status: 'completed' }, message])],
    [
      'citations',
      response([{ ...message, content: [{ ...text, annotations: [{ type: 'url_citation' }] }] }]),
    ],
    ['logprobs', response([{ ...message, content: [{ ...text, logprobs: [{ token: 'hi' }] }] }])],
    ['a refusal', response([{ ...message, content: [{ type: 'refusal', refusal: 'No.' }] }])],
    ['two texts', response([{ ...message, content: [text, text] }])],
    ['two messages', response([message, { ...message, id: 'msg_2' }])],
    ['text after a call', response([call, message])],
    ['a phase', response([{ ...message, phase: 'commentary' }])],
    ['a custom tool', response([{ type: 'custom_tool_call', call_id: 'c', name: 'f', input: 'x' }])],
    ['a call from a program', response([{ ...call, caller: { type: 'program', id: 'p' } }])],
    ['an unfinished item', response([{ ...message, status: 'incomplete' }])],
    ['a background response', response([message], { background: true })],
    ['a conversation', response([message], { conversation: { id: 'conv_1' } })],
    ['an unknown member', response([message], { moderation: { flagged: true } })],
    ['an error', response([message], { error: { code: 'server_error' } })],
  ])('are not with %s, streamed or not', (_, body) => {
    expect(isLossless('openai-responses', body)).toBe(false);
    expect(isLosslessStream('openai-responses', stream(body))).toBe(false);
  });

  it.each([
    ['no end', sseEvent('response.created', { type: 'response.created', response: { id: 'resp_1' } })],
    [
      'an event nobody knows',
      stream(response([message]), sseEvent('response.new', { type: 'response.new' })),
    ],
    ['an event nobody knows, unnamed', stream(response([message]), sseEvent(null, { type: 'response.new' }))],
    ['what is no JSON', stream(response([message]), 'data: {"ty\n\n')],
    [
      'an error before its end',
      stream(response([message]), sseEvent('error', { type: 'error', message: 'overloaded' })),
    ],
    [
      'a last event without the output',
      stream(
        response([]),
        sseEvent('response.output_text.delta', { type: 'response.output_text.delta', delta: 'hi' }),
      ),
    ],
  ])('do not stream without loss with %s', (_, events) => {
    expect(isLosslessStream('openai-responses', events)).toBe(false);
  });
});

describe('Messages', () => {
  const text = { type: 'text', text: 'hi', citations: null };
  const call = { type: 'tool_use', id: 'c1', name: 'f', input: { a: 1 }, caller: { type: 'direct' } };
  const message = (content: unknown, more: object = {}) => ({
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'm',
    content,
    container: null,
    context_management: { applied_edits: [] },
    stop_reason: 'end_turn',
    stop_sequence: null,
    usage: { input_tokens: 1, output_tokens: 1, server_tool_use: null, service_tier: 'standard' },
    ...more,
  });
  const event = (type: string, more: object = {}) => sseEvent(type, { type, ...more });
  const begin = (more: object = {}) =>
    event('message_start', { message: message([], { stop_reason: null, ...more }) });
  const block = (index: number, content_block: object, ...deltas: object[]) =>
    event('content_block_start', { index, content_block }) +
    deltas.map((delta) => event('content_block_delta', { index, delta })).join('') +
    event('content_block_stop', { index });
  const end = (delta: object = {}, more: object = {}) =>
    event('message_delta', {
      delta: { stop_reason: 'end_turn', stop_sequence: null, ...delta },
      usage: { output_tokens: 2 },
      ...more,
    }) + event('message_stop');
  const emptyText = { type: 'text', text: '' };
  const hi = { type: 'text_delta', text: 'hi' };
  const emptyCall = { ...call, input: {} };
  const piece = { type: 'input_json_delta', partial_json: '{"a":1}' };

  it.each([
    ['text', [text]],
    ['nothing', []],
    ['calls', [call, { ...call, id: 'c2' }]],
    ['both', [text, call]],
  ])('are lossless with %s', (_, content) => {
    expect(isLossless('anthropic', message(content))).toBe(true);
  });

  it.each([
    ['thinking', message([{ type: 'thinking', thinking: 't', signature: 's' }, text])],
    ['hidden thinking', message([{ type: 'redacted_thinking', data: 'd' }, text])],
    ['a search', message([{ type: 'server_tool_use', id: 's', name: 'web_search', input: {} }, text])],
    ['its result', message([{ type: 'web_search_tool_result', tool_use_id: 's', content: [] }, text])],
    ['citations', message([{ ...text, citations: [{ type: 'page_location' }] }])],
    ['two texts', message([text, text])],
    ['text after a call', message([call, text])],
    ['a call from a program', message([{ ...call, caller: { type: 'code_execution', tool_id: 't' } }])],
    ['a number that was rounded', message([{ ...call, input: JSON.parse('{"id":9007199254740993}') }])],
    ['an unknown block', message([{ type: 'hologram' }])],
    ['a stop sequence', message([text], { stop_reason: 'stop_sequence', stop_sequence: 'x' })],
    ['a container', message([text], { container: { id: 'c' } })],
    ['edits of the context', message([text], { context_management: { applied_edits: [{ type: 'clear' }] } })],
    ['no content', message(undefined)],
    ['an error', { type: 'error', error: { type: 'api_error' } }],
  ])('are not with %s', (_, body) => {
    expect(isLossless('anthropic', body)).toBe(false);
  });

  it.each([
    ['text', begin() + block(0, emptyText, hi, hi) + event('ping') + end()],
    ['nothing', begin() + end()],
    ['calls', begin() + block(0, emptyCall, piece) + block(1, { ...emptyCall, id: 'c2' }, piece) + end()],
    ['both', begin() + block(0, emptyText, hi) + block(1, emptyCall, piece) + end()],
  ])('stream without loss with %s', (_, stream) => {
    expect(isLosslessStream('anthropic', stream)).toBe(true);
  });

  it.each([
    ['no end', begin() + block(0, emptyText, hi)],
    ['no beginning', block(0, emptyText, hi) + end()],
    ['two beginnings', begin() + begin() + block(0, emptyText, hi) + end()],
    [
      'thinking',
      begin() +
        block(0, { type: 'thinking', thinking: '' }, { type: 'thinking_delta', thinking: 't' }) +
        block(1, emptyText, hi) +
        end(),
    ],
    ['citations', begin() + block(0, emptyText, hi, { type: 'citations_delta', citation: {} }) + end()],
    ['two texts', begin() + block(0, emptyText, hi) + block(1, emptyText, hi) + end()],
    ['text after a call', begin() + block(0, emptyCall, piece) + block(1, emptyText, hi) + end()],
    ['a delta of another block', begin() + block(0, emptyText, piece) + end()],
    ['a delta of no block', begin() + event('content_block_delta', { index: 3, delta: hi }) + end()],
    [
      'a stop sequence',
      begin() + block(0, emptyText, hi) + end({ stop_reason: 'stop_sequence', stop_sequence: 'x' }),
    ],
    [
      'edits of the context',
      begin() + block(0, emptyText, hi) + end({}, { context_management: { applied_edits: [{}] } }),
    ],
    ['an event nobody knows', begin() + block(0, emptyText, hi) + event('hologram') + end()],
    ['what is no JSON', `${begin() + block(0, emptyText, hi)}data: {"ty\n\n${end()}`],
    [
      'an error',
      begin() + block(0, emptyText, hi) + event('error', { error: { type: 'overloaded_error' } }) + end(),
    ],
  ])('do not with %s', (_, stream) => {
    expect(isLosslessStream('anthropic', stream)).toBe(false);
  });
});

describe('Gemini', () => {
  const call = { functionCall: { name: 'f', args: { a: 1 } } };
  const response = (parts: unknown[], candidate: object = {}, more: object = {}) => ({
    candidates: [{ content: { parts, role: 'model' }, finishReason: 'STOP', index: 0, ...candidate }],
    usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, thoughtsTokenCount: 4 },
    modelVersion: 'm',
    responseId: 'r',
    ...more,
  });
  const unfinished = (...parts: unknown[]) => response(parts, { finishReason: undefined });
  const streams = (...responses: object[]) => [
    responses.map((each) => sseEvent(null, each)).join(''),
    JSON.stringify(responses),
  ];

  it.each([
    ['text', [{ text: 'hi' }]],
    ['nothing', []],
    ['calls', [call, { functionCall: { name: 'g', id: 'c2' } }]],
    ['both', [{ text: 'hi' }, call]],
    ['a call and an empty text after it', [call, { text: '' }]],
  ])('is lossless with %s, streamed or not', (_, parts) => {
    expect(isLossless('gemini', response(parts))).toBe(true);
    for (const stream of streams(response(parts))) expect(isLosslessStream('gemini', stream)).toBe(true);
  });

  it.each([
    ['a thought', response([{ text: 't', thought: true }, { text: 'hi' }])],
    ['a signed text', response([{ text: 'hi', thoughtSignature: 's' }])],
    ['a signed call', response([{ ...call, thoughtSignature: 's' }])],
    ['an image', response([{ inlineData: { mimeType: 'image/png', data: 'AAAA' } }])],
    ['code', response([{ executableCode: { code: '1' } }])],
    ['text after a call', response([call, { text: 'hi' }])],
    [
      'a number that was rounded',
      response([{ functionCall: { name: 'f', args: JSON.parse('{"id":9007199254740993}') } }]),
    ],
    ['half a call', response([{ functionCall: { name: 'f', willContinue: true } }])],
    ['grounding', response([{ text: 'hi' }], { groundingMetadata: { webSearchQueries: ['q'] } })],
    ['citations', response([{ text: 'hi' }], { citationMetadata: { citationSources: [{}] } })],
    [
      'safety ratings',
      response([{ text: 'hi' }], { safetyRatings: [{ category: 'c', probability: 'NEGLIGIBLE' }] }),
    ],
    [
      'logprobs',
      response([{ text: 'hi' }], { avgLogprobs: -0.1, logprobsResult: { chosenCandidates: [{}] } }),
    ],
    ['a blocked prompt', response([{ text: 'hi' }], {}, { promptFeedback: { blockReason: 'SAFETY' } })],
    ['another candidate', response([], {}, { candidates: [{ index: 0 }, { index: 1 }] })],
    ['an unknown member', response([{ text: 'hi' }], {}, { hologram: { a: 1 } })],
    ['an error', { error: { code: 500 } }],
  ])('is not with %s, streamed or not', (_, body) => {
    expect(isLossless('gemini', body)).toBe(false);
    for (const stream of streams(body)) expect(isLosslessStream('gemini', stream)).toBe(false);
  });

  it('is lossless with the mean of logprobs that nobody asked for', () => {
    const body = response([{ text: 'hi' }], { avgLogprobs: -0.1, tokenCount: 1 });
    expect(isLossless('gemini', body)).toBe(true);
    for (const stream of streams(body)) expect(isLosslessStream('gemini', stream)).toBe(true);
  });

  it('streams without loss text in pieces, and not without an end or with what is no JSON', () => {
    const pieces = [unfinished({ text: 'h' }), unfinished({ text: 'i' })];
    for (const stream of streams(...pieces, response([{ text: '!' }]))) {
      expect(isLosslessStream('gemini', stream)).toBe(true);
    }
    for (const stream of streams(...pieces)) expect(isLosslessStream('gemini', stream)).toBe(false);
    const [events] = streams(...pieces, response([]));
    expect(isLosslessStream('gemini', `data: {"can\n\n${events}`)).toBe(false);
  });

  it('has texts side by side of a whole answer for parts of their own', () => {
    expect(isLossless('gemini', response([{ text: 'a' }, { text: 'b' }]))).toBe(false);
  });
});
