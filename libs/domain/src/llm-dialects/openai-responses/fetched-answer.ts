import { routedPath } from '../path-match.js';

const FETCHED = /\/responses\/([^/]+)$/i;

/** Id of the response that a request fetches, whole or as the rest of its stream; null: it fetches none. */
export const fetchedAnswerId = (method: string, path: string): string | null =>
  method.toUpperCase() === 'GET' ? (FETCHED.exec(routedPath(path))?.[1] ?? null) : null;
