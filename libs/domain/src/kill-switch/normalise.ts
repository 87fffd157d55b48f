/**
 * What the kill switch takes two texts to have in common: their words and signs, not their case, white space, numbers,
 * UUIDs or timestamps. This is the rule to read and to test against; `fingerprint` applies it in its own single pass.
 *
 * - A number stands at the start of a word: `7`, `1,000,000`, `3.14`, `6.02e23`, `0x7ffe`, and in `10ms`, `4th`,
 *   `order-17`, `user_17`. Digits that follow a letter belong to a name: `gpt4`, `h2o`, `utf8` and `file2` stay.
 * - A UUID is 8-4-4-4-12 hex digits, nothing shorter: `deadbeef`, `face` and a commit's hash stay words.
 * - A timestamp is an ISO 8601 date, in the extended format (hyphens, colons), with or without `T` and a time.
 *
 * @see seed 001, decision 5
 */
import { foldUnicode } from './fold.js';

const WHITE_SPACE = /[\0-\x20]+/g;
const WORD = 'a-z0-9\\x80-\\uffff';
const TIMESTAMP =
  '\\d{4}-\\d\\d-\\d\\d(?:t\\d\\d:\\d\\d(?::\\d\\d(?:[.,]\\d+)?)?(?:z|[+-]\\d\\d:?(?:\\d\\d)?)?)?';
const UUID = '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}';
const NUMBER = '0x[0-9a-f]+|\\d+(?:[.,]\\d+)*(?:e[+-]?\\d+)?';
/** A look-ahead that is then repeated takes the timestamp whole or not at all, never a shorter part of it. */
const VARYING = new RegExp(
  `(?<![${WORD}])(?:(${UUID})(?![${WORD}])|(?=(${TIMESTAMP}))\\2(?![${WORD}])|${NUMBER})`,
  'g',
);

/** Any text, any length. For reading and for tests: regular expressions, some 10 ms a megabyte. */
export const normalise = (text: string): string =>
  foldUnicode(text)
    .replace(WHITE_SPACE, ' ')
    .trim()
    .replace(VARYING, (_match, uuid, timestamp) => (uuid ? '<ID>' : timestamp ? '<TS>' : '<NUM>'));
