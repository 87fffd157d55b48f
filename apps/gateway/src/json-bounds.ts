/** What a JSON text may hold to be parsed, and whether its numbers are read as they are written. */
import { ObservatoryError } from '#contracts';
import { type JsonBounds, JsonStrings, passedBound } from '#kernel';

const QUOTE = 0x22;

/** @throws ObservatoryError invalid_json, payload_too_large: a body that passes one of them goes no further */
export function requireWithin(bytes: Buffer, bounds: JsonBounds): void {
  const passed = passedBound(bytes, bounds);
  if (passed === 'depthMax')
    throw new ObservatoryError('invalid_json', `The body nests deeper than ${bounds.depthMax} levels.`);
  if (passed === 'valuesMax')
    throw new ObservatoryError(
      'payload_too_large',
      `The body holds more than ${bounds.valuesMax} JSON values.`,
    );
  if (passed === 'namesMax')
    throw new ObservatoryError(
      'payload_too_large',
      `The body holds more than ${bounds.namesMax} different names of JSON members. Send what varies as values, or less at once.`,
    );
}

/** A number of so many signs is what it says, unless an exponent makes it larger or smaller than any. */
const EXACT_CHARS_MAX = 15;
const LETTER_E = 0x65;
const LOWER_CASE = 0x20;

/**
 * Whether JSON.parse makes of some number another one than is written there, so that two texts which say different things
 * may come to the same value. A trailing zero makes no difference.
 */
export function holdsRoundedNumber(bytes: Buffer): boolean {
  const strings = new JsonStrings(bytes);
  for (let at = 0; at < bytes.length; at += 1) {
    if (bytes[at] === QUOTE) at = strings.endOf(at);
    else if (isDigit(bytes[at])) {
      const from = at;
      let hasExponent = false;
      for (; isOfNumber(bytes[at + 1]); at += 1) hasExponent ||= isExponent(bytes[at + 1]);
      const isShort = at - from < EXACT_CHARS_MAX && !hasExponent;
      if (!isShort && isRounded(bytes.toString('latin1', from, at + 1))) return true;
    }
  }
  return false;
}

const isDigit = (byte = 0): boolean => byte >= 0x30 && byte <= 0x39;
const isExponent = (byte = 0): boolean => (byte | LOWER_CASE) === LETTER_E;
const isOfNumber = (byte: number | undefined): boolean =>
  isDigit(byte) || isExponent(byte) || byte === 0x2e || byte === 0x2b || byte === 0x2d;

/** The shortest text that gives a number has the digits of every text that says the same. */
const isRounded = (text: string): boolean => digitsOf(text) !== digitsOf(String(Number(text)));

/** Zeros are looked at once: from each of a run the search for its end would begin anew, 100,000 of them for 13 seconds. */
const digitsOf = (text: string): string =>
  text
    .replace(/e.*/i, '')
    .replace('.', '')
    .replace(/^0+/, '')
    .replace(/(?<!0)0+$/, '');

/**
 * Characters of something that is parsed already, about as many as its JSON text has: its names, texts and what parts them.
 * Null: it holds more values than this. Looks at no more of it than that.
 */
export function charsOf(root: unknown, valuesMax: number): number | null {
  if (typeof root === 'string') return root.length;
  const open: unknown[] = [root];
  let values = 0;
  let chars = 0;
  for (let value = open.pop(); value !== undefined; value = open.pop()) {
    if (typeof value !== 'object' || value === null) continue;
    for (const key in value) {
      values += 1;
      if (values > valuesMax) return null;
      const member = (value as Record<string, unknown>)[key];
      chars += key.length + CHARS_BESIDE;
      if (typeof member === 'string') chars += member.length;
      else if (typeof member === 'object' && member !== null) open.push(member);
    }
  }
  return chars;
}

/** Of a member, without its name and its text: quotes, colon, comma, or a number. */
const CHARS_BESIDE = 6;
