/**
 * Answers that their vendor keeps and works on by itself, to be fetched later: OpenAI's responses and Google's interactions. The
 * latter are in no dialect: of one that has just begun the id alone is read.
 */
import { routedPath } from './path-match.js';
import { asName, asRecord, asText, parseJson } from './read-json.js';

const FETCHED = /\/(?:responses|interactions)\/([^/]+)$/i;
const DELETED = /\/(?:responses|chat\/completions)\/([^/]+)$/i;
/** Answered with the answer as it is by then. */
const CANCELLED = /\/(?:responses|interactions)\/([^/]+)\/cancel$/i;

/** Id of the answer that a request fetches, whole or as the rest of its stream, or cancels; null: it does neither. */
export function fetchedAnswerId(method: string, path: string): string | null {
  const verb = method.toUpperCase();
  if (verb !== 'GET' && verb !== 'POST') return null;
  return (verb === 'GET' ? FETCHED : CANCELLED).exec(routedPath(path))?.[1] ?? null;
}

/** Id of the answer that a request has its vendor delete; null: it deletes none. */
export const deletedAnswerId = (method: string, path: string): string | null =>
  method.toUpperCase() === 'DELETE' ? (DELETED.exec(routedPath(path))?.[1] ?? null) : null;

export const isInteraction = (path: string): boolean => /\/interactions$/i.test(routedPath(path));

const UNDER_WAY = new Set(['queued', 'in_progress']);
/** Of a stream's first event. */
const DATA = /^data:(.*)$/m;

/** Null: it has ended, or is none. @param text of a whole answer, or of a stream at least its first event; what is cut is none */
export function begunAnswerId(text: string): string | null {
  const said = asRecord(parseJson(DATA.exec(text)?.[1] ?? text));
  if (said?.event_type === 'interaction.created') return asName(asRecord(said.interaction)?.id);
  return UNDER_WAY.has(asText(said?.status)) ? asName(said?.id) : null;
}
