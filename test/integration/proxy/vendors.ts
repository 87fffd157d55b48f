/**
 * The five wire APIs as a test needs them: the vendor's own SDK pointed at the gateway, what the scripted upstream
 * answers, and the same questions asked in each.
 */
import type { ServerResponse } from 'node:http';
import Anthropic from '@anthropic-ai/sdk';
import { type GenerateContentResponse, GoogleGenAI, type Interactions } from '@google/genai';
import OpenAI from 'openai';
import { respondEvents, respondJson, type UpstreamScript } from '#testing';
import { AGENT_KEY } from '../start-gateway.js';
import {
  type AskOptions,
  anthropicBody,
  chatBody,
  geminiBody,
  interactionBody,
  responsesBody,
  type ToolUse,
} from './vendor-requests.js';

export type { AskOptions, ToolStep, ToolUse } from './vendor-requests.js';

export interface Reply {
  text?: string;
  toolCall?: ToolUse;
  /** A stream that stays open behind its text, and never ends. */
  hangs?: boolean;
}

export interface SeenCall extends ToolUse {
  /** Null where the vendor gives none. */
  id: string | null;
}

/** What the caller of an SDK sees. */
export interface Seen {
  text: string;
  toolCalls: SeenCall[];
}

export interface Vendor {
  name: string;
  upstream: 'openai' | 'anthropic' | 'gemini';
  /** Of the tool call in `answer`. */
  callId: string | null;
  /** One user message, and the steps taken on it; the SDK as its documentation shows it, but for the base URL. */
  ask(gatewayUrl: string, text: string, options?: AskOptions): Promise<Seen>;
  askStreaming(gatewayUrl: string, text: string, options?: AskOptions): Promise<Seen>;
  /** Writes `reply` as the vendor does, streamed if the request asks for it. */
  answer(call: { json: unknown; url: string }, response: ServerResponse, reply: Reply): unknown;
  /** All text the request brought, to look for what was injected. */
  textOf(json: unknown): string;
}

const prefix = (agent: string | undefined) =>
  agent === undefined ? '' : `/agents/${encodeURIComponent(agent)}`;
const isStream = (json: unknown): boolean => (json as { stream?: boolean }).stream === true;
const seenCall = (id: string | undefined, name = '', args: string | object = {}): SeenCall => ({
  id: id ?? null,
  name,
  arguments: typeof args === 'string' ? JSON.parse(args) : args,
});

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
  callId: 'call_1',
  async ask(url, text, options = {}) {
    const answer = await openaiClient(url, options).chat.completions.create(
      chatBody(text, options),
      signalOf(options),
    );
    return chatSeen(answer.choices[0]?.message);
  },
  async askStreaming(url, text, options = {}) {
    const stream = openaiClient(url, options).chat.completions.stream(
      { ...chatBody(text, options), stream_options: { include_usage: true } },
      signalOf(options),
    );
    stream.on('content', (piece) => options.onText?.(piece));
    const { choices } = await stream.finalChatCompletion();
    return chatSeen(choices[0]?.message);
  },
  answer(call, response, { text, toolCall, hangs }) {
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
    const said = [
      chunk({ role: 'assistant', content: '' }),
      ...pieces(text ?? '').map((content) => chunk({ content })),
      ...(tool_calls ? [chunk({ tool_calls: tool_calls.map((one, index) => ({ index, ...one })) })] : []),
    ];
    const end = [
      chunk({}, finish_reason),
      data({ ...head, object: 'chat.completion.chunk', choices: [], usage }),
      'data: [DONE]\n\n',
    ];
    return stream(response, said, end, hangs);
  },
  textOf: (json) => JSON.stringify((json as { messages: unknown }).messages),
};

