/**
 * An ingest answer as `JSON.stringify` writes it. The ordinary one, of a step that was taken and a session nobody commands, is put
 * together from its parts in half the time: it is written for every message.
 */
import type { AcceptedAnswer, IngestAnswer } from '#contracts';

export const answerText = (answer: IngestAnswer): string => asciiText(answer) ?? JSON.stringify(answer);

export const answersText = (results: readonly IngestAnswer[]): string =>
  `{"results":[${results.map(answerText).join(',')}]}`;

const isOrdinary = (answer: IngestAnswer): answer is AcceptedAnswer =>
  answer.status === 'accepted' &&
  answer.warnings === undefined &&
  answer.control.state === 'active' &&
  answer.control.directives.length === 0;

/** ASCII, and nothing that JSON escapes. */
const PLAIN = /^[ !#-[\]-~]*$/;

/** A byte for each character. Null: not the ordinary answer, or not of ids that JSON writes as they are. */
export function asciiText(answer: IngestAnswer): string | null {
  if (!isOrdinary(answer)) return null;
  const { trace_id, session_id, entropy } = answer;
  if (!PLAIN.test(trace_id) || !PLAIN.test(session_id)) return null;
  const { score, severity, window_size } = entropy;
  return `{"status":"accepted","trace_id":"${trace_id}","session_id":"${session_id}","entropy":{"score":${score},"severity":"${severity}","window_size":${window_size}},"control":{"state":"active","directives":[]}}`;
}
