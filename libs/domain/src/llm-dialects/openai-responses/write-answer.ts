/** Writes a completed `response`, or all events of its stream. */
import type { AnswerToWrite, OwnAnswer } from '../dialect.js';
import { JSON_TYPE, STREAM_TYPE, sseEvent } from '../sse-event.js';

export function writeResponsesAnswer(answer: AnswerToWrite): OwnAnswer {
  const part = { type: 'output_text', text: answer.text, annotations: [], logprobs: [] };
  const message = {
    id: `msg_${answer.id}`,
    type: 'message',
    role: 'assistant',
    status: 'completed',
    content: [part],
  };
  const completed = { ...responseOf(answer), status: 'completed', output: [message], usage: NO_USAGE };
  if (!answer.stream) return { contentType: JSON_TYPE, body: JSON.stringify(completed) };

  const begun = { ...responseOf(answer), status: 'in_progress', output: [], usage: null };
  const inItem = { item_id: message.id, output_index: 0, content_index: 0 };
  const events: { type: string; [member: string]: unknown }[] = [
    { type: 'response.created', response: begun },
    { type: 'response.in_progress', response: begun },
    {
      type: 'response.output_item.added',
      output_index: 0,
      item: { ...message, status: 'in_progress', content: [] },
    },
    { type: 'response.content_part.added', ...inItem, part: { ...part, text: '' } },
    { type: 'response.output_text.delta', ...inItem, delta: answer.text, logprobs: [] },
    { type: 'response.output_text.done', ...inItem, text: answer.text, logprobs: [] },
    { type: 'response.content_part.done', ...inItem, part },
    { type: 'response.output_item.done', output_index: 0, item: message },
    { type: 'response.completed', response: completed },
  ];
  const body = events
    .map((event, sequence_number) => sseEvent(event.type, { ...event, sequence_number }))
    .join('');
  return { contentType: STREAM_TYPE, body };
}

const NO_USAGE = {
  input_tokens: 0,
  input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
  output_tokens: 0,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: 0,
};

/** What is the same in every state of the response. */
const responseOf = ({ id, model, atMs }: AnswerToWrite) => ({
  id: `resp_${id}`,
  object: 'response',
  created_at: Math.floor(atMs / 1_000),
  model,
  error: null,
  incomplete_details: null,
  instructions: null,
  max_output_tokens: null,
  metadata: {},
  parallel_tool_calls: true,
  previous_response_id: null,
  reasoning: { effort: null, summary: null },
  store: false,
  temperature: null,
  text: { format: { type: 'text' } },
  tool_choice: 'auto',
  tools: [],
  top_p: null,
  truncation: 'disabled',
});
