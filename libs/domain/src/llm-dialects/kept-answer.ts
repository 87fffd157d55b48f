/**
 * Answers that their vendor keeps and works on by itself, to be fetched later: OpenAI's responses and Google's interactions.
 */
import { routedPath } from './path-match.js';

const FETCHED = /\/(?:responses|interactions)\/([^/]+)$/i;
const DELETED = /\/(?:responses|interactions|chat\/completions)\/([^/]+)$/i;
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
