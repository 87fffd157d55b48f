/** Writes a finished `message`, or all events of its stream. */
import type { AnswerToWrite, OwnAnswer } from '../dialect.js';
import { JSON_TYPE, STREAM_TYPE, sseEvent } from '../sse-event.js';

export function writeMessageAnswer({ id, model, text, stream }: AnswerToWrite): OwnAnswer {
  const block = { type: 'text', text };
  const begun = {
    id: `msg_${id}`,
    type: 'message',
    role: 'assistant',
    model,
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: NO_USAGE,
  };
  if (!stream) {
    const message = { ...begun, content: [block], stop_reason: 'end_turn' };
    return { contentType: JSON_TYPE, body: JSON.stringify(message) };
  }
  const events: { type: string; [member: string]: unknown }[] = [
    { type: 'message_start', message: begun },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } },
    { type: 'content_block_stop', index: 0 },
    {
      type: 'message_delta',
      delta: { stop_reason: 'end_turn', stop_sequence: null },
      usage: { output_tokens: 0 },
    },
    { type: 'message_stop' },
  ];
  return { contentType: STREAM_TYPE, body: events.map((event) => sseEvent(event.type, event)).join('') };
}

const NO_USAGE = {
  input_tokens: 0,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: 0,
  output_tokens: 0,
};
