/** Writes a finished interaction, or all events of its stream. */
import { tokensOf, type Usage } from '#contracts';
import type { AnswerToWrite, OwnAnswer, ReplayToWrite } from '../dialect.js';
import { asRecord, type JsonRecord } from '../read-json.js';
import { JSON_TYPE, STREAM_TYPE, sseEvent } from '../sse-event.js';
import {
  argumentsObject,
  cachedUsage,
  deltasOf,
  idAtVendor,
  NO_USAGE,
  type WrittenAnswer,
  writtenCalls,
} from '../written-answer.js';
import { readInteractionRequest } from './read-request.js';

interface Step {
  /** As a whole answer has it. */
  whole: JsonRecord;
  /** As its stream begins it, and goes on. */
  begun: JsonRecord;
  deltas: readonly JsonRecord[];
}

export const writeInteractionAnswer = (answer: AnswerToWrite): OwnAnswer =>
  writeInteraction({ ...answer, tool_calls: [], usage: NO_USAGE }, `v1_${answer.id}`, [
    textStep(answer.text),
  ]);

/**
 * Null where the caller may go on from the interaction by its id and the vendor would not know it: unless the request says
 * `store: false`, only the vendor's own, under its own id, will do.
 */
export function writeInteractionReplay({ answer, body, id, atMs }: ReplayToWrite): OwnAnswer | null {
  const fields = asRecord(body) ?? {};
  const keptId = fields.store === false ? `v1_${id}` : idAtVendor(answer, 'gemini-interactions');
  if (fields.background || keptId === null) return null;
  const calls = writtenCalls(
    answer,
    'gemini-interactions',
    (call, index) => call.id ?? `call_${id}_${index}`,
  );
  const steps: Step[] = answer.text !== '' || calls.length === 0 ? [textStep(answer.text)] : [];
  for (const call of calls) {
    const args = argumentsObject(call.arguments);
    if (args === null) return null;
    const begun = { type: 'function_call', id: call.id, name: call.name, arguments: {} };
    steps.push({
      whole: { ...begun, arguments: args },
      begun,
      deltas: deltasOf(call.arguments).map((piece) => ({ type: 'arguments_delta', arguments: piece })),
    });
  }
  const request = readInteractionRequest(body);
  const written = {
    id,
    model: answer.model ?? request.model ?? '',
    text: answer.text,
    tool_calls: calls,
    usage: cachedUsage(answer.usage),
    stream: request.stream,
    atMs,
  };
  return writeInteraction(written, keptId, steps);
}

const textStep = (text: string): Step => ({
  whole: { type: 'model_output', content: [{ type: 'text', text }] },
  begun: { type: 'model_output' },
  deltas: deltasOf(text).map((piece) => ({ type: 'text', text: piece })),
});

function writeInteraction(answer: WrittenAnswer, id: string, steps: readonly Step[]): OwnAnswer {
  const { model, usage, stream, atMs, tool_calls } = answer;
  // As the vendor writes them, to the second.
  const time = new Date(atMs).toISOString().replace(/\.\d+Z$/, 'Z');
  const head = { id, object: 'interaction', model, created: time, updated: time };
  const completed = {
    ...head,
    status: tool_calls.length > 0 ? 'requires_action' : 'completed',
    ...(usage && { usage: interactionUsage(usage) }),
  };
  if (!stream)
    return {
      contentType: JSON_TYPE,
      body: JSON.stringify({ ...completed, steps: steps.map(({ whole }) => whole) }),
    };
  const status = 'in_progress';
  const body = [
    event('interaction.created', { interaction: { ...head, status } }),
    event('interaction.status_update', { interaction_id: id, status }),
    ...steps.flatMap(({ begun, deltas }, index) => [
      event('step.start', { index, step: begun }),
      ...deltas.map((delta) => event('step.delta', { index, delta })),
      event('step.stop', { index }),
    ]),
    event('interaction.completed', { interaction: completed }),
    'event: done\ndata: [DONE]\n\n',
  ];
  return { contentType: STREAM_TYPE, body: body.join('') };
}

const event = (event_type: string, members: object): string =>
  sseEvent(event_type, { event_type, ...members });

const interactionUsage = (usage: Usage) => ({
  total_input_tokens: usage.input_tokens,
  total_cached_tokens: usage.cached_input_tokens,
  total_output_tokens: usage.output_tokens - usage.reasoning_tokens,
  total_thought_tokens: usage.reasoning_tokens,
  total_tool_use_tokens: 0,
  total_tokens: tokensOf(usage),
});
