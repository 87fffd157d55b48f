/**
 * One pass over a text: what is quoted, what is code, and the tokens between spaces, punctuation and Han characters.
 * Linear: every search for a closing mark remembers what it found, and every run is bounded.
 */
import {
  BACKTICK,
  BORDER,
  classOf,
  DIGIT,
  HAN,
  HAN_QUOTE,
  INNER,
  isAlphanumeric,
  LETTER,
  QUOTE,
  SIGN,
  SPACE,
  STOP,
} from './char-classes.js';
import { ClosingMarks, trimmed } from './closing-marks.js';
import type { NumberRun } from './read-number.js';
import { RUN_CHARS_MAX, type RunSink, readRun } from './read-run.js';
import type { Token } from './text-facts.js';

/** What stands further apart is no pair of quotation marks. */
const QUOTE_CHARS_MAX = 2_000;
const SINGLE_QUOTE_CHARS_MAX = 200;

const CLOSING: Readonly<Record<string, string>> = { '「': '」', '『': '』', '《': '》', '〈': '〉' };
/** [a-z0-9_] of a regular expression: ranges, escapes and signs, and nothing else. */
const CHARACTER_CLASS = /^\[\^?(?:[a-z]-[a-z]|\d-\d|\\[a-z]|[^a-z\d\s\]])+\]/i;
const CHARACTER_CLASS_CHARS_MAX = 66;
const LINE_FEED = 10;
const EXCLAMATION = 33;
const APOSTROPHE = 39;

export interface Reading {
  tokens: Token[];
  quotes: string[];
  code: string[];
  hasArrow: boolean;
}

export function readText(text: string): Reading {
  return new Reader(text).read();
}

class Reader implements RunSink {
  private readonly reading: Reading = { tokens: [], quotes: [], code: [], hasArrow: false };
  private isOpening = true;
  private readonly marks: ClosingMarks;
  /** By mark: where the quotation ends that it closed last. */
  private readonly quoteEnds = new Map<string, number>();

  constructor(private readonly text: string) {
    this.marks = new ClosingMarks(text);
  }

  read(): Reading {
    const { text } = this;
    let at = 0;
    while (at < text.length) {
      const code = text.charCodeAt(at);
      const kind = classOf(code);
      if (kind === LETTER || kind === DIGIT || kind === INNER) at = this.readRunAt(at, code);
      else if (kind === SPACE) at = this.readSpace(at, code);
      else if (kind === HAN) at = this.readHan(at);
      else at = this.readMark(at, kind, code);
    }
    this.close();
    return this.reading;
  }

  private push(kind: Token['kind'], text: string, raw: string, unit = ''): void {
    this.reading.tokens.push({ kind, text, raw, isOpening: this.isOpening, isClosing: false, unit });
    this.isOpening = false;
  }

  private close(): void {
    const last = this.reading.tokens.at(-1);
    if (last !== undefined) last.isClosing = true;
  }

  private endSentence(): void {
    this.close();
    this.isOpening = true;
  }

  /** An empty line ends a sentence; one line feed only ends a clause. */
  private readSpace(at: number, code: number): number {
    if (code !== LINE_FEED) return at + 1;
    this.close();
    let next = at + 1;
    while (next < this.text.length && this.text.charCodeAt(next) <= 32) {
      if (this.text.charCodeAt(next) === LINE_FEED) this.isOpening = true;
      next += 1;
    }
    return next;
  }

  private readHan(from: number): number {
    const { text } = this;
    let at = from;
    while (at < text.length && classOf(text.charCodeAt(at)) === HAN)
      at += text.charCodeAt(at) >= 0xd800 && text.charCodeAt(at) < 0xdc00 ? 2 : 1;
    const raw = text.slice(from, at);
    this.push('han', raw, raw);
    return at;
  }

  private readMark(at: number, kind: number, code: number): number {
    const { text } = this;
    if (kind === QUOTE) return this.readQuote(at, '"');
    if (kind === HAN_QUOTE) return this.readQuote(at, CLOSING[text.charAt(at)] ?? '');
    if (kind === BACKTICK) return this.readBackticks(at);
    if (kind === SIGN) {
      if (code < 0x2200 && code >= 0x2190) this.reading.hasArrow = true;
      else this.code(text.charAt(at));
      return at + 1;
    }
    if (kind === STOP) this.endSentence();
    else {
      this.close();
      if (kind === BORDER && (code === 60 || code === 62)) return this.readAngle(at);
      const characterClass = code === 91 ? this.readCharacterClass(at) : 0;
      if (characterClass > 0) return characterClass;
      if (code === 40 || code === 91) this.isOpening = true;
    }
    return at + 1;
  }

