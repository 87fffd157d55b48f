/**
 * How deep a JSON text nests, how many values it holds and under how many different names, without parsing it. A million
 * brackets cost the parser a second and more, so do half a million names that it has to tell apart, and a million empty
 * objects to whatever walks over them, of a text that is small in bytes; nobody needs any of it. Strings are skipped by a
 * native search, so a prompt costs next to nothing whatever its length.
 */
import { countPunctuation } from './json-punctuation.js';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const LINE_FEED = 0x0a;

export interface JsonBounds {
  depthMax: number;
  /** Members, elements and the objects and arrays around them, by their commas and brackets. */
  valuesMax: number;
  /** Different names of members, as they are written. */
  namesMax: number;
}

/**
 * Which bound it passes; null: none. Several texts may stand in lines of their own. What is no JSON gets some answer; the
 * parser will say more.
 */
export function passedBound(bytes: Buffer, bounds: JsonBounds): keyof JsonBounds | null {
  // It holds no more of anything than it has bytes.
  if (bytes.length <= Math.min(bounds.depthMax, bounds.valuesMax, bounds.namesMax)) return null;
  const punctuation = countPunctuation(bytes);
  const isWithin = punctuation.values <= Math.min(bounds.depthMax, bounds.valuesMax);
  if (isWithin && punctuation.members <= bounds.namesMax) return null;
  const strings = new JsonStrings(bytes);
  let depth = 0;
  let values = 0;
  let members = 0;
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (byte === QUOTE) at = strings.endOf(at);
    else if (byte === COLON) members += 1;
    else if (byte === 0x7b || byte === 0x5b) {
      depth += 1;
      values += 1;
      if (depth > bounds.depthMax) return 'depthMax';
    } else if (byte === 0x7d || byte === 0x5d) depth -= 1;
    else if (byte === COMMA) values += 1;
    if (values > bounds.valuesMax) return 'valuesMax';
  }
  // Only where there are so many members at all are their names told apart, which takes longer than all of the above.
  return members > bounds.namesMax && hasMoreNames(bytes, bounds.namesMax) ? 'namesMax' : null;
}

function hasMoreNames(bytes: Buffer, namesMax: number): boolean {
  const strings = new JsonStrings(bytes);
  const names = new Set<string>();
  for (let at = bytes.indexOf(QUOTE); at >= 0; at = bytes.indexOf(QUOTE, at + 1)) {
    const end = strings.endOf(at);
    if (isName(bytes, end)) names.add(bytes.toString('latin1', at, end));
    if (names.size > namesMax) return true;
    at = end;
  }
  return false;
}

function isName(bytes: Buffer, end: number): boolean {
  let at = end + 1;
  while (isWhite(bytes[at])) at += 1;
  return bytes[at] === COLON;
}

const isWhite = (byte = 0): boolean => byte === 0x20 || byte === 0x09 || byte === LINE_FEED || byte === 0x0d;

/** Where the strings of a text end, asked for one after another. */
export class JsonStrings {
  readonly #bytes: Buffer;
  /** End of the line looked at last. */
  #lineEnd = -1;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  /**
   * Of the closing quote: one that an even number of back-slashes precedes; else the end of the line. No string of JSON goes
   * beyond its line, and one that is never closed hides nothing of those that follow.
   */
  endOf(start: number): number {
    const bytes = this.#bytes;
    if (this.#lineEnd <= start) {
      const lineEnd = bytes.indexOf(LINE_FEED, start);
      this.#lineEnd = lineEnd < 0 ? bytes.length : lineEnd;
    }
    for (let end = bytes.indexOf(QUOTE, start + 1); end >= 0 && end < this.#lineEnd; ) {
      let slashes = end;
      while (slashes > start + 1 && bytes[slashes - 1] === BACKSLASH) slashes -= 1;
      if ((end - slashes) % 2 === 0) return end;
      end = bytes.indexOf(QUOTE, end + 1);
    }
    return this.#lineEnd;
  }
}
