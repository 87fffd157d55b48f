/** Writes a finished `GenerateContentResponse`; a stream is one such, as an event or as an array of one. */
import type { AnswerToWrite, OwnAnswer } from '../dialect.js';
import { JSON_TYPE, STREAM_TYPE, sseEvent } from '../sse-event.js';
import { isSseQuery } from './path.js';

export function writeGeminiAnswer({ id, model, text, stream, query }: AnswerToWrite): OwnAnswer {
  const response = {
    candidates: [{ content: { parts: [{ text }], role: 'model' }, finishReason: 'STOP', index: 0 }],
    usageMetadata: { promptTokenCount: 0, candidatesTokenCount: 0, totalTokenCount: 0 },
    modelVersion: model,
    responseId: id,
  };
  if (!stream) return { contentType: JSON_TYPE, body: JSON.stringify(response) };
  if (isSseQuery(query)) return { contentType: STREAM_TYPE, body: sseEvent(null, response) };
  return { contentType: JSON_TYPE, body: JSON.stringify([response]) };
}
