/**
 * How deep a JSON text nests, how many values it holds and whether they are read as they are written, without parsing it.
 * A million brackets cost the parser a second and more, and so do a million empty objects to whatever walks over them, of
 * a text that is small in bytes; nobody needs either. Strings are skipped by a native search, so a prompt costs next to
 * nothing whatever its length.
 */
import { ObservatoryError } from '#contracts';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;

export interface JsonBounds {
  depthMax: number;
  /** Members, elements and the objects and arrays around them, by their commas and brackets. */
  valuesMax: number;
}

/** Which bound it passes, as soon as it does; null: none. Text that is no JSON gets some answer; the parser will say more. */
export function passedBound(bytes: Buffer, { depthMax, valuesMax }: JsonBounds): keyof JsonBounds | null {
  let depth = 0;
  let values = 0;
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (byte === QUOTE) {
      at = stringEnd(bytes, at + 1);
      if (at < 0) return null;
    } else if (byte === 0x7b || byte === 0x5b) {
      depth += 1;
      values += 1;
      if (depth > depthMax) return 'depthMax';
    } else if (byte === 0x7d || byte === 0x5d) depth -= 1;
    else if (byte === COMMA) values += 1;
    if (values > valuesMax) return 'valuesMax';
  }
  return null;
}

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
  for (let at = 0; at < bytes.length; at += 1) {
    if (bytes[at] === QUOTE) {
      at = stringEnd(bytes, at + 1);
      if (at < 0) return false;
    } else if (isDigit(bytes[at])) {
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

/** Of the closing quote: one that an even number of back-slashes precedes. -1: there is none. */
function stringEnd(bytes: Buffer, from: number): number {
  let end = bytes.indexOf(QUOTE, from);
  while (end >= 0) {
    let slashes = end;
    while (slashes > from && bytes[slashes - 1] === BACKSLASH) slashes -= 1;
    if ((end - slashes) % 2 === 0) return end;
    end = bytes.indexOf(QUOTE, end + 1);
  }
  return -1;
}
