/**
 * What a request on a path that no dialect reads may use. It is passed through as it came; but an agent that embeds, completes in
 * the older way or compacts is paid for like any other, and one that asks for a list or counts tokens is not.
 */
import { routedPath } from './path-match.js';
import { asBound, asModel, asRecord } from './read-json.js';

export interface UnreadRequest {
  /** Of a path that is paid by the token; null for any other. */
  model: string | null;
  /** Null: it sets no bound. */
  output_tokens_max: number | null;
  /** Takes no tokens at all. */
  isFree: boolean;
}

const FREE: UnreadRequest = { model: null, output_tokens_max: 0, isFree: true };
const COUNTS = /(?:\/count_tokens|\/input_tokens|:counttokens)$/;
const EMBEDS = /(?:\/embeddings|:(?:batch)?embedcontents?)$/;
const WRITES = /\/(?:completions|responses\/compact)$/;
const MODEL_IN_PATH = /\/models\/([^/]+):[^/:]+$/;

/** @param body as parsed; undefined where it is no JSON, such as an upload, or where there is none */
export function readUnreadRequest(method: string, path: string, body: unknown): UnreadRequest {
  const plain = routedPath(path);
  const place = plain.toLowerCase();
  if (method.toUpperCase() !== 'POST' || body === undefined || COUNTS.test(place)) return FREE;
  const request = asRecord(body) ?? {};
  if (EMBEDS.test(place)) {
    const model = asModel(MODEL_IN_PATH.exec(plain)?.[1]) ?? asModel(request.model);
    return { model, output_tokens_max: 0, isFree: false };
  }
  const each = asBound(request.max_tokens);
  return {
    model: WRITES.test(place) ? asModel(request.model) : null,
    output_tokens_max: each === null ? null : asBound(each * (asBound(request.n) ?? 1)),
    isFree: false,
  };
}
