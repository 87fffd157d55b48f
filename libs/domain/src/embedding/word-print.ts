/**
 * What the static embedder makes of one word by itself, whatever stands beside it: worth remembering, since most words
 * of a text have been met before.
 *
 * @see models/observatory-static-384/features.md, section 3
 */
import { bucketOf, GRAMS, hashByte, hashBytes, hashOfKind, NUMBERS, WORDS } from './static-buckets.js';
import { DIGIT, LETTER } from './static-characters.js';
import type { TokenClass } from './static-tokens.js';

/** Thousands of these are remembered, and a short plain array takes a third of the room of a typed one. */
export interface WordPrint {
  /** UTF-8 of the word. */
  bytes: readonly number[];
  /** Feature ids of the word alone; may repeat. */
  ids: readonly number[];
  /** Hashes so far of the kinds `w`, `x` and `b` (the word and a space), for a pair that begins with this word. */
  wState: number;
  xState: number;
  pairState: number;
}

/** Longer words have no n-grams past this many code points, the brackets included. */
const GRAM_CHARS_MAX = 34;
const SPACE = 0x20;

const states = {
  w: hashOfKind('w'),
  x: hashOfKind('x'),
  n: hashOfKind('n'),
  m: hashOfKind('m'),
  b: hashOfKind('b'),
  c: hashOfKind('c'),
};
const encoder = new TextEncoder();

export function printWord(word: string, kind: TokenClass): WordPrint {
  const bytes = Array.from(encoder.encode(word));
  const wState = hashBytes(states.w, bytes);
  const xState = hashBytes(states.x, bytes);
  const ids = [bucketOf(WORDS, wState), bucketOf(WORDS, xState)];
  if (kind === DIGIT) {
    ids.push(bucketOf(NUMBERS, hashBytes(states.n, bytes)), bucketOf(NUMBERS, hashBytes(states.m, bytes)));
  } else if (kind === LETTER) addGrams(word, ids);
  return {
    bytes,
    ids: ids.slice(),
    wState,
    xState,
    pairState: hashByte(hashBytes(states.b, bytes), SPACE),
  };
}

/** Every run of three and of four characters of the word in its brackets; none for words of one or two. */
function addGrams(word: string, ids: number[]): void {
  const characters: string[] = [];
  for (const character of word) {
    characters.push(character);
    if (characters.length > GRAM_CHARS_MAX) break;
  }
  if (characters.length < 3) return;
  const parts = ['<', ...characters, '>'].slice(0, GRAM_CHARS_MAX).map((part) => encoder.encode(part));
  for (let from = 0; from + 3 <= parts.length; from += 1) {
    let state = states.c;
    for (let at = from; at < from + 3; at += 1) state = hashBytes(state, parts[at] as Uint8Array);
    ids.push(bucketOf(GRAMS, state));
    const fourth = parts[from + 3];
    if (fourth) ids.push(bucketOf(GRAMS, hashBytes(state, fourth)));
  }
}
