/** Writes a finished `GenerateContentResponse`, or the series of them that a stream is, as events or as an array. */
import type { Usage } from '#contracts';
import type { AnswerToWrite, OwnAnswer, ReplayToWrite } from '../dialect.js';
import { JSON_TYPE, STREAM_TYPE, sseEvent } from '../sse-event.js';
import { argumentsObject, cachedUsage, deltasOf, NO_USAGE, type WrittenAnswer } from '../written-answer.js';
import { isSseQuery } from './path.js';
import { readGeminiRequest } from './read-request.js';

type Answer = Omit<WrittenAnswer, 'tool_calls' | 'atMs'>;

export const writeGeminiAnswer = ({ query, ...answer }: AnswerToWrite): OwnAnswer =>
  writeGemini({ ...answer, usage: NO_USAGE }, [], query);

export function writeGeminiReplay(replay: ReplayToWrite): OwnAnswer | null {
  const { answer, body, path, query, id } = replay;
  const calls: object[] = [];
  for (const call of answer.tool_calls) {
    const args = argumentsObject(call.arguments);
    if (args === null) return null;
    // An id is the client's to send back where there is one; the vendor needs none.
    calls.push({ functionCall: { ...(call.id === null ? {} : { id: call.id }), name: call.name, args } });
  }
  const request = readGeminiRequest(body, path);
  const written = {
    id,
    model: answer.model ?? request.model ?? '',
    text: answer.text,
    usage: cachedUsage(answer.usage),
    stream: request.stream,
  };
  return writeGemini(written, calls, query);
}

/** @param calls parts */
function writeGemini(answer: Answer, calls: readonly object[], query: string | undefined): OwnAnswer {
  const { text, stream } = answer;
  if (!stream) {
    const parts = [...(text !== '' || calls.length === 0 ? [{ text }] : []), ...calls];
    return { contentType: JSON_TYPE, body: JSON.stringify(responseOf(answer, parts, true)) };
  }
  const steps = deltasOf(text).map((text): readonly object[] => [{ text }]);
  if (calls.length > 0) steps.push(calls);
  if (steps.length === 0) steps.push([{ text }]);
  const responses = steps.map((parts, index) => responseOf(answer, parts, index === steps.length - 1));
  if (isSseQuery(query)) {
    return { contentType: STREAM_TYPE, body: responses.map((each) => sseEvent(null, each)).join('') };
  }
  return {
    contentType: JSON_TYPE,
    body: `[${responses.map((each) => JSON.stringify(each)).join(',\n')}]`,
  };
}

const responseOf = ({ id, model, usage }: Answer, parts: readonly object[], isLast: boolean) => ({
  candidates: [{ content: { parts, role: 'model' }, ...(isLast ? { finishReason: 'STOP' } : {}), index: 0 }],
  ...(usage && { usageMetadata: geminiUsage(usage, isLast) }),
  modelVersion: model,
  responseId: id,
});

const geminiUsage = (usage: Usage, isLast: boolean) => ({
  promptTokenCount: usage.input_tokens,
  ...(usage.cached_input_tokens > 0 ? { cachedContentTokenCount: usage.cached_input_tokens } : {}),
  ...(isLast ? { candidatesTokenCount: usage.output_tokens - usage.reasoning_tokens } : {}),
  ...(isLast && usage.reasoning_tokens > 0 ? { thoughtsTokenCount: usage.reasoning_tokens } : {}),
  totalTokenCount: usage.input_tokens + (isLast ? usage.output_tokens : 0),
});