export const openaiResponses: Vendor = {
  name: 'OpenAI Responses',
  upstream: 'openai',
  callId: 'call_1',
  async ask(url, text, options = {}) {
    const answer = await openaiClient(url, options).responses.create(
      responsesBody(text, options),
      signalOf(options),
    );
    return responsesSeen(answer);
  },
  async askStreaming(url, text, options = {}) {
    const stream = openaiClient(url, options).responses.stream(
      responsesBody(text, options),
      signalOf(options),
    );
    stream.on('response.output_text.delta', ({ delta }) => options.onText?.(delta));
    const answer = await stream.finalResponse();
    return responsesSeen(answer);
  },
  answer(call, response, { text, toolCall, hangs }) {
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
    const created = event('response.created', {
      response: { ...whole, status: 'in_progress', output: [], usage: null },
    });
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
        ];
    const done = called
      ? []
      : [
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
    const end = [
      ...done,
      event('response.output_item.done', { output_index: 0, item }),
      event('response.completed', { response: whole }),
    ];
    return stream(response, [created, ...inside], end, hangs);
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
  callId: 'toolu_1',
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
    stream.on('text', (piece) => options.onText?.(piece));
    return anthropicSeen((await stream.finalMessage()).content);
  },
  answer(call, response, { text, toolCall, hangs }) {
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
    const message = {
      ...head,
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: { ...usage, output_tokens: 1 },
    };
    const end = [
      event('content_block_stop', { index: 0 }),
      event('message_delta', { delta: { stop_reason, stop_sequence: null }, usage: { output_tokens: 20 } }),
      event('message_stop', {}),
    ];
    return stream(response, [event('message_start', { message }), event('ping', {}), ...inside], end, hangs);
  },
  textOf: (json) =>
    JSON.stringify([(json as { system?: unknown }).system, (json as { messages: unknown }).messages]),
};

const geminiClient = (
  url: string,
  { headers, maxRetries = 0, agent }: AskOptions,
  over?: typeof globalThis.fetch,
) =>
  new GoogleGenAI({
    apiKey: AGENT_KEY,
    httpOptions: {
      baseUrl: `${url}${prefix(agent)}/proxy/gemini`,
      headers: headers ?? {},
      ...(over && { fetch: over }),
      ...(maxRetries > 0 && { retryOptions: { attempts: maxRetries + 1 } }),
    },
  });

export const gemini: Vendor = {
  name: 'Gemini generateContent',
  upstream: 'gemini',
  callId: null,
  async ask(url, text, options = {}) {
    const answer = await geminiClient(url, options).models.generateContent(geminiBody(text, options));
    return { text: answer.functionCalls ? '' : (answer.text ?? ''), toolCalls: geminiCalls(answer) };
  },
  async askStreaming(url, text, options = {}) {
    const stream = await geminiClient(url, options).models.generateContentStream(geminiBody(text, options));
    const seen: Seen = { text: '', toolCalls: [] };
    for await (const chunk of stream) {
      if (chunk.functionCalls) seen.toolCalls.push(...geminiCalls(chunk));
      else {
        seen.text += chunk.text ?? '';
        options.onText?.(chunk.text ?? '');
      }
    }
    return seen;
  },
  answer(call, response, { text, toolCall, hangs }) {
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
    const last = parts.pop() as object;
    const said = parts.map((one) => data(chunk(one, false)));
    return stream(response, said, [data(chunk(last, true))], hangs);
  },
  textOf: (json) =>
    JSON.stringify([
      (json as { systemInstruction?: unknown }).systemInstruction,
      (json as { contents: unknown }).contents,
    ]),
};

/** Its SDK's own hold on a signal ends with the next garbage collection: whoever leaves later would stay on the line. */
const interactionsClient = (url: string, options: AskOptions) =>
  geminiClient(url, options, (input, init) => fetch(input, { ...init, ...signalOf(options) }));

