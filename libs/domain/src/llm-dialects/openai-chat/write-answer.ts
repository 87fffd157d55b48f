/** Writes a finished `chat.completion`, or the chunks of one. */
import type { AnswerToWrite, OwnAnswer } from '../dialect.js';
import { JSON_TYPE, STREAM_TYPE, sseEvent } from '../sse-event.js';

export function writeChatAnswer({ id, model, text, stream, atMs }: AnswerToWrite): OwnAnswer {
  const head = { id: `chatcmpl-${id}`, created: Math.floor(atMs / 1_000), model };
  if (!stream) {
    const message = { role: 'assistant', content: text, refusal: null };
    const body = {
      ...head,
      object: 'chat.completion',
      choices: [{ index: 0, message, logprobs: null, finish_reason: 'stop' }],
      usage: { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 },
    };
    return { contentType: JSON_TYPE, body: JSON.stringify(body) };
  }
  const chunk = (delta: object, finish_reason: string | null) =>
    sseEvent(null, {
      ...head,
      object: 'chat.completion.chunk',
      choices: [{ index: 0, delta, logprobs: null, finish_reason }],
    });
  const body = [
    chunk({ role: 'assistant', content: '', refusal: null }, null),
    chunk({ content: text }, null),
    chunk({}, 'stop'),
    sseEvent(null, '[DONE]'),
  ].join('');
  return { contentType: STREAM_TYPE, body };
}
