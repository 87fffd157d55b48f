/** What every dialect needs to write an answer: of our own words, or one that was given before. */
import type { CachedAnswer, DialectName, LlmToolCall, Usage } from '#contracts';
import { wholeEnd } from '#kernel';
import { hasExactNumbers } from './lossless.js';
import { asRecord, type JsonRecord, parseJson } from './read-json.js';

export interface WrittenCall {
  id: string;
  name: string;
  /** JSON text. */
  arguments: string;
}

export interface WrittenAnswer {
  /** Ours, for the ids that the vendor makes. */
  id: string;
  model: string;
  text: string;
  tool_calls: readonly WrittenCall[];
  /** Null: the vendor told none. */
  usage: Readonly<Usage> | null;
  stream: boolean;
  atMs: number;
}

export const NO_USAGE: Readonly<Usage> = Object.freeze({
  input_tokens: 0,
  cached_input_tokens: 0,
  cache_write_tokens: 0,
  output_tokens: 0,
  reasoning_tokens: 0,
});

/** All input read from a cache, none written to one. */
export const cachedUsage = (usage: Usage | null): Readonly<Usage> | null =>
  usage && { ...usage, cached_input_tokens: usage.input_tokens, cache_write_tokens: 0 };

/** Under which the vendor keeps the answer; null: it would know none. */
export const idAtVendor = ({ dialect, answer_id }: CachedAnswer, vendor: DialectName): string | null =>
  dialect === vendor ? answer_id : null;

/** As it was made, under the id that its result will name; where it has none that fits, under one of ours. */
export function writtenCalls(
  { dialect, tool_calls }: CachedAnswer,
  to: DialectName,
  idOf: (call: LlmToolCall, index: number) => string,
): WrittenCall[] {
  return tool_calls.map((call, index) => ({
    id: idOf(call, index),
    name: call.name,
    // No arguments are no text where they came from, but elsewhere they are an object.
    arguments: call.arguments === '' && dialect !== to ? '{}' : call.arguments,
  }));
}

/**
 * Arguments as an object, for the vendors that carry one. Null: they are none, or would not be the same written anew.
 */
export function argumentsObject(text: string): JsonRecord | null {
  if (text === '') return {};
  const value = asRecord(parseJson(text));
  return value !== undefined && hasExactNumbers(value) ? value : null;
}

/** A stream of an answer has no more deltas than this, however long it is... */
const DELTAS_MAX = 256;
/** ...and none shorter than this but the last. */
const DELTA_CHARS_MIN = 160;

/** The text in pieces that never part a surrogate pair; none for "". */
export function deltasOf(text: string): string[] {
  const size = Math.max(DELTA_CHARS_MIN, Math.ceil(text.length / DELTAS_MAX));
  const deltas: string[] = [];
  for (let start = 0; start < text.length; ) {
    const end = wholeEnd(text, Math.min(start + size, text.length));
    deltas.push(text.slice(start, end));
    start = end;
  }
  return deltas;
}
