import { routedPath } from '../path-match.js';

const FETCHED = /\/responses\/([^/]+)$/i;
/** Answered with the response as it is by then. */
const CANCELLED = /\/responses\/([^/]+)\/cancel$/i;

/** Id of the response that a request fetches, whole or as the rest of its stream, or cancels; null: it does neither. */
export function fetchedAnswerId(method: string, path: string): string | null {
  const verb = method.toUpperCase();
  if (verb !== 'GET' && verb !== 'POST') return null;
  return (verb === 'GET' ? FETCHED : CANCELLED).exec(routedPath(path))?.[1] ?? null;
}
