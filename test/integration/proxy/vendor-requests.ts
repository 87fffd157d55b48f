/** What the vendors' SDKs are asked: one user message and the steps taken on it, in each of the five wire APIs. */
import type Anthropic from '@anthropic-ai/sdk';
import type { Content, Interactions } from '@google/genai';
import type OpenAI from 'openai';

type ChatBody = Omit<OpenAI.ChatCompletionCreateParamsNonStreaming, 'stream'>;
type ResponsesBody = Omit<OpenAI.Responses.ResponseCreateParamsNonStreaming, 'stream'>;
type AnthropicBody = Anthropic.MessageCreateParamsNonStreaming;

export interface ToolUse {
  name: string;
  arguments: Record<string, unknown>;
}

/** A tool call that the model made, and what it came back with. */
export interface ToolStep {
  call: ToolUse;
  result: string;
}

export interface AskOptions {
  headers?: Record<string, string>;
  system?: string;
  signal?: AbortSignal;
  /** Retries the SDK may make; 0 unless told. */
  maxRetries?: number;
  agent?: string;
  /** A picture beside the text: PNG, base64. */
  image?: string;
  /** Declared to the model, whatever arguments they take. */
  tools?: readonly string[];
  /** On the user's message, oldest first. */
  steps?: readonly ToolStep[];
  /** Called with each piece of text of a stream. */
  onText?: (text: string) => void;
  /** Left to the vendor's default unless told. */
  temperature?: number;
  /** Responses and interactions only: whether the vendor keeps the answer, so that a later call may name it. */
  store?: boolean;
}

const warmth = ({ temperature }: AskOptions) => (temperature === undefined ? {} : { temperature });

const pngUrl = (image: string) => `data:image/png;base64,${image}`;
const schema = { type: 'object' as const };

export const responsesBody = (text: string, options: AskOptions): ResponsesBody => ({
  model: 'gpt-4o-mini',
  input: responsesInput(text, options),
  ...(options.tools && {
    tools: options.tools.map((name) => ({ type: 'function', name, parameters: schema, strict: false })),
  }),
  ...(options.system && { instructions: options.system }),
  ...(options.store !== undefined && { store: options.store }),
  ...warmth(options),
});

const responsesInput = (text: string, { image, steps = [] }: AskOptions): ResponsesBody['input'] => {
  if (image === undefined && steps.length === 0) return text;
  const picture = image && {
    type: 'input_image' as const,
    detail: 'auto' as const,
    image_url: pngUrl(image),
  };
  return [
    { role: 'user', content: [{ type: 'input_text', text }, ...(picture ? [picture] : [])] },
    ...steps.flatMap(({ call, result }, at): OpenAI.Responses.ResponseInputItem[] => [
      {
        type: 'function_call',
        call_id: `call_${at}`,
        name: call.name,
        arguments: JSON.stringify(call.arguments),
      },
      { type: 'function_call_output', call_id: `call_${at}`, output: result },
    ]),
  ];
};

export const chatBody = (text: string, options: AskOptions): ChatBody => ({
  model: 'gpt-4o-mini',
  messages: chatMessages(text, options),
  ...(options.tools && {
    tools: options.tools.map((name) => ({ type: 'function', function: { name, parameters: schema } })),
  }),
  ...warmth(options),
});

const chatMessages = (text: string, { system, image, steps = [] }: AskOptions): ChatBody['messages'] => [
  ...(system ? [{ role: 'system' as const, content: system }] : []),
  {
    role: 'user',
    content: image
      ? [
          { type: 'text', text },
          { type: 'image_url', image_url: { url: pngUrl(image) } },
        ]
      : text,
  },
  ...steps.flatMap(({ call, result }, at): ChatBody['messages'] => [
    {
      role: 'assistant',
      content: null,
      tool_calls: [
        {
          id: `call_${at}`,
          type: 'function',
          function: { name: call.name, arguments: JSON.stringify(call.arguments) },
        },
      ],
    },
    { role: 'tool', tool_call_id: `call_${at}`, content: result },
  ]),
];

export const anthropicBody = (text: string, options: AskOptions): AnthropicBody => ({
  model: 'claude-sonnet-4-5',
  max_tokens: 256,
  messages: anthropicMessages(text, options),
  ...(options.tools && { tools: options.tools.map((name) => ({ name, input_schema: schema })) }),
  ...(options.system && { system: options.system }),
  ...warmth(options),
});

const anthropicMessages = (text: string, { image, steps = [] }: AskOptions): Anthropic.MessageParam[] => [
  {
    role: 'user',
    content: image
      ? [
          { type: 'text', text },
          { type: 'image', source: { type: 'base64', media_type: 'image/png', data: image } },
        ]
      : text,
  },
  ...steps.flatMap(({ call, result }, at): Anthropic.MessageParam[] => [
    {
      role: 'assistant',
      content: [{ type: 'tool_use', id: `toolu_${at}`, name: call.name, input: call.arguments }],
    },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: `toolu_${at}`, content: result }] },
  ]),
];

const geminiContents = (text: string, { image, steps = [] }: AskOptions): Content[] => [
  {
    role: 'user',
    parts: [{ text }, ...(image ? [{ inlineData: { mimeType: 'image/png', data: image } }] : [])],
  },
  ...steps.flatMap(({ call, result }): Content[] => [
    { role: 'model', parts: [{ functionCall: { name: call.name, args: call.arguments } }] },
    { role: 'user', parts: [{ functionResponse: { name: call.name, response: { output: result } } }] },
  ]),
];

export const geminiBody = (text: string, { system, signal, tools, ...options }: AskOptions) => ({
  model: 'gemini-2.5-flash',
  contents: options.image || options.steps ? geminiContents(text, options) : text,
  config: {
    ...(tools && {
      tools: [{ functionDeclarations: tools.map((name) => ({ name, parametersJsonSchema: schema })) }],
    }),
    ...(system && { systemInstruction: system }),
    ...(signal && { abortSignal: signal }),
    ...warmth(options),
  },
});

const interactionInput = (
  text: string,
  { image, steps = [] }: AskOptions,
): Interactions.CreateModelInteractionParamsNonStreaming['input'] => {
  if (image === undefined && steps.length === 0) return text;
  const picture = image && { type: 'image' as const, mime_type: 'image/png', data: image };
  return [
    { type: 'user_input', content: [{ type: 'text', text }, ...(picture ? [picture] : [])] },
    ...steps.flatMap(({ call, result }, at): Interactions.Step[] => [
      { type: 'function_call', id: `call_${at}`, name: call.name, arguments: call.arguments },
      { type: 'function_result', call_id: `call_${at}`, name: call.name, result },
    ]),
  ];
};

export const interactionBody = (text: string, options: AskOptions) => ({
  model: 'gemini-2.5-flash',
  input: interactionInput(text, options),
  ...(options.tools && {
    tools: options.tools.map((name) => ({ type: 'function' as const, name, parameters: schema })),
  }),
  ...(options.system && { system_instruction: options.system }),
  ...(options.store !== undefined && { store: options.store }),
  ...(options.temperature !== undefined && { generation_config: warmth(options) }),
});
