import { wholeEnd } from './whole-end.js';

/** What strangers wrote (names, ids), fit for a title, a subject or a log. */
const SHOWN_CHARS_MAX = 120;

/** One line without control and direction characters, at most `charsMax` UTF-16 units, no pair of surrogates parted. */
export const oneLine = (text: string, charsMax = SHOWN_CHARS_MAX): string => {
  const plain = text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ');
  return plain.length > charsMax ? `${plain.slice(0, wholeEnd(plain, charsMax - 1))}…` : plain;
};
