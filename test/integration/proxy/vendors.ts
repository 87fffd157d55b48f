/**
 * The four wire APIs as a test needs them: the vendor's own SDK pointed at the gateway, what the scripted upstream
 * answers, and the same questions asked in each.
 */
import type { ServerResponse } from 'node:http';
import Anthropic from '@anthropic-ai/sdk';
import { GoogleGenAI } from '@google/genai';
import OpenAI from 'openai';
import { respondEvents, respondJson, type UpstreamScript } from '#testing';
import { AGENT_KEY } from '../start-gateway.js';

export interface ToolUse {
  name: string;
  arguments: Record<string, unknown>;
}

export interface Reply {
  text?: string;
  toolCall?: ToolUse;
}

/** What the caller of an SDK sees. */
export interface Seen {
  text: string;
  toolCalls: string[];
}

export interface Vendor {
  name: string;
  upstream: 'openai' | 'anthropic' | 'gemini';
  /** One user message; the SDK as its documentation shows it, but for the base URL. */
  ask(gatewayUrl: string, text: string, options?: AskOptions): Promise<Seen>;
  askStreaming(gatewayUrl: string, text: string, options?: AskOptions): Promise<Seen>;
  /** Writes `reply` as the vendor does, streamed if the request asks for it. */
  answer(call: { json: unknown; url: string }, response: ServerResponse, reply: Reply): unknown;
  /** All text the request brought, to look for what was injected. */
  textOf(json: unknown): string;
}

export interface AskOptions {
  headers?: Record<string, string>;
  system?: string;
  signal?: AbortSignal;
  /** Retries the SDK may make; 0 unless told. */
  maxRetries?: number;
  agent?: string;
  /** Left to the vendor's default unless told. */
  temperature?: number;
  /** Responses only: whether the vendor keeps the answer, so that a later call may name it. */
  store?: boolean;
}

const prefix = (agent: string | undefined) =>
  agent === undefined ? '' : `/agents/${encodeURIComponent(agent)}`;
const isStream = (json: unknown): boolean => (json as { stream?: boolean }).stream === true;
const warmth = ({ temperature }: AskOptions) => (temperature === undefined ? {} : { temperature });
const toolNames = (calls: { name?: string | undefined }[] | undefined) =>
  (calls ?? []).map((call) => call.name ?? '');

const openaiClient = (url: string, { headers, maxRetries = 0, agent }: AskOptions) =>
  new OpenAI({
    baseURL: `${url}${prefix(agent)}/proxy/openai/v1`,
    apiKey: AGENT_KEY,
    maxRetries,
    defaultHeaders: headers ?? {},
  });

export const openaiChat: Vendor = {
  name: 'OpenAI Chat Completions',
  upstream: 'openai',
  async ask(url, text, options = {}) {
    const answer = await openaiClient(url, options).chat.completions.create(
      { model: 'gpt-4o-mini', messages: chatMessages(text, options), ...warmth(options) },
      signalOf(options),
    );
    const message = answer.choices[0]?.message;
    return {
      text: message?.content ?? '',
      toolCalls: toolNames(
        message?.tool_calls?.map((call) => (call.type === 'function' ? call.function : {})),
      ),
    };
  },
  async askStreaming(url, text, options = {}) {
    const stream = openaiClient(url, options).chat.completions.stream(
      {
        model: 'gpt-4o-mini',
        messages: chatMessages(text, options),
        ...warmth(options),
        stream_options: { include_usage: true },
      },
      signalOf(options),
    );
    const { choices } = await stream.finalChatCompletion();
    const message = choices[0]?.message;
    return {
      text: message?.content ?? '',
      toolCalls: toolNames(
        message?.tool_calls?.map((call) => (call.type === 'function' ? call.function : {})),
      ),
    };
  },
  answer(call, response, { text, toolCall }) {
    const tool_calls = toolCall && [
      {
        id: 'call_1',
        type: 'function',
        function: { name: toolCall.name, arguments: JSON.stringify(toolCall.arguments) },
      },
    ];
    const usage = {
      prompt_tokens: 100,
      completion_tokens: 20,
      total_tokens: 120,
      prompt_tokens_details: { cached_tokens: 40 },
    };
    const head = { id: 'chatcmpl-1', created: 1_700_000_000, model: 'gpt-4o-mini' };
    const finish_reason = toolCall ? 'tool_calls' : 'stop';
    if (!isStream(call.json)) {
      return respondJson(response, 200, {
        ...head,
        object: 'chat.completion',
        choices: [
          {
            index: 0,
            finish_reason,
            message: { role: 'assistant', content: text ?? null, ...(tool_calls && { tool_calls }) },
          },
        ],
        usage,
      });
    }
    const chunk = (delta: object, reason: string | null = null, extra: object = {}) =>
      data({
        ...head,
        object: 'chat.completion.chunk',
        choices: [{ index: 0, delta, finish_reason: reason }],
        ...extra,
      });
    return respondEvents(response, [
      chunk({ role: 'assistant', content: '' }),
      ...pieces(text ?? '').map((content) => chunk({ content })),
      ...(tool_calls ? [chunk({ tool_calls: tool_calls.map((one, index) => ({ index, ...one })) })] : []),
      chunk({}, finish_reason),
      data({ ...head, object: 'chat.completion.chunk', choices: [], usage }),
      'data: [DONE]\n\n',
    ]);
  },
  textOf: (json) => JSON.stringify((json as { messages: unknown }).messages),
};

