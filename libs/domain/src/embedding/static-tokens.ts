/**
 * Text as the static embedder reads it: normalised, then cut into words, single Chinese characters and single signs.
 *
 * @see models/observatory-static-384/features.md, sections 1 and 2
 */
import { nfkc } from '#kernel';
import {
  type CharacterClass,
  classOfCharacter,
  DIGIT,
  HAN,
  LETTER,
  SEPARATOR,
  SYMBOL,
} from './static-characters.js';

/** Entries kept from either end of a text that has more than twice as many. */
export const STATIC_END_COUNT = 512;

/** A word with a decimal digit in it is of class `DIGIT`. A `SEPARATOR` is a break: no pair reaches across it. */
export type TokenClass = CharacterClass;

/** Two arrays in step; of a break the word is empty. */
export interface StaticTokens {
  words: string[];
  classes: TokenClass[];
}

const normalise = (text: string): string =>
  nfkc(text)
    .toLowerCase()
    .replaceAll('\u2019', "'")
    .replace(/n't(?![a-z])/g, ' not');

/** At most `2 * STATIC_END_COUNT` entries, the ends of a longer text. Never throws. Cost: linear in the text. */
export function tokeniseForStatic(text: string): StaticTokens {
  const normal = normalise(text);
  const words: string[] = [];
  const classes: TokenClass[] = [];
  let wordFrom = -1;
  let wordClass: TokenClass = LETTER;
  for (let at = 0; at <= normal.length; ) {
    const codePoint = normal.codePointAt(at);
    const width = codePoint !== undefined && codePoint > 0xffff ? 2 : 1;
    const kind = codePoint === undefined ? null : classOfCharacter(codePoint);
    if (kind === LETTER || kind === DIGIT) {
      if (wordFrom < 0) {
        wordFrom = at;
        wordClass = kind;
      } else if (kind === DIGIT) wordClass = DIGIT;
    } else {
      if (wordFrom >= 0) {
        words.push(normal.slice(wordFrom, at));
        classes.push(wordClass);
        wordFrom = -1;
      }
      if (kind === HAN || kind === SYMBOL) {
        words.push(normal.slice(at, at + width));
        classes.push(kind);
      } else if (kind === SEPARATOR && classes[classes.length - 1] === HAN) {
        words.push('');
        classes.push(SEPARATOR);
      }
    }
    at += width;
  }
  return { words: keepEnds(words), classes: keepEnds(classes) };
}

const keepEnds = <T>(entries: T[]): T[] =>
  entries.length <= 2 * STATIC_END_COUNT
    ? entries
    : [...entries.slice(0, STATIC_END_COUNT), ...entries.slice(-STATIC_END_COUNT)];
