/**
 * SimHash of a text: 64 bits, of which almost equal texts differ in few. Two are similar below a Hamming distance of 3.
 *
 * `fingerprint` is for what people and models write: case, white space, numbers, UUIDs and timestamps make no
 * difference (`normalise` is the same rule, written to be read). `rawFingerprint` is for what tools answer, where a
 * 42 % instead of a 41 % is the whole news.
 *
 * @see Charikar, Similarity estimation techniques from rounding algorithms, 2002; seed 001, decisions 1 and 5
 */
import { LAYOUT } from './simhash/layout.js';
import { Simhasher } from './simhash/simhasher.js';

/** Signed 32-bit halves: unsigned ones would be an object each to V8, to be looked up at every comparison. */
export interface Fingerprint {
  readonly hi: number;
  readonly lo: number;
}

export interface RawFingerprint extends Fingerprint {
  /** Hash over all tokens: equal for texts that differ in the amount of white space only. */
  readonly exact: string;
  /** Hash over all digits and where they part; "0" when there is none. */
  readonly digits: string;
}

/** Strictly below is similar. @see seed 001, decision 1 */
const SIMILAR_WHEN_DISTANCE_BELOW = 3;

/** One program for all texts but the longest, which get one of their own that is then dropped. */
const kept = new Simhasher();

/** @returns the program that has counted the text; null when nothing but white space is in it */
function simhash(text: string, isRaw: boolean): Simhasher | null {
  if (text === '') return null;
  const hasher = text.length <= kept.unitsMax ? kept : new Simhasher(text.length);
  return hasher.run(text, isRaw) ? hasher : null;
}

/**
 * Of text that people or models wrote. Null for a text of white space only, which is similar to nothing.
 * Synchronous; about 1 us and 2 ms a megabyte, a few times that where there is more than ASCII: see
 * bench/kill-switch.mjs.
 */
export const fingerprint = (text: string): Fingerprint | null => simhash(text, false)?.fingerprint ?? null;

/** Of text that a tool returned: nothing is normalised but white space. Null for white space only. */
export function rawFingerprint(text: string): RawFingerprint | null {
  const hasher = simhash(text, true);
  if (hasher === null) return null;
  return {
    ...hasher.fingerprint,
    exact: hasher.hash(LAYOUT.exact),
    digits: hasher.hash(LAYOUT.digits),
  };
}

/** Bits in which two fingerprints differ, 0..64. */
export const hammingDistance = (one: Fingerprint, other: Fingerprint): number =>
  bitCount(one.hi ^ other.hi) + bitCount(one.lo ^ other.lo);

/** As `isSimilar`, of two fingerprints' halves. */
export const isNear = (hi: number, lo: number, otherHi: number, otherLo: number): boolean =>
  bitCount(hi ^ otherHi) + bitCount(lo ^ otherLo) < SIMILAR_WHEN_DISTANCE_BELOW;

function bitCount(bits: number): number {
  let sums = bits - ((bits >>> 1) & 0x55555555);
  sums = (sums & 0x33333333) + ((sums >>> 2) & 0x33333333);
  return Math.imul((sums + (sums >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}

/** Null, the fingerprint of nothing, is similar to nothing, itself included. */
export const isSimilar = (one: Fingerprint | null, other: Fingerprint | null): boolean =>
  one !== null && other !== null && isNear(one.hi, one.lo, other.hi, other.lo);
