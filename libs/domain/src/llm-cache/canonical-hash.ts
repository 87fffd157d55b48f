/**
 * SHA-256 over a value out of JSON.parse, in one walk and without its JSON text ever being put together. Every value
 * has exactly one spelling in bytes, whatever the order of an object's keys:
 *
 *     string   s length text (UTF-8)     number   n float64              null true false   z t f
 *     array    [ value... ]              object   { string value ... }   lengths are 32 bits
 *     message  role [ part... ] extra    of a vendor   C R A G I value
 *
 * Lengths make it unambiguous without escapes, which is what makes it fast.
 */
import { createHash, type Hash, hash } from 'node:crypto';
import type { CanonicalMessage, DialectName, VendorValue } from '#contracts';
import { unitAt, wholeEnd } from '#kernel';

/** Requests nest a dozen deep; deeper than this is no request. */
const DEPTH_MAX = 256;
/** What is hashed in one call; of a larger request, at a time. */
const PIECE_BYTES = 512 * 1024;
/** A longer text is written in pieces. */
const LONG_CHARS = 64 * 1024;
/** Below it a loop over characters is faster than a call into the runtime. */
const SHORT_CHARS = 32;
const REPLACEMENT = Buffer.from('\ufffd');
/** Of UTF-8 for one unit of UTF-16. */
const BYTES_PER_UNIT_MAX = 3;
const FEW_KEYS = 12;
const HEAD_BYTES = 9;

/** Hex, of a text as it is. */
export const sha256 = (text: string): string => hash('sha256', text);

/** Of no messages: most requests have no conversation before their question. */
const HASH_OF_NONE = sha256('');

/**
 * 64 hex digits; null where equal values need not have been equal requests: whole numbers beyond 2^53, which JSON.parse
 * has rounded, or nesting beyond all sense. Takes no longer than hashing the bytes, about.
 */
export function canonicalHash(value: unknown): string | null {
  const small = smallForm(value);
  if (small === undefined) return hashOf(value);
  const known = smallHashes.get(small);
  if (known !== undefined) return known;
  const found = hashOf(value);
  if (smallHashes.size >= SMALL_COUNT_MAX) smallHashes.clear();
  smallHashes.set(small, found);
  return found;
}

function hashOf(value: unknown): string | null {
  at = 0;
  return digest(add(value, 0));
}

/**
 * Models, tenants, numbers and absences: few there are, they come with every request, and to look one up costs a
 * fiftieth of hashing it. A Map keeps 1 and '1' apart, and knows one zero, as `addNumber` does.
 */
const smallHashes = new Map<unknown, string | null>();
const SMALL_COUNT_MAX = 1_024;
const SMALL_CHARS_MAX = 128;
const EMPTY_OBJECT = Symbol('{}');

/** What stands for the value among the small ones; undefined: it is none of them. */
function smallForm(value: unknown): unknown {
  if (typeof value === 'string') return value.length <= SMALL_CHARS_MAX ? value : undefined;
  if (typeof value !== 'object' || value === null) return value;
  return !Array.isArray(value) && Object.keys(value).length === 0 ? EMPTY_OBJECT : undefined;
}

/** The same of messages, whose members need no names. */
export function messagesHash(messages: readonly CanonicalMessage[]): string | null {
  if (messages.length === 0) return HASH_OF_NONE;
  at = 0;
  return digest(messages.every(addMessage));
}

function digest(isWhole: boolean): string | null {
  const before = hashing;
  hashing = null;
  if (!isWhole) return null;
  const last = bytes.subarray(0, at);
  return before === null ? hash('sha256', last) : before.update(last).digest('hex');
}

/** Of the walk under way: it never waits, so there is only one. */
const bytes = Buffer.allocUnsafe(PIECE_BYTES);
let at = 0;
/** Of what no longer is in `bytes`. */
let hashing: Hash | null = null;
const float = new Float64Array(1);
const floatBytes = new Uint8Array(float.buffer);

const tag = (sign: string): number => sign.charCodeAt(0);
const NULL = tag('z');
const TRUE = tag('t');
const FALSE = tag('f');
const NUMBER = tag('n');
const TEXT = tag('s');
const ILL_FORMED = tag('e');
const ARRAY = tag('[');
const ARRAY_END = tag(']');
const OBJECT = tag('{');
const OBJECT_END = tag('}');
/** Part of every key: a vendor's sign never changes. */
const VENDORS: Readonly<Record<DialectName, number>> = {
  'openai-chat': tag('C'),
  'openai-responses': tag('R'),
  anthropic: tag('A'),
  gemini: tag('G'),
  'gemini-interactions': tag('I'),
};

function addMessage({ role, parts, extra }: CanonicalMessage): boolean {
  add(role, 0);
  reserve(1);
  bytes[at++] = ARRAY;
  for (const part of parts)
    if (!(typeof part === 'string' ? add(part, 0) : addVendorValue(part))) return false;
  reserve(1);
  bytes[at++] = ARRAY_END;
  return extra === null ? add(null, 0) : addVendorValue(extra);
}