  /** `a < b`, `<div>` */
  private readAngle(at: number): number {
    const { text } = this;
    const tag = /^<\/?[a-z][a-z0-9-]{0,31}/i.exec(text.slice(at, at + 34));
    if (tag !== null) {
      this.code(tag[0].toLowerCase());
      return at + tag[0].length;
    }
    const next = text.charCodeAt(at + 1);
    if (next === 61 || (isSpaceAt(text, at + 1) && isSpaceAt(text, at - 1))) {
      this.code(next === 61 ? `${text.charAt(at)}=` : text.charAt(at));
      return at + (next === 61 ? 2 : 1);
    }
    return at + 1;
  }

  /** @returns where to go on; 0: it is none */
  private readCharacterClass(at: number): number {
    const found = CHARACTER_CLASS.exec(this.text.slice(at, at + CHARACTER_CLASS_CHARS_MAX))?.[0];
    if (found === undefined) return 0;
    this.code(found);
    return at + found.length;
  }

  word(raw: string): void {
    this.push('word', raw.toLowerCase(), raw);
  }

  number(read: NumberRun, raw: string): void {
    if (read.isId) this.push('literal', read.digits, raw, read.isDate ? 'date' : 'id');
    else this.push('number', read.digits, raw, read.unit);
  }

  code(key: string): void {
    this.reading.code.push(key);
    this.push('literal', key, key);
  }

  /** The words inside are read like any others. */
  private readQuote(at: number, mark: string): number {
    this.close();
    const before = this.quoteEnds.get(mark);
    if (at === before) return at + 1;
    const end = this.marks.nextOf(mark, at + 1);
    // Of all that open in front of one that closes the first has it: for each of them the text would be read once more.
    if (end !== before && end - at > 1 && end - at <= QUOTE_CHARS_MAX) {
      const quoted = trimmed(this.text.slice(at + 1, end));
      if (quoted !== '') this.reading.quotes.push(quoted);
      this.quoteEnds.set(mark, end);
    }
    this.isOpening = true;
    return at + 1;
  }

  private readBackticks(at: number): number {
    const { text } = this;
    const isFence = text.startsWith('```', at);
    const mark = isFence ? '```' : '`';
    const end = this.marks.nextOf(mark, at + mark.length);
    if (at === this.quoteEnds.get('`') || end === Number.POSITIVE_INFINITY) return at + mark.length;
    const marked = text.slice(at + mark.length, end).trim();
    if (isFence) {
      this.code(`\`${marked}`);
      this.close();
      return end + 3;
    }
    if (marked !== '' && end - at <= QUOTE_CHARS_MAX) {
      this.reading.code.push(`\`${marked}`);
      this.quoteEnds.set(mark, end);
    }
    return at + 1;
  }

  private readSingleQuote(at: number): void {
    const { text } = this;
    if (at > 0 && isAlphanumeric(text.charCodeAt(at - 1))) return;
    const end = this.marks.nextApostropheEnd(at + 1);
    if (end - at > SINGLE_QUOTE_CHARS_MAX) return;
    const quoted = trimmed(text.slice(at + 1, end));
    if (quoted === '') return;
    this.reading.quotes.push(quoted);
    this.isOpening = true;
  }

  /**
   * The short way, for nearly every word of English: letters, of which only the first may be a capital, up to a space
   * or to punctuation and a space.
   *
   * @returns where to go on; 0: it is none
   */
  private readPlainWord(from: number, first: number): number {
    const { text } = this;
    const isUpper = first >= 65 && first <= 90;
    if (!isUpper && (first < 97 || first > 122)) return 0;
    let at = from + 1;
    let code = 32;
    for (; at < text.length; at += 1) {
      code = text.charCodeAt(at);
      if (code < 97 || code > 122) break;
      code = 32;
    }
    if (at - from > RUN_CHARS_MAX) return 0;
    const isMark = code === 44 || code === 46 || code === 63 || code === 33;
    if (code !== 32 && !(isMark && isSpaceAt(text, at + 1))) return 0;
    const raw = text.slice(from, at);
    this.push('word', isUpper ? raw.toLowerCase() : raw, raw);
    if (!isMark) return at;
    if (code === 44) this.close();
    else this.endSentence();
    return at + 1;
  }

  private readRunAt(from: number, first: number): number {
    const { text } = this;
    const plainEnd = this.readPlainWord(from, first);
    if (plainEnd > 0) return plainEnd;
    if (first === APOSTROPHE) {
      this.readSingleQuote(from);
      return from + 1;
    }
    let at = from;
    let hasDigit = false;
    let hasInner = false;
    let hasWord = false;
    let isUrl = false;
    let end = from;
    for (; at < text.length; at += 1) {
      const code = text.charCodeAt(at);
      const kind = classOf(code);
      if (kind === LETTER) hasWord = true;
      else if (kind === DIGIT) hasDigit = true;
      else if (kind !== INNER || !this.staysInside(at, code, isUrl)) break;
      else {
        if (code === 58 && text.startsWith('//', at + 1)) isUrl = true;
        continue;
      }
      if (end < at) hasInner = true;
      end = at + 1;
    }
    if (!hasWord && !hasDigit) return this.readSigns(from, at);
    // C++, C#, 50%, 20€ and 20° keep what stands behind them.
    while (end < at && '+#%€£¥°$'.includes(text.charAt(end))) {
      end += 1;
      hasInner = true;
    }
    let start = from;
    while (start < end && '.,:;*~_!?|^&='.includes(text.charAt(start))) {
      if (this.isLeadingCode(start, end)) break;
      start += 1;
    }
    // A dash before a word is a bullet or a dash, two are a flag; before a number it is its sign.
    if (start > from) hasInner = !isPlain(text, start, end);
    this.readRunBetween(start, end, hasDigit, hasInner);
    // A factorial.
    if (text.charCodeAt(end) === EXCLAMATION && classOf(text.charCodeAt(end - 1)) === DIGIT)
      this.code(text.slice(start, end + 1));
    this.closeBehind(end, at);
    return at;
  }

