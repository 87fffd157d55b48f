/**
 * What an entry costs in memory, as V8 lays it out; bench/cache.mjs holds it against the real heap. Strings are most of
 * it: one byte a character as long as all of them are below U+0100, two as soon as one is not.
 */
import type { CacheEntry } from '#contracts';

/** Objects and map slots of an entry, without strings. */
const ENTRY_BYTES = 520;
const TOOL_CALL_BYTES = 56;
const STRING_HEADER_BYTES = 16;
/** Rows and blocks are never quite full, and a sketch lies beside each vector of a large set. */
const VECTOR_SHARE = 1.12;
const VECTOR_SLOT_BYTES = 24;
/** Of one set of vectors, however few are in it. */
export const VECTOR_SET_BYTES = 900;

/** An entry may take this share of the bytes; a larger one is refused, since it would push out too many others. */
const ENTRY_BYTES_SHARE_MAX = 1 / 16;

export const entryBytesMax = (bytesMax: number): number => Math.floor(bytesMax * ENTRY_BYTES_SHARE_MAX);

const WIDE = /[\u0100-\uffff]/;

const stringBytes = (text: string): number =>
  // Aligned to eight.
  (STRING_HEADER_BYTES + text.length * (WIDE.test(text) ? 2 : 1) + 7) & ~7;

const vectorBytes = (dimension: number): number =>
  Math.ceil(4 * dimension * VECTOR_SHARE) + VECTOR_SLOT_BYTES;

/** @param dimension of the vector that is kept for it; 0: none */
export function entryBytes(entry: CacheEntry, dimension: number): number {
  const { answer } = entry;
  const texts = [entry.key, entry.scope, entry.agent_id, entry.upstream, entry.prompt];
  let bytes = ENTRY_BYTES + (dimension === 0 ? 0 : vectorBytes(dimension));
  for (const text of [...texts, answer.answer_id, answer.model, answer.text])
    if (text !== null && text !== '') bytes += stringBytes(text);
  for (const call of answer.tool_calls)
    bytes +=
      TOOL_CALL_BYTES +
      (call.id === null ? 0 : stringBytes(call.id)) +
      stringBytes(call.name) +
      stringBytes(call.arguments);
  return bytes;
}
