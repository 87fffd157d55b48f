/**
 * For whoever tells one value from another: JSON.parse makes one number of whole numbers that differ beyond 2^53, such as the ids
 * of 64 bits that many services give. Nothing that is written anew and sent on may be read so.
 */
import { JsonStrings } from './json-bounds.js';
import { withoutMark } from './json-bytes.js';

const QUOTE = 0x22;
const MINUS = 0x2d;
/** All that are shorter are what they say. */
const ROUNDED_CHARS_MIN = 16;
const WHOLE = /^-?[1-9]\d*$/;

/**
 * JSON.parse, but that each whole number which would be written otherwise than it came is a text of its digits.
 *
 * @throws SyntaxError
 */
export function parseJsonExactly(bytes: Buffer): unknown {
  const json = withoutMark(bytes);
  const value: unknown = JSON.parse(json.toString('utf8'));
  const exact = replaceNumbers(json, ROUNDED_CHARS_MIN, (number) =>
    WHOLE.test(number) && number !== String(Number(number)) ? `"${number}"` : null,
  );
  return exact === null ? value : JSON.parse(exact);
}

/**
 * @param json valid, without a mark before it
 * @param charsMin of a number that is looked at
 * @param replace what stands in a number's place; null: it stays as it is written
 * @returns the text; null where all stay
 */
export function replaceNumbers(
  json: Buffer,
  charsMin: number,
  replace: (number: string) => string | null,
): string | null {
  const strings = new JsonStrings(json);
  const pieces: string[] = [];
  let from = 0;
  for (let at = 0; at < json.length; at += 1) {
    if (json[at] === QUOTE) at = strings.endOf(at);
    else if (startsNumber(json[at])) {
      const start = at;
      while (isOfNumber(json[at + 1])) at += 1;
      if (at + 1 - start < charsMin) continue;
      const replaced = replace(json.toString('latin1', start, at + 1));
      if (replaced === null) continue;
      pieces.push(json.toString('utf8', from, start), replaced);
      from = at + 1;
    }
  }
  if (from === 0) return null;
  pieces.push(json.toString('utf8', from));
  return pieces.join('');
}

/** A number in it may have been another one in its text. @param value not deep */
export const mayBeRounded = (value: unknown): boolean =>
  typeof value === 'number'
    ? Math.abs(value) > Number.MAX_SAFE_INTEGER
    : typeof value === 'object' && value !== null && Object.values(value).some(mayBeRounded);

const startsNumber = (byte = 0): boolean => byte === MINUS || (byte >= 0x30 && byte <= 0x39);

/** A digit, or one of `.eE+-`. */
const isOfNumber = (byte = 0): boolean =>
  startsNumber(byte) || byte === 0x2e || byte === 0x2b || (byte | 0x20) === 0x65;
