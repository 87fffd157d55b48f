/**
 * The head of a plain request, recognised in the bytes of a connection: a POST with a short head, a length and no
 * word about how it wants to be treated. Nothing is guessed and nothing repaired: what is not plain to the letter is
 * nobody's here, and is read by Node's own parser from its first byte on. So there is still one reader of HTTP that
 * refuses, and what is taken here, both read alike; a test compares them.
 *
 * @see RFC 9112, sections 2 to 6
 */
import { ownText } from '#kernel';

/** All that is read of a head but its body's length. */
export interface PlainHead {
  /** The path it was sent to, without a query. */
  path: string;
  authorization: string | undefined;
  observatoryKey: string | undefined;
  contentType: string | undefined;
}

export interface ReadHead {
  /** The same object for each head of a connection that says the same. */
  head: PlainHead;
  /** Where the body begins. */
  bodyAt: number;
  /** Of the body. */
  byteCount: number;
}

/** Of a head, its end included. Longer ones are rare, and a search for their end has an end. */
export const HEAD_BYTES_MAX = 4_096;
const HEADERS_MAX = 40;
const LINE_END = '\r\n';
const HEAD_END = '\r\n\r\n';
const METHOD = 'POST ';
const VERSION = ' HTTP/1.1';

/** As RFC 9110 has them: a name, and what a value is made of. */
const NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;
const COLON = ':';
const TAB = '\t';
/** Without query or anything that would have to be decoded. */
const PATH = /^(?:\/[A-Za-z0-9_-]+)+$/;
/** Of a length. */
const DIGITS_MAX = 9;
const LENGTH = new RegExp(`^(?:0|[1-9]\\d{0,${DIGITS_MAX - 1}})$`);

/** Said of the connection or of the body's form: for who knows all that they may say. */
const NOT_PLAIN: ReadonlySet<string> = new Set([
  'transfer-encoding',
  'content-encoding',
  'expect',
  'upgrade',
  'http2-settings',
  'te',
  'trailer',
  'proxy-connection',
  'keep-alive',
]);
/** What is read of a head, or says where it goes: a second one would make two readings possible. */
const ONCE: ReadonlySet<string> = new Set([
  'host',
  'content-length',
  'content-type',
  'authorization',
  'x-observatory-key',
  'connection',
]);

/**
 * The heads of one connection: they differ in their body's length alone, mostly, and are then told by their bytes. Reading one
 * anew takes more than ten times as long.
 */
export class PlainHeads {
  #known: KnownHead | null = null;

  /** @returns null: the head that begins these bytes is not plain, too long, or not all there */
  read(bytes: Buffer): ReadHead | null {
    return (this.#known && readAgain(bytes, this.#known)) ?? this.#readAnew(bytes);
  }

  #readAnew(bytes: Buffer): ReadHead | null {
    const bodyAt = bytes.indexOf(HEAD_END, 0, 'latin1') + HEAD_END.length;
    if (bodyAt < HEAD_END.length || bodyAt > HEAD_BYTES_MAX) return null;
    const plain = parsePlainHead(bytes.toString('latin1', 0, bodyAt));
    if (plain === null) return null;
    const { head, length, lengthAt } = plain;
    this.#known = {
      head,
      before: Buffer.from(bytes.subarray(0, lengthAt)),
      after: Buffer.from(bytes.subarray(lengthAt + length.length, bodyAt)),
    };
    return { head, bodyAt, byteCount: Number(length) };
  }
}

/** What stands before and behind the length. */
interface KnownHead {
  head: PlainHead;
  before: Buffer;
  after: Buffer;
}

/** Null: it is another one. */
function readAgain(bytes: Buffer, { head, before, after }: KnownHead): ReadHead | null {
  if (!isAt(bytes, 0, before)) return null;
  let at = before.length;
  let byteCount = 0;
  for (let digit = digitAt(bytes, at); digit !== null; digit = digitAt(bytes, at)) {
    byteCount = byteCount * 10 + digit;
    at += 1;
  }
  const digitCount = at - before.length;
  const isLength =
    digitCount > 0 && digitCount <= DIGITS_MAX && (bytes[before.length] !== ZERO || digitCount === 1);
  return isLength && isAt(bytes, at, after) ? { head, bodyAt: at + after.length, byteCount } : null;
}

const isAt = (bytes: Buffer, at: number, part: Buffer): boolean =>
  at + part.length <= bytes.length && bytes.compare(part, 0, part.length, at, at + part.length) === 0;

const ZERO = 0x30;

function digitAt(bytes: Buffer, at: number): number | null {
  const digit = (bytes[at] ?? 0) - ZERO;
  return digit >= 0 && digit <= 9 ? digit : null;
}

interface ParsedHead {
  head: PlainHead;
  /** Of the body, as it is written. */
  length: string;
  /** Where that stands. */
  lengthAt: number;
}

function parsePlainHead(text: string): ParsedHead | null {
  const [first = '', ...lines] = text.slice(0, -HEAD_END.length).split(LINE_END);
  if (!first.startsWith(METHOD) || !first.endsWith(VERSION) || lines.length > HEADERS_MAX) return null;
  const path = first.slice(METHOD.length, -VERSION.length);
  if (!PATH.test(path)) return null;
  const said = new Map<string, string>();
  let lengthAt = 0;
  let lineAt = first.length + LINE_END.length;
  for (const line of lines) {
    const colon = line.indexOf(COLON);
    const name = line.slice(0, Math.max(0, colon)).toLowerCase();
    const rest = line.slice(colon + COLON.length);
    if (!NAME.test(name) || !VALUE.test(rest)) return null;
    if (NOT_PLAIN.has(name) || (ONCE.has(name) && said.has(name))) return null;
    const [from, to] = withoutBlanks(rest);
    said.set(name, rest.slice(from, to));
    if (name === 'content-length') {
      // Node takes it for part of the length.
      if (rest.includes(TAB)) return null;
      lengthAt = lineAt + colon + COLON.length + from;
    }
    lineAt += line.length + LINE_END.length;
  }
  const length = said.get('content-length');
  const isKept = (said.get('connection') ?? 'keep-alive').toLowerCase() === 'keep-alive';
  if (!said.get('host') || length === undefined || !LENGTH.test(length) || !isKept) return null;
  const contentType = said.get('content-type');
  const head = {
    // Each message compares these two: pieces of the head would be compared by a call out of compiled code.
    path: ownText(path),
    authorization: said.get('authorization'),
    observatoryKey: said.get('x-observatory-key'),
    contentType: contentType && ownText(contentType),
  };
  return { head, length, lengthAt };
}

/** Where the text begins and ends without the blanks around it. Not by an expression, which would try every way to part them. */
function withoutBlanks(text: string): [from: number, to: number] {
  let from = 0;
  let to = text.length;
  while (from < to && isBlank(text[from])) from += 1;
  while (to > from && isBlank(text[to - 1])) to -= 1;
  return [from, to];
}

const isBlank = (sign: string | undefined): boolean => sign === ' ' || sign === TAB;
