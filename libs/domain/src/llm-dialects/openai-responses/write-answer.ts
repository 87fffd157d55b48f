/** Writes a completed `response`, or all events of its stream. */
import { tokensOf, type Usage } from '#contracts';
import type { AnswerToWrite, OwnAnswer } from '../dialect.js';
import type { JsonRecord } from '../read-json.js';
import { JSON_TYPE, STREAM_TYPE, sseEvent } from '../sse-event.js';
import { deltasOf, NO_USAGE, type WrittenAnswer, type WrittenCall } from '../written-answer.js';

interface Event {
  type: string;
  [member: string]: unknown;
}

export const writeResponsesAnswer = (answer: AnswerToWrite): OwnAnswer =>
  writeResponses({ ...answer, tool_calls: [], usage: NO_USAGE }, `resp_${answer.id}`, {});

/**
 * @param responseId the id that a later request may name
 * @param said members of the request that the vendor says back
 */
export function writeResponses(answer: WrittenAnswer, responseId: string, said: JsonRecord): OwnAnswer {
  const head = headOf(answer, responseId, said);
  const items: Item[] = answer.tool_calls.map((call, index) => callItem(answer, call, index));
  if (answer.text !== '' || items.length === 0) items.unshift(messageItem(answer));
  const completed = {
    ...head,
    status: 'completed',
    output: items.map(({ item }) => item),
    usage: answer.usage && responsesUsage(answer.usage),
  };
  if (!answer.stream) return { contentType: JSON_TYPE, body: JSON.stringify(completed) };

  const begun = { ...head, status: 'in_progress', output: [], usage: null };
  const events: Event[] = [
    { type: 'response.created', response: begun },
    { type: 'response.in_progress', response: begun },
    ...items.flatMap(({ eventsAt }, index) => eventsAt(index)),
    { type: 'response.completed', response: completed },
  ];
  const body = events
    .map((event, sequence_number) => sseEvent(event.type, { ...event, sequence_number }))
    .join('');
  return { contentType: STREAM_TYPE, body };
}

interface Item {
  item: object;
  eventsAt(output_index: number): Event[];
}

function messageItem({ id, text }: WrittenAnswer): Item {
  const part = { type: 'output_text', text, annotations: [], logprobs: [] };
  const item = { id: `msg_${id}`, type: 'message', role: 'assistant', status: 'completed', content: [part] };
  return {
    item,
    eventsAt: (output_index) => {
      const inItem = { item_id: item.id, output_index, content_index: 0 };
      return [
        {
          type: 'response.output_item.added',
          output_index,
          item: { ...item, status: 'in_progress', content: [] },
        },
        { type: 'response.content_part.added', ...inItem, part: { ...part, text: '' } },
        ...deltasOf(text).map((delta) => ({
          type: 'response.output_text.delta',
          ...inItem,
          delta,
          logprobs: [],
        })),
        { type: 'response.output_text.done', ...inItem, text, logprobs: [] },
        { type: 'response.content_part.done', ...inItem, part },
        { type: 'response.output_item.done', output_index, item },
      ];
    },
  };
}

function callItem({ id }: WrittenAnswer, call: WrittenCall, index: number): Item {
  const { id: call_id, name, arguments: json } = call;
  const item = { id: `fc_${id}_${index}`, type: 'function_call', call_id, name, arguments: json };
  const done = { ...item, status: 'completed' };
  return {
    item: done,
    eventsAt: (output_index) => {
      const inItem = { item_id: item.id, output_index };
      return [
        {
          type: 'response.output_item.added',
          output_index,
          item: { ...item, status: 'in_progress', arguments: '' },
        },
        ...deltasOf(json).map((delta) => ({
          type: 'response.function_call_arguments.delta',
          ...inItem,
          delta,
        })),
        { type: 'response.function_call_arguments.done', ...inItem, name, arguments: json },
        { type: 'response.output_item.done', output_index, item: done },
      ];
    },
  };
}

const responsesUsage = (usage: Usage) => ({
  input_tokens: usage.input_tokens,
  input_tokens_details: { cached_tokens: usage.cached_input_tokens, cache_write_tokens: 0 },
  output_tokens: usage.output_tokens,
  output_tokens_details: { reasoning_tokens: usage.reasoning_tokens },
  total_tokens: tokensOf(usage),
});

/** What is the same in every state of the response. */
const headOf = ({ model, atMs }: WrittenAnswer, id: string, said: JsonRecord) => ({
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
  ...said,
  id,
  object: 'response',
  created_at: Math.floor(atMs / 1_000),
  model,
});
