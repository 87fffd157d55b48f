/**
 * An ingest answer as `JSON.stringify` writes it. The ordinary one, of a step that was taken and a session nobody commands, is put
 * together from its parts in half the time: it is written for every message.
 */
import type { AcceptedAnswer, IngestAnswer } from '#contracts';

export const answerText = (answer: IngestAnswer): string =>
  isOrdinary(answer) ? acceptedText(answer) : JSON.stringify(answer);

export const answersText = (results: readonly IngestAnswer[]): string =>
  `{"results":[${results.map(answerText).join(',')}]}`;

const isOrdinary = (answer: IngestAnswer): answer is AcceptedAnswer =>
  answer.status === 'accepted' &&
  answer.warnings === undefined &&
  answer.control.state === 'active' &&
  answer.control.directives.length === 0;

/** Nothing that JSON escapes. */
const PLAIN = /^[ !#-[\]-~]*$/;

const quoted = (text: string): string => (PLAIN.test(text) ? `"${text}"` : JSON.stringify(text));

function acceptedText({ trace_id, session_id, entropy }: AcceptedAnswer): string {
  const ids = `"trace_id":${quoted(trace_id)},"session_id":${quoted(session_id)}`;
  const { score, severity, window_size } = entropy;
  return `{"status":"accepted",${ids},"entropy":{"score":${score},"severity":"${severity}","window_size":${window_size}},"control":{"state":"active","directives":[]}}`;
}