  private isLeadingCode(start: number, end: number): boolean {
    const { text } = this;
    const char = text.charAt(start);
    if (char === '.') {
      if (text.charAt(start - 1) === '.') return false;
      return (
        /^(?:\.[a-z]|\.{0,2}\/)/i.test(text.slice(start, start + 3)) ||
        (start + 1 < end && classOf(text.charCodeAt(start + 1)) === DIGIT)
      );
    }
    if (char === '*') return text.charAt(start + 1) === '.';
    return char === '_' && text.startsWith('__', start) && end - start > 3;
  }

  private readRunBetween(start: number, end: number, hasDigit: boolean, hasInner: boolean): void {
    const { text } = this;
    const raw = text.slice(start, end);
    if (
      text.charCodeAt(end) === 40 &&
      !/^\((?:e?s)\)/.test(text.slice(end, end + 4)) &&
      /[a-z_$]/i.test(raw)
    ) {
      this.code(raw.toLowerCase());
      return;
    }
    readRun(raw, hasDigit, hasInner, this);
  }

  private staysInside(at: number, code: number, isUrl: boolean): boolean {
    const { text } = this;
    const next = at + 1 < text.length ? classOf(text.charCodeAt(at + 1)) : SPACE;
    const before = at > 0 ? classOf(text.charCodeAt(at - 1)) : SPACE;
    const isBetween = (before === LETTER || before === DIGIT) && (next === LETTER || next === DIGIT);
    switch (code) {
      case APOSTROPHE:
        return before === LETTER && next === LETTER;
      case 44: // ,
        return before === DIGIT && next === DIGIT;
      case 33: // !
      case 63: // ?
        return isUrl && next !== SPACE;
      case 38: // &
      case 42: // *
      case 94: // ^
      case 124: // |
        return isUrl || isBetween || (code === 42 && text.charCodeAt(at + 1) === 46);
      default:
        return true;
    }
  }

  /** What stood between a run and the next space. */
  private closeBehind(end: number, at: number): void {
    if (at === end && at < this.text.length && ' \t'.includes(this.text.charAt(at))) return;
    for (let index = end; index <= at && index < this.text.length; index += 1) {
      const char = this.text.charAt(index);
      if (char === '.' || char === '!' || char === '?' || char === ':') this.endSentence();
      else if (char === ',' || char === ';') this.close();
    }
  }

  /** Only signs: operators between spaces count, dashes, bullets and rules do not. */
  private readSigns(from: number, to: number): number {
    const { text } = this;
    const end = to > from ? to : from + 1;
    const signs = text.slice(from, end);
    const isAlone = isSpaceAt(text, from - 1) && isSpaceAt(text, end);
    if (signs === '->' || signs === '-->' || (signs === '=' && text.charAt(end) === '>'))
      this.reading.hasArrow = true;
    else if (/^[.!?:]/.test(signs)) this.endSentence();
    else if (signs === '-' || signs === '+') {
      const last = this.reading.tokens.at(-1);
      const next = /^\s*[\d.]/.test(text.slice(end, end + 4));
      if (last !== undefined && (signs === '+' ? !last.isClosing : last.kind === 'number' && next))
        this.code(signs);
      else this.close();
    } else if (/^(?:=|==|===|!=|%|\^|\/|\*|\+=|-=)$/.test(signs) && isAlone && !this.isLineStart(from))
      this.code(signs);
    else this.close();
    return end;
  }

  private isLineStart(at: number): boolean {
    let before = at - 1;
    while (before >= 0 && ' \t'.includes(this.text.charAt(before))) before -= 1;
    return before < 0 || this.text.charCodeAt(before) === LINE_FEED;
  }
}

function isPlain(text: string, start: number, end: number): boolean {
  for (let at = start; at < end; at += 1) if (!isAlphanumeric(text.charCodeAt(at))) return false;
  return true;
}

const isSpaceAt = (text: string, at: number): boolean =>
  at < 0 || at >= text.length || classOf(text.charCodeAt(at)) === SPACE;
