/** Writes a finished `chat.completion`, or the chunks of one. */
import { type CachedAnswer, tokensOf, type Usage } from '#contracts';
import type { AnswerToWrite, OwnAnswer, ReplayToWrite } from '../dialect.js';
import { asRecord } from '../read-json.js';
import { JSON_TYPE, STREAM_TYPE, sseEvent } from '../sse-event.js';
import {
  cachedUsage,
  deltasOf,
  idAtVendor,
  NO_USAGE,
  type WrittenAnswer,
  type WrittenCall,
  writtenCalls,
} from '../written-answer.js';
import { readChatRequest } from './read-request.js';

export const writeChatAnswer = (answer: AnswerToWrite): OwnAnswer =>
  writeChat(
    { ...answer, tool_calls: [], usage: NO_USAGE },
    {
      id: ownId(answer),
      finish: 'stop',
      withUsage: false,
    },
  );

/** Null where the caller may fetch the completion by its id (`store: true`) and the vendor would not know it. */
export function writeChatReplay({ answer, body, id, atMs }: ReplayToWrite): OwnAnswer | null {
  const fields = asRecord(body);
  const keptId = fields?.store === true ? idAtVendor(answer, 'openai-chat') : ownId({ id });
  if (keptId === null) return null;
  const request = readChatRequest(body);
  const written = {
    id,
    model: answer.model ?? request.model ?? '',
    text: answer.text,
    tool_calls: writtenCalls(answer, 'openai-chat', (call, index) => call.id ?? `call_${id}_${index}`),
    usage: cachedUsage(answer.usage),
    stream: request.stream,
    atMs,
  };
  const withUsage = asRecord(fields?.stream_options)?.include_usage === true;
  return writeChat(written, { id: keptId, finish: answer.finish, withUsage });
}

const ownId = ({ id }: { id: string }): string => `chatcmpl-${id}`;

interface ChatAs {
  /** Of the completion. */
  id: string;
  /** A call that the request forced ends with `stop`. */
  finish: CachedAnswer['finish'];
  /** In a stream, which has none unless asked for. */
  withUsage: boolean;
}

function writeChat(answer: WrittenAnswer, { id, finish: finish_reason, withUsage }: ChatAs): OwnAnswer {
  const { model, text, tool_calls, atMs } = answer;
  const created = Math.floor(atMs / 1_000);
  const content = text === '' && tool_calls.length > 0 ? null : text;
  const usage = answer.usage && chatUsage(answer.usage);
  if (!answer.stream) {
    const message = { role: 'assistant', content, refusal: null, ...callsOf(tool_calls) };
    const body = {
      id,
      created,
      model,
      object: 'chat.completion',
      choices: [{ index: 0, message, logprobs: null, finish_reason }],
      ...(usage && { usage }),
    };
    return { contentType: JSON_TYPE, body: JSON.stringify(body) };
  }
  const event = (choices: object[], usage: object | null) =>
    sseEvent(null, {
      id,
      created,
      model,
      object: 'chat.completion.chunk',
      choices,
      ...(withUsage ? { usage } : {}),
    });
  const chunk = (delta: object, finish_reason: string | null = null) =>
    event([{ index: 0, delta, logprobs: null, finish_reason }], null);
  const body = [
    chunk({ role: 'assistant', content: content === null ? null : '', refusal: null }),
    ...deltasOf(text).map((content) => chunk({ content })),
    ...tool_calls.flatMap((call, index) => callDeltas(call, index).map((delta) => chunk(delta))),
    chunk({}, finish_reason),
    withUsage && usage ? event([], usage) : '',
    sseEvent(null, '[DONE]'),
  ].join('');
  return { contentType: STREAM_TYPE, body };
}

const callsOf = (calls: readonly WrittenCall[]): object =>
  calls.length === 0
    ? {}
    : {
        tool_calls: calls.map((call) => ({
          id: call.id,
          type: 'function',
          function: { name: call.name, arguments: call.arguments },
        })),
      };

const callDeltas = (call: WrittenCall, index: number): object[] => [
  {
    tool_calls: [{ index, id: call.id, type: 'function', function: { name: call.name, arguments: '' } }],
  },
  ...deltasOf(call.arguments).map((piece) => ({ tool_calls: [{ index, function: { arguments: piece } }] })),
];

const chatUsage = (usage: Usage) => ({
  prompt_tokens: usage.input_tokens,
  completion_tokens: usage.output_tokens,
  total_tokens: tokensOf(usage),
  prompt_tokens_details: { cached_tokens: usage.cached_input_tokens, audio_tokens: 0 },
  completion_tokens_details: { reasoning_tokens: usage.reasoning_tokens, audio_tokens: 0 },
});