export const geminiInteractions: Vendor = {
  name: 'Gemini interactions',
  upstream: 'gemini',
  callId: 'call_1',
  async ask(url, text, options = {}) {
    const { output_text = '', steps = [] } = await interactionsClient(url, options).interactions.create(
      interactionBody(text, options),
      interactionOptions(options),
    );
    return { text: output_text, toolCalls: steps.flatMap((step) => interactionCall(step) ?? []) };
  },
  async askStreaming(url, text, options = {}) {
    const stream = await interactionsClient(url, options).interactions.create(
      { ...interactionBody(text, options), stream: true },
      interactionOptions(options),
    );
    const seen: Seen = { text: '', toolCalls: [] };
    for await (const event of stream) {
      // Its SDK leaves it to the caller to see that it is one.
      if (event.event_type === 'error') throw new Error(event.error?.message);
      if (event.event_type === 'step.start') {
        const call = interactionCall(event.step);
        if (call) seen.toolCalls.push(call);
      }
      if (event.event_type !== 'step.delta') continue;
      if (event.delta.type === 'arguments_delta') {
        const call = seen.toolCalls.at(-1) as SeenCall;
        call.arguments = JSON.parse(event.delta.arguments ?? '');
      } else if (event.delta.type === 'text') {
        seen.text += event.delta.text;
        options.onText?.(event.delta.text);
      }
    }
    return seen;
  },
  answer(call, response, { text, toolCall, hangs }) {
    const head = { id: 'v1_1', object: 'interaction', model: 'gemini-2.5-flash' };
    const step = toolCall
      ? { type: 'function_call', id: 'call_1', ...toolCall }
      : { type: 'model_output', content: [{ type: 'text', text: text ?? '' }] };
    const whole = {
      ...head,
      status: toolCall ? 'requires_action' : 'completed',
      usage: {
        total_input_tokens: 100,
        total_cached_tokens: 40,
        total_output_tokens: 20,
        total_tokens: 120,
      },
    };
    if (!isStream(call.json)) return respondJson(response, 200, { ...whole, steps: [step] });
    const event = (event_type: string, rest: object) =>
      `event: ${event_type}\ndata: ${JSON.stringify({ event_type, ...rest })}\n\n`;
    const begun = toolCall ? { ...step, arguments: {} } : { type: 'model_output' };
    const deltas = toolCall
      ? [{ type: 'arguments_delta', arguments: JSON.stringify(toolCall.arguments) }]
      : pieces(text ?? '').map((piece) => ({ type: 'text', text: piece }));
    const said = [
      event('interaction.created', { interaction: { ...head, status: 'in_progress' } }),
      event('step.start', { index: 0, step: begun }),
      ...deltas.map((delta) => event('step.delta', { index: 0, delta })),
    ];
    const end = [
      event('step.stop', { index: 0 }),
      event('interaction.completed', { interaction: whole }),
      'event: done\ndata: [DONE]\n\n',
    ];
    return stream(response, said, end, hangs);
  },
  textOf: (json) =>
    JSON.stringify([
      (json as { system_instruction?: unknown }).system_instruction,
      (json as { input: unknown }).input,
    ]),
};

export const VENDORS: readonly Vendor[] = [
  openaiChat,
  openaiResponses,
  anthropic,
  gemini,
  geminiInteractions,
];

/** A script that answers every call of any vendor with the same reply. */
export const always =
  (vendor: Vendor, reply: Reply | ((index: number) => Reply)): UpstreamScript =>
  (call, response, index) =>
    vendor.answer(call, response, typeof reply === 'function' ? reply(index) : reply);

const data = (value: unknown) => `data: ${JSON.stringify(value)}\n\n`;
const pieces = (text: string) => text.match(/[\s\S]{1,7}/g) ?? [''];
const signalOf = ({ signal }: AskOptions) => (signal === undefined ? {} : { signal });
const stream = (response: ServerResponse, said: string[], end: string[], hangs = false) =>
  respondEvents(response, hangs ? said : [...said, ...end], { end: !hangs });

const chatSeen = (message: OpenAI.ChatCompletionMessage | undefined): Seen => ({
  text: message?.content ?? '',
  toolCalls: (message?.tool_calls ?? []).map((call) =>
    call.type === 'function'
      ? seenCall(call.id, call.function.name, call.function.arguments)
      : seenCall(call.id),
  ),
});
const responsesSeen = ({ output_text, output }: OpenAI.Responses.Response): Seen => ({
  text: output_text,
  toolCalls: output.flatMap((item) =>
    item.type === 'function_call' ? [seenCall(item.call_id, item.name, item.arguments)] : [],
  ),
});
const anthropicSeen = (content: Anthropic.ContentBlock[]): Seen => ({
  text: content.map((block) => (block.type === 'text' ? block.text : '')).join(''),
  toolCalls: content.flatMap((block) =>
    block.type === 'tool_use' ? [seenCall(block.id, block.name, block.input as object)] : [],
  ),
});
const geminiCalls = ({ functionCalls }: GenerateContentResponse): SeenCall[] =>
  (functionCalls ?? []).map(({ id, name, args }) => seenCall(id, name, args));
const interactionCall = (step: Interactions.Step): SeenCall | null =>
  step.type === 'function_call' ? seenCall(step.id, step.name, step.arguments) : null;
/** Unlike the rest of its SDK these take no retries from the client. */
const interactionOptions = ({ maxRetries = 0 }: AskOptions) => ({ maxRetries });
