/**
 * What kind of character a code point is to the static embedder. The table is filled as characters are met: asking a
 * regular expression for every character of every text would be most of the work.
 *
 * @see models/observatory-static-384/features.md, section 2
 */

/** Everything that is no feature: spaces, punctuation, controls, variation selectors, lone surrogates. */
export const SEPARATOR = 1;
/** Chinese and Japanese characters: each is a token of its own. */
export const HAN = 2;
/** Letters, marks and numbers other than decimal digits. */
export const LETTER = 3;
/** Decimal digits; part of a word like a letter, but a word that has one gets number features. */
export const DIGIT = 4;
/** Signs and emoji: each is a token of its own. */
export const SYMBOL = 5;

export type CharacterClass = typeof SEPARATOR | typeof HAN | typeof LETTER | typeof DIGIT | typeof SYMBOL;

/** By code point below 0x10000; 0 = not met yet. */
const classes = new Uint8Array(0x1_0000);

export function classOfCharacter(codePoint: number): CharacterClass {
  if (codePoint >= classes.length) return classify(codePoint);
  const known = classes[codePoint];
  if (known !== 0) return known as CharacterClass;
  const found = classify(codePoint);
  classes[codePoint] = found;
  return found;
}

function classify(codePoint: number): CharacterClass {
  if (codePoint >= 0xfe00 && codePoint <= 0xfe0f) return SEPARATOR;
  if (isHan(codePoint)) return HAN;
  const character = String.fromCodePoint(codePoint);
  if (/\p{Nd}/u.test(character)) return DIGIT;
  if (/[\p{L}\p{N}\p{M}]/u.test(character)) return LETTER;
  return /\p{S}/u.test(character) ? SYMBOL : SEPARATOR;
}

function isHan(codePoint: number): boolean {
  if (codePoint < 0x3005) return false;
  return (
    codePoint <= 0x3007 ||
    (codePoint >= 0x3040 && codePoint <= 0x30ff) ||
    (codePoint >= 0x3400 && codePoint <= 0x4dbf) ||
    (codePoint >= 0x4e00 && codePoint <= 0x9fff) ||
    (codePoint >= 0xf900 && codePoint <= 0xfaff) ||
    (codePoint >= 0x2_0000 && codePoint <= 0x3_23af)
  );
}