export const openaiResponses: Vendor = {
  name: 'OpenAI Responses',
  upstream: 'openai',
  async ask(url, text, options = {}) {
    const answer = await openaiClient(url, options).responses.create(
      responsesBody(text, options),
      signalOf(options),
    );
    return {
      text: answer.output_text,
      toolCalls: toolNames(answer.output.filter((item) => item.type === 'function_call')),
    };
  },
  async askStreaming(url, text, options = {}) {
    const stream = openaiClient(url, options).responses.stream(
      responsesBody(text, options),
      signalOf(options),
    );
    const answer = await stream.finalResponse();
    return {
      text: answer.output_text,
      toolCalls: toolNames(answer.output.filter((item) => item.type === 'function_call')),
    };
  },
  answer(call, response, { text, toolCall }) {
    const message = {
      type: 'message',
      id: 'msg_1',
      role: 'assistant',
      status: 'completed',
      content: [{ type: 'output_text', text: text ?? '', annotations: [] }],
    };
    const called = toolCall && {
      type: 'function_call',
      id: 'fc_1',
      call_id: 'call_1',
      status: 'completed',
      name: toolCall.name,
      arguments: JSON.stringify(toolCall.arguments),
    };
    const output = called ? [called] : [message];
    const whole = {
      id: 'resp_1',
      object: 'response',
      created_at: 1_700_000_000,
      status: 'completed',
      model: 'gpt-4o-mini',
      output,
      parallel_tool_calls: true,
      tool_choice: 'auto',
      tools: [],
      error: null,
      incomplete_details: null,
      instructions: null,
      metadata: {},
      temperature: 1,
      top_p: 1,
      usage: {
        input_tokens: 100,
        input_tokens_details: { cached_tokens: 40 },
        output_tokens: 20,
        output_tokens_details: { reasoning_tokens: 0 },
        total_tokens: 120,
      },
    };
    if (!isStream(call.json)) return respondJson(response, 200, whole);
    let sequence_number = 0;
    const event = (type: string, rest: object) =>
      `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: sequence_number++, ...rest })}\n\n`;
    const begun = { ...whole, status: 'in_progress', output: [], usage: null };
    const item = output[0] as { id: string };
    const inside = called
      ? [
          event('response.output_item.added', {
            output_index: 0,
            item: { ...called, arguments: '', status: 'in_progress' },
          }),
          event('response.function_call_arguments.delta', {
            item_id: item.id,
            output_index: 0,
            delta: called.arguments,
          }),
          event('response.function_call_arguments.done', {
            item_id: item.id,
            output_index: 0,
            arguments: called.arguments,
          }),
        ]
      : [
          event('response.output_item.added', {
            output_index: 0,
            item: { ...message, content: [], status: 'in_progress' },
          }),
          event('response.content_part.added', {
            item_id: item.id,
            output_index: 0,
            content_index: 0,
            part: { type: 'output_text', text: '', annotations: [] },
          }),
          ...pieces(text ?? '').map((delta) =>
            event('response.output_text.delta', {
              item_id: item.id,
              output_index: 0,
              content_index: 0,
              delta,
              logprobs: [],
            }),
          ),
          event('response.output_text.done', {
            item_id: item.id,
            output_index: 0,
            content_index: 0,
            text: text ?? '',
            logprobs: [],
          }),
          event('response.content_part.done', {
            item_id: item.id,
            output_index: 0,
            content_index: 0,
            part: message.content[0],
          }),
        ];
    return respondEvents(response, [
      event('response.created', { response: begun }),
      ...inside,
      event('response.output_item.done', { output_index: 0, item }),
      event('response.completed', { response: whole }),
    ]);
  },
  textOf: (json) =>
    JSON.stringify([(json as { instructions?: unknown }).instructions, (json as { input: unknown }).input]),
};

