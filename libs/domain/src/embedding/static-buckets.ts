/**
 * Where the static embedder's features live in its table: each kind hashes into a region of its own, so that frequent
 * n-grams never overwrite a word. FNV-1a, 32 bit, over the kind's letter and the feature's UTF-8.
 *
 * @see models/observatory-static-384/features.md, section 4
 */

interface Region {
  offset: number;
  /** Prime. */
  size: number;
}

export const WORDS: Region = { offset: 0, size: 18_041 };
export const PAIRS: Region = { offset: 18_041, size: 3_067 };
export const GRAMS: Region = { offset: 21_108, size: 9_091 };
export const NUMBERS: Region = { offset: 30_199, size: 509 };

/** Rows of the table: every feature id is below this. */
export const STATIC_BUCKET_COUNT = 30_708;

const BASIS = 0x811c9dc5;
const PRIME = 0x01000193;

/** A hash as it is after the one ASCII letter of a feature's kind. */
export const hashOfKind = (letter: string): number => hashByte(BASIS, letter.charCodeAt(0));

/** Goes on with one byte. The state is a signed 32-bit number; only `bucketOf` reads it as unsigned. */
export const hashByte = (state: number, byte: number): number => Math.imul(state ^ byte, PRIME);

export function hashBytes(state: number, bytes: ArrayLike<number>): number {
  let hash = state;
  for (let at = 0; at < bytes.length; at += 1) hash = Math.imul(hash ^ (bytes[at] as number), PRIME);
  return hash;
}

export const bucketOf = (region: Region, state: number): number =>
  region.offset + ((state >>> 0) % region.size);
