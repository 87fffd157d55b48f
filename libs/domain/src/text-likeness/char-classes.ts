/** What a character does to the words around it. One table look-up for ASCII, ranges for the rest. */
import { nfkc } from '#kernel';

export const SPACE = 0;
export const LETTER = 1;
export const DIGIT = 2;
/** Stays within a word, a number or a path when more of it follows. */
export const INNER = 3;
/** Brackets and the like: ends whatever stands before it. */
export const BORDER = 4;
export const QUOTE = 5;
export const BACKTICK = 6;
/** Han characters and kana, which stand without spaces. */
export const HAN = 7;
/** 「『《 */
export const HAN_QUOTE = 8;
/** × ≤ →: a sign of its own. */
export const SIGN = 9;
/** Full stop and question mark of Chinese text; others are ASCII after normalisation. */
export const STOP = 10;

const ascii = new Uint8Array(128);
for (let code = 0; code < 128; code += 1) {
  const char = String.fromCharCode(code);
  if (/[a-z]/i.test(char)) ascii[code] = LETTER;
  else if (/\d/.test(char)) ascii[code] = DIGIT;
  else if ("./\\_-:@#&+=~%$'*^|?,!".includes(char)) ascii[code] = INNER;
  else if (char === '"') ascii[code] = QUOTE;
  else if (char === '`') ascii[code] = BACKTICK;
  else if (code > 32 && code < 127) ascii[code] = BORDER;
}

const CURRENCY = '£¥€₹₽₩';
const HAN_OPENING = '「『《〈';

/** @param code a UTF-16 code unit; of a pair beyond the BMP, its first tells */
export function classOf(code: number): number {
  if (code < 128) return ascii[code] as number;
  if (code >= 0x4e00 && code <= 0x9fff) return HAN;
  if (code < 0xc0)
    return code === 0xb0 || code === 0xa3 || code === 0xa5 ? INNER : code === 0xa0 ? SPACE : BORDER;
  if (code < 0x2000) return code === 0xd7 || code === 0xf7 ? SIGN : LETTER;
  if (code < 0x2c00) {
    if (CURRENCY.includes(String.fromCharCode(code))) return INNER;
    if (code >= 0x2190 && code < 0x2300) return SIGN;
    if (code === 0x2028 || code === 0x2029) return SPACE;
    return code >= 0x2600 ? LETTER : BORDER;
  }
  if (code < 0x3000) return LETTER;
  if (code < 0x3040) {
    if (code === 0x3002) return STOP;
    if (code === 0x3000) return SPACE;
    if (code >= 0x3005 && code <= 0x3007) return HAN;
    return HAN_OPENING.includes(String.fromCharCode(code)) ? HAN_QUOTE : BORDER;
  }
  if (code < 0x3100 || (code >= 0x3400 && code < 0x4dc0) || (code >= 0xf900 && code < 0xfb00)) return HAN;
  // Planes 2 and 3, where the rarer ideographs are.
  if (code >= 0xd840 && code < 0xd8c0) return HAN;
  return LETTER;
}

export const isAlphanumeric = (code: number): boolean => {
  const kind = classOf(code);
  return kind === LETTER || kind === DIGIT;
};

const ODD =
  /[\u00ad\u200b\u2060\ufeff\u2018\u2019\u201a\u2039\u203a\u201c-\u201f\u00ab\u00bb\u2010-\u2013\u2212]/g;
const isAscii = (text: string): boolean => !/[\u0080-\uffff]/.test(text);

/**
 * Full-width and other forms of a character become the plain one, quotation marks straight, hyphens ASCII; what
 * cannot be seen is dropped.
 */
export function normaliseText(text: string): string {
  if (isAscii(text)) return text;
  return nfkc(text).replace(ODD, (char) => {
    if (char === '\u00ad' || char === '\u200b' || char === '\u2060' || char === '\ufeff') return '';
    if (char >= '\u2010' && char <= '\u2013') return '-';
    if (char === '\u2212') return '-';
    return char < '\u00c0' || (char >= '\u201c' && char <= '\u201f') ? '"' : "'";
  });
}