const anthropicClient = (url: string, { headers, maxRetries = 0, agent }: AskOptions) =>
  new Anthropic({
    baseURL: `${url}${prefix(agent)}/proxy/anthropic`,
    apiKey: AGENT_KEY,
    maxRetries,
    defaultHeaders: headers ?? {},
  });

export const anthropic: Vendor = {
  name: 'Anthropic Messages',
  upstream: 'anthropic',
  async ask(url, text, options = {}) {
    const answer = await anthropicClient(url, options).messages.create(
      anthropicBody(text, options),
      signalOf(options),
    );
    return anthropicSeen(answer.content);
  },
  async askStreaming(url, text, options = {}) {
    const stream = anthropicClient(url, options).messages.stream(
      anthropicBody(text, options),
      signalOf(options),
    );
    return anthropicSeen((await stream.finalMessage()).content);
  },
  answer(call, response, { text, toolCall }) {
    const block = toolCall
      ? { type: 'tool_use', id: 'toolu_1', name: toolCall.name, input: toolCall.arguments }
      : { type: 'text', text: text ?? '' };
    const stop_reason = toolCall ? 'tool_use' : 'end_turn';
    const usage = {
      input_tokens: 60,
      cache_read_input_tokens: 40,
      cache_creation_input_tokens: 0,
      output_tokens: 20,
    };
    const head = { id: 'msg_1', type: 'message', role: 'assistant', model: 'claude-sonnet-4-5' };
    if (!isStream(call.json))
      return respondJson(response, 200, {
        ...head,
        content: [block],
        stop_reason,
        stop_sequence: null,
        usage,
      });
    const event = (type: string, rest: object) =>
      `event: ${type}\ndata: ${JSON.stringify({ type, ...rest })}\n\n`;
    const inside = toolCall
      ? [
          event('content_block_start', { index: 0, content_block: { ...block, input: {} } }),
          event('content_block_delta', {
            index: 0,
            delta: { type: 'input_json_delta', partial_json: JSON.stringify(toolCall.arguments) },
          }),
        ]
      : [
          event('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }),
          ...pieces(text ?? '').map((piece) =>
            event('content_block_delta', { index: 0, delta: { type: 'text_delta', text: piece } }),
          ),
        ];
    return respondEvents(response, [
      event('message_start', {
        message: {
          ...head,
          content: [],
          stop_reason: null,
          stop_sequence: null,
          usage: { ...usage, output_tokens: 1 },
        },
      }),
      event('ping', {}),
      ...inside,
      event('content_block_stop', { index: 0 }),
      event('message_delta', { delta: { stop_reason, stop_sequence: null }, usage: { output_tokens: 20 } }),
      event('message_stop', {}),
    ]);
  },
  textOf: (json) =>
    JSON.stringify([(json as { system?: unknown }).system, (json as { messages: unknown }).messages]),
};

const geminiClient = (url: string, { headers, maxRetries = 0, agent }: AskOptions) =>
  new GoogleGenAI({
    apiKey: AGENT_KEY,
    httpOptions: {
      baseUrl: `${url}${prefix(agent)}/proxy/gemini`,
      headers: headers ?? {},
      ...(maxRetries > 0 && { retryOptions: { attempts: maxRetries + 1 } }),
    },
  });

export const gemini: Vendor = {
  name: 'Gemini generateContent',
  upstream: 'gemini',
  async ask(url, text, options = {}) {
    const answer = await geminiClient(url, options).models.generateContent(geminiBody(text, options));
    return {
      text: answer.functionCalls ? '' : (answer.text ?? ''),
      toolCalls: toolNames(answer.functionCalls),
    };
  },
  async askStreaming(url, text, options = {}) {
    const stream = await geminiClient(url, options).models.generateContentStream(geminiBody(text, options));
    const seen: Seen = { text: '', toolCalls: [] };
    for await (const chunk of stream) {
      if (chunk.functionCalls) seen.toolCalls.push(...toolNames(chunk.functionCalls));
      else seen.text += chunk.text ?? '';
    }
    return seen;
  },
  answer(call, response, { text, toolCall }) {
    const usageMetadata = {
      promptTokenCount: 100,
      cachedContentTokenCount: 40,
      candidatesTokenCount: 20,
      totalTokenCount: 120,
    };
    const chunk = (part: object | null, last: boolean) => ({
      candidates: [
        {
          index: 0,
          content: { role: 'model', parts: part ? [part] : [] },
          ...(last && { finishReason: 'STOP' }),
        },
      ],
      modelVersion: 'gemini-2.5-flash',
      ...(last && { usageMetadata }),
    });
    const part = toolCall
      ? { functionCall: { name: toolCall.name, args: toolCall.arguments } }
      : { text: text ?? '' };
    if (!call.url.includes('streamGenerateContent')) return respondJson(response, 200, chunk(part, true));
    const parts = toolCall ? [part] : pieces(text ?? '').map((piece) => ({ text: piece }));
    return respondEvents(
      response,
      parts.map((one, at) => data(chunk(one, at === parts.length - 1))),
    );
  },
  textOf: (json) =>
    JSON.stringify([
      (json as { systemInstruction?: unknown }).systemInstruction,
      (json as { contents: unknown }).contents,
    ]),
};

export const VENDORS: readonly Vendor[] = [openaiChat, openaiResponses, anthropic, gemini];

/** A script that answers every call of any vendor with the same reply. */
export const always =
  (vendor: Vendor, reply: Reply | ((index: number) => Reply)): UpstreamScript =>
  (call, response, index) =>
    vendor.answer(call, response, typeof reply === 'function' ? reply(index) : reply);

const data = (value: unknown) => `data: ${JSON.stringify(value)}\n\n`;
const pieces = (text: string) => text.match(/[\s\S]{1,7}/g) ?? [''];
const signalOf = ({ signal }: AskOptions) => (signal === undefined ? {} : { signal });
const responsesBody = (text: string, options: AskOptions) => ({
  model: 'gpt-4o-mini',
  input: text,
  ...(options.system && { instructions: options.system }),
  ...(options.store !== undefined && { store: options.store }),
  ...warmth(options),
});
const chatMessages = (text: string, { system }: AskOptions) => [
  ...(system ? [{ role: 'system' as const, content: system }] : []),
  { role: 'user' as const, content: text },
];
const anthropicBody = (text: string, options: AskOptions) => ({
  model: 'claude-sonnet-4-5',
  max_tokens: 256,
  messages: [{ role: 'user' as const, content: text }],
  ...(options.system && { system: options.system }),
  ...warmth(options),
});
const anthropicSeen = (content: { type: string; text?: string; name?: string }[]): Seen => ({
  text: content.map((block) => (block.type === 'text' ? (block.text ?? '') : '')).join(''),
  toolCalls: toolNames(content.filter((block) => block.type === 'tool_use')),
});
const geminiBody = (text: string, { system, signal, ...options }: AskOptions) => ({
  model: 'gemini-2.5-flash',
  contents: text,
  config: {
    ...(system && { systemInstruction: system }),
    ...(signal && { abortSignal: signal }),
    ...warmth(options),
  },
});