/** Told from a text by its tag. */
function addVendorValue({ vendor, value }: VendorValue): boolean {
  reserve(1);
  bytes[at++] = VENDORS[vendor];
  return add(value, 0);
}

/** False: the value has no canonical form. */
function add(value: unknown, depth: number): boolean {
  if (typeof value === 'string') {
    addText(value);
    return true;
  }
  reserve(HEAD_BYTES);
  if (typeof value === 'number') return addNumber(value);
  if (typeof value === 'boolean') bytes[at++] = value ? TRUE : FALSE;
  else if (value === null) bytes[at++] = NULL;
  else if (typeof value !== 'object' || depth >= DEPTH_MAX) return false;
  else return Array.isArray(value) ? addArray(value, depth) : addObject(value, depth);
  return true;
}

function addArray(values: readonly unknown[], depth: number): boolean {
  bytes[at++] = ARRAY;
  for (const value of values) if (!add(value, depth + 1)) return false;
  reserve(1);
  bytes[at++] = ARRAY_END;
  return true;
}

function addObject(record: object, depth: number): boolean {
  bytes[at++] = OBJECT;
  const keys = Object.keys(record);
  if (keys.length <= FEW_KEYS) sortFew(keys);
  else keys.sort();
  for (const key of keys) {
    addText(key);
    if (!add((record as Record<string, unknown>)[key], depth + 1)) return false;
  }
  reserve(1);
  bytes[at++] = OBJECT_END;
  return true;
}

/** By insertion: most objects have two or three keys, and the runtime's own sorting is made for many. */
function sortFew(keys: string[]): void {
  for (let next = 1; next < keys.length; next++) {
    const key = keys[next] as string;
    let place = next;
    for (; place > 0 && (keys[place - 1] as string) > key; place--) keys[place] = keys[place - 1] as string;
    keys[place] = key;
  }
}

function addNumber(value: number): boolean {
  // One zero.
  float[0] = value + 0;
  bytes[at++] = NUMBER;
  for (let index = 0; index < 8; index++) bytes[at++] = floatBytes[index] as number;
  return Number.isInteger(value) ? Number.isSafeInteger(value) : Number.isFinite(value);
}

function addText(text: string): void {
  const { length } = text;
  if (length < SHORT_CHARS && addShortAscii(text, length)) return;
  if (length > LONG_CHARS) {
    if (isWellFormed(text)) addLong(TEXT, text);
    else addEscaped(text);
    return;
  }
  const start = reserve(HEAD_BYTES + length * BYTES_PER_UNIT_MAX);
  // As many bytes as characters: all of it ASCII, and nothing more to ask.
  if (addUtf8(TEXT, text) === length) return;
  // Half a surrogate pair has no UTF-8 and is written as this sign.
  if (bytes.subarray(start, at).indexOf(REPLACEMENT) === -1 || isWellFormed(text)) return;
  at = start;
  addEscaped(text);
}

/** Under a tag of its own. */
const addEscaped = (text: string): void => addLong(ILL_FORMED, JSON.stringify(text));

function addShortAscii(text: string, length: number): boolean {
  const start = reserve(HEAD_BYTES + length) + 5;
  const into = bytes;
  for (let index = 0; index < length; index++) {
    const unit = unitAt(text, index);
    if (unit > 0x7f) return false;
    into[start + index] = unit;
  }
  addHead(TEXT, length);
  at = start + length;
  return true;
}

/** @returns the text's bytes, for which there is room */
function addUtf8(kind: number, text: string): number {
  const length = bytes.write(text, at + 5, 'utf8');
  addHead(kind, length);
  at += 5 + length;
  return length;
}

/** @param text well-formed */
function addLong(kind: number, text: string): void {
  reserve(HEAD_BYTES);
  addHead(kind, Buffer.byteLength(text));
  at += 5;
  for (let from = 0; from < text.length; ) {
    const to = wholeEnd(text, Math.min(from + LONG_CHARS, text.length));
    reserve(LONG_CHARS * BYTES_PER_UNIT_MAX);
    at += bytes.write(text.slice(from, to), at, 'utf8');
    from = to;
  }
}

/** Does not move on: the text is written first, as its length is known only then. */
function addHead(kind: number, length: number): void {
  const into = bytes;
  const start = at;
  into[start] = kind;
  into[start + 1] = length & 0xff;
  into[start + 2] = (length >>> 8) & 0xff;
  into[start + 3] = (length >>> 16) & 0xff;
  into[start + 4] = length >>> 24;
}

/** @param count less than a piece. @returns where there is room for so many */
function reserve(count: number): number {
  if (at + count > bytes.length) {
    hashing ??= createHash('sha256');
    hashing.update(bytes.subarray(0, at));
    at = 0;
  }
  return at;
}

/** Of Node 20, but not of the TypeScript library that goes with it. */
const isWellFormed = (text: string): boolean => (text as string & { isWellFormed(): boolean }).isWellFormed();
