/**
 * What a request on a path that no dialect reads may use. It is passed through as it came; but an agent that embeds, completes in
 * the older way or compacts is paid for like any other, one that sends a recording or a picture costs nobody knows what, and one
 * that asks for a list, counts tokens or leaves a file costs nothing.
 */
import { namedModels } from './named-models.js';
import { routedPath } from './path-match.js';
import { asBound, asModel, asRecord, type JsonRecord } from './read-json.js';
import { triedCount } from './tried-count.js';

export interface UnreadRequest {
  /** Of a path that is paid by the token; null for any other. */
  model: string | null;
  /** Null: it sets no bound. */
  output_tokens_max: number | null;
  /** Answers that are written, and paid for, at once. */
  choice_count: number;
  /** `unknown`: it is paid for by the minute, the picture or the like; its bytes say nothing of tokens. */
  takes: 'nothing' | 'tokens' | 'unknown';
  /** `namedModels`; of what costs nothing, and of a body that is no JSON, none. */
  named_models: readonly string[];
}

const FREE: UnreadRequest = {
  model: null,
  output_tokens_max: 0,
  choice_count: 1,
  takes: 'nothing',
  named_models: [],
};
const UPLOAD: UnreadRequest = { ...FREE, takes: 'unknown' };
/** Counts tokens, or cancels what is worked on. */
const COUNTS = /(?:\/count_tokens|\/input_tokens|:counttokens|\/count-tokens:rawpredict|\/cancel)$/;
/** Takes its input, and writes nothing: embeddings, and what is looked at for harm. */
const ONLY_READS = /(?:\/embeddings|\/moderations|:(?:batch)?embedcontents?)$/;
const WRITES = /\/(?:completions|responses\/compact|decisions)$/;
/** Whole files, files in parts, and skills, which are files. */
const KEEPS = /\/(?:files|uploads\/[^/]+\/parts|skills|skills\/[^/]+\/versions)$/;
/** Gemini's, in pieces: its SDK calls each of them JSON. */
const IN_PIECES = /^\/upload\//;
const MODEL_IN_PATH = /\/models\/([^/]+):[^/:]+$/;

/** @param body as parsed; its bytes where it is no JSON, such as an upload; undefined where there is none */
export function readUnreadRequest(method: string, path: string, body: unknown): UnreadRequest {
  const plain = routedPath(path);
  const place = plain.toLowerCase();
  if (method.toUpperCase() !== 'POST' || body === undefined || COUNTS.test(place)) return FREE;
  if (body instanceof Uint8Array || IN_PIECES.test(place)) return KEEPS.test(place) ? FREE : UPLOAD;
  const request = asRecord(body) ?? {};
  const named_models = namedModels(path, body);
  if (ONLY_READS.test(place)) {
    const model = asModel(MODEL_IN_PATH.exec(plain)?.[1]) ?? asModel(request.model);
    return { model, output_tokens_max: 0, choice_count: 1, takes: 'tokens', named_models };
  }
  const each = asBound(request.max_tokens);
  const choices = triedCount(request) * promptCount(request);
  return {
    model: WRITES.test(place) ? asModel(request.model) : null,
    output_tokens_max: each === null ? null : asBound(each * choices),
    choice_count: choices,
    takes: 'tokens',
    named_models,
  };
}

/** Of a completion in the older way: each of several prompts is answered for itself. A list of numbers is one, in tokens. */
function promptCount({ prompt }: JsonRecord): number {
  return Array.isArray(prompt) && typeof prompt[0] !== 'number' ? Math.max(1, prompt.length) : 1;
}
