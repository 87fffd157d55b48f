/** Writes a finished `message`, or all events of its stream. */
import type { Usage } from '#contracts';
import type { AnswerToWrite, OwnAnswer, ReplayToWrite } from '../dialect.js';
import { JSON_TYPE, STREAM_TYPE, sseEvent } from '../sse-event.js';
import {
  argumentsObject,
  cachedUsage,
  deltasOf,
  NO_USAGE,
  type WrittenAnswer,
  writtenCalls,
} from '../written-answer.js';
import { readMessagesRequest } from './read-request.js';

/** Of ids that the vendor takes back with a result. */
const CALL_ID = /^[\w-]{1,64}$/;

interface Event {
  type: string;
  [member: string]: unknown;
}

/** Arguments of the calls, as objects, in their order. */
type Inputs = readonly object[];

export const writeMessageAnswer = (answer: AnswerToWrite): OwnAnswer =>
  writeMessage({ ...answer, tool_calls: [], usage: NO_USAGE }, []);

export function writeMessageReplay({ answer, body, path, id, atMs }: ReplayToWrite): OwnAnswer | null {
  const inputs: object[] = [];
  for (const call of answer.tool_calls) {
    const input = argumentsObject(call.arguments);
    if (input === null) return null;
    inputs.push(input);
  }
  const request = readMessagesRequest(body, path);
  const written = {
    id,
    model: answer.model ?? request.model ?? '',
    text: answer.text,
    tool_calls: writtenCalls(answer, 'anthropic', (call, index) =>
      call.id !== null && CALL_ID.test(call.id) ? call.id : `toolu_${id}_${index}`,
    ),
    usage: cachedUsage(answer.usage),
    stream: request.stream,
    atMs,
  };
  return writeMessage(written, inputs);
}

function writeMessage(answer: WrittenAnswer, inputs: Inputs): OwnAnswer {
  // The vendor refuses to have an empty text sent back to it.
  const hasText = answer.text !== '';
  const stop_reason = answer.tool_calls.length > 0 ? 'tool_use' : 'end_turn';
  // Its SDKs read the counts of every message: there is no word for unknown.
  const usage = messageUsage(answer.usage ?? NO_USAGE);
  const begun = {
    id: `msg_${answer.id}`,
    type: 'message',
    role: 'assistant',
    model: answer.model,
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: { ...usage, output_tokens: 0 },
  };
  if (!answer.stream) {
    const content = [
      ...(hasText ? [{ type: 'text', text: answer.text }] : []),
      ...answer.tool_calls.map(({ id, name }, index) => ({
        type: 'tool_use',
        id,
        name,
        input: inputs[index],
      })),
    ];
    return { contentType: JSON_TYPE, body: JSON.stringify({ ...begun, content, stop_reason, usage }) };
  }
  const events: Event[] = [
    { type: 'message_start', message: begun },
    ...(hasText ? textEvents(answer.text) : []),
    ...callEvents(answer, hasText ? 1 : 0),
    { type: 'message_delta', delta: { stop_reason, stop_sequence: null }, usage },
    { type: 'message_stop' },
  ];
  return { contentType: STREAM_TYPE, body: events.map((event) => sseEvent(event.type, event)).join('') };
}

const textEvents = (text: string): Event[] => [
  { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
  ...deltasOf(text).map((text) => ({
    type: 'content_block_delta',
    index: 0,
    delta: { type: 'text_delta', text },
  })),
  { type: 'content_block_stop', index: 0 },
];

const callEvents = ({ tool_calls }: WrittenAnswer, first: number): Event[] =>
  tool_calls.flatMap(({ id, name, arguments: json }, at) => {
    const index = first + at;
    return [
      {
        type: 'content_block_start',
        index,
        content_block: { type: 'tool_use', id, name, input: {} },
      },
      ...deltasOf(json).map((partial_json) => ({
        type: 'content_block_delta',
        index,
        delta: { type: 'input_json_delta', partial_json },
      })),
      { type: 'content_block_stop', index },
    ];
  });

/** What was cached is not input in this vendor's count. */
const messageUsage = (usage: Usage) => ({
  input_tokens: usage.input_tokens - usage.cached_input_tokens,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: usage.cached_input_tokens,
  output_tokens: usage.output_tokens,
});
