/**
 * One run of characters without a space: a word, a number, or something a machine reads (a path, a flag, a name in
 * camelCase). Each run is looked at a bounded number of times; one too long to be any of these is compared as it is.
 */
import { type NumberRun, readNumber, spelledUnit } from './read-number.js';

/** Longer runs are literals: keys, base64, hashes. */
export const RUN_CHARS_MAX = 96;

const ABBREVIATION = /^(?:[a-z]\.)+[a-z]?$/i;
const JOINED = /^(?:re|e|co|pre|un|sub|multi|auto)$/;
const CAMEL = /[\p{Ll}\d]\p{Lu}|\p{Lu}\p{Lu}\p{Ll}/u;
const PLURAL_ACRONYM = /^\p{Lu}{2,}s$/u;
const LAST_LETTERS = /[a-z]{1,4}$/i;
const EXTENSION = /\.[a-z0-9]{1,10}$/;
const SLASHED_WORDS = new Map([
  ['and/or', 'or'],
  ['w/o', 'without'],
  ['w/', 'with'],
  ['he/she', 'they'],
  ['his/her', 'their'],
  ['n/a', 'none'],
]);

const JOINED_VERBS = new Map([
  ['s', 'is'],
  ['re', 'are'],
  ['m', 'am'],
  ['ll', 'will'],
  ['d', 'would'],
  ['ve', 'have'],
]);
/** An `s` behind other words is whose it is; what "it's been" leaves out is not told from it. */
const IS_BEHIND = new Set('it that there here what who where when why how he she'.split(' '));

/** Takes what a run turned out to be. */
export interface RunSink {
  word(raw: string): void;
  number(read: NumberRun, raw: string): void;
  code(key: string): void;
}

/**
 * @param raw without the punctuation around it
 * @param hasDigit there is a digit in it
 * @param hasInner there is something in it that is neither letter nor digit
 */
export function readRun(raw: string, hasDigit: boolean, hasInner: boolean, sink: RunSink): void {
  if (raw.length > RUN_CHARS_MAX) {
    sink.code(raw);
    return;
  }
  if (!hasDigit && !hasInner) {
    readPlain(raw, sink);
    return;
  }
  if (raw.includes('://') || raw.startsWith('www.')) {
    sink.code(raw.replace(/\/$/, ''));
    return;
  }
  if (raw.includes('@')) {
    sink.code(raw.toLowerCase());
    return;
  }
  if (!hasDigit) {
    readJoined(raw, sink);
    return;
  }
  const lower = raw.toLowerCase();
  if (isCodeWithDigits(raw, lower)) {
    sink.code(/[/\\]/.test(raw) ? raw : lower);
    return;
  }
  const unit = LAST_LETTERS.exec(raw)?.[0] ?? '';
  sink.number(readNumber(lower.slice(0, lower.length - unit.length) + spelledUnit(unit)), raw);
}

/** Letters only. */
function readPlain(raw: string, sink: RunSink): void {
  if (PLURAL_ACRONYM.test(raw)) {
    sink.word(raw.slice(0, -1));
    return;
  }
  if (raw.length > 2 && CAMEL.test(raw) && raw !== raw.toUpperCase()) {
    sink.code(spelledUnit(raw));
    return;
  }
  sink.word(raw);
}

function isCodeWithDigits(raw: string, lower: string): boolean {
  if (/^[\d.,:/+%$€£¥#-]+$/.test(raw)) return false;
  if (/[_\\=~]|::|^--?[a-z]|^[$/.]/i.test(raw)) return true;
  if (raw.includes('/')) return /[a-z]/i.test(raw);
  // auth2.ts is a file; 3.5mb and v1.2.3 are not.
  return /\.[a-z][a-z0-9]{0,9}$/.test(lower) && /^[a-z]/.test(lower) && !/^v?\d/.test(lower);
}

/** Letters with something between or before them. */
function readJoined(raw: string, sink: RunSink): void {
  const lower = raw.toLowerCase();
  const apostrophe = raw.indexOf("'");
  if (apostrophe > 0 && !/[-_/.:=\\]/.test(raw)) {
    readContraction(raw, lower, apostrophe, sink);
    return;
  }
  const slashed = SLASHED_WORDS.get(lower);
  if (slashed !== undefined) {
    sink.word(slashed);
    return;
  }
  if (/[_/\\=$^|*&~]|^-|^%|::/.test(raw)) {
    if (/^[A-Z]&[A-Z]$/.test(raw)) {
      sink.word(raw.replace('&', ''));
      return;
    }
    return void sink.code(/[/\\]|^-/.test(raw) ? raw : lower);
  }
  if (/[+#]$/.test(raw) && raw.length <= 4) {
    sink.code(lower);
    return;
  }
  if (raw.includes('.')) {
    if (ABBREVIATION.test(raw)) {
      sink.word(raw.replaceAll('.', ''));
      return;
    }
    // A full stop without its space: two words, unless the end is a file's.
    if (!EXTENSION.test(raw)) {
      readParts(raw, sink);
      return;
    }
    return void sink.code(lower);
  }
  if (raw.startsWith('#')) {
    sink.code(lower);
    return;
  }
  if (raw.includes(':') || raw.includes('+') || raw.includes('#')) {
    sink.code(lower);
    return;
  }
  readParts(raw, sink);
}

function readParts(raw: string, sink: RunSink): void {
  const parts = raw.split(/[^\p{L}\p{M}\p{N}']+/u).filter((part) => part !== '');
  const [first = '', second] = parts;
  if (second !== undefined && JOINED.test(first.toLowerCase())) {
    parts.splice(0, 2, first + second);
  }
  for (const part of parts) {
    const apostrophe = part.indexOf("'");
    if (apostrophe > 0) readContraction(part, part.toLowerCase(), apostrophe, sink);
    else if (apostrophe < 0) readPlain(part, sink);
    else readPlain(part.replaceAll("'", ''), sink);
  }
}

function readContraction(raw: string, lower: string, apostrophe: number, sink: RunSink): void {
  if (lower.endsWith("n't")) {
    const base = lower === "can't" ? 'can' : lower === "won't" ? 'will' : lower.slice(0, -3);
    sink.word(base);
    sink.word('not');
    return;
  }
  const rest = lower.slice(apostrophe + 1);
  if (/^(?:s|re|ll|ve|d|m|t|em)?$/.test(rest)) {
    if (apostrophe > 0) readPlain(raw.slice(0, apostrophe), sink);
    const joined =
      rest === 's' && !IS_BEHIND.has(lower.slice(0, apostrophe)) ? undefined : JOINED_VERBS.get(rest);
    if (joined !== undefined) sink.word(joined);
    return;
  }
  readPlain(raw.replaceAll("'", ''), sink);
}
