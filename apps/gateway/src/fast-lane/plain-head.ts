/**
 * The head of a plain request, recognised in the bytes of a connection: a POST with a short head, a length and no
 * word about how it wants to be treated. Nothing is guessed and nothing repaired: what is not plain to the letter is
 * nobody's here, and is read by Node's own parser from its first byte on. So there is still one reader of HTTP that
 * refuses, and what is taken here, both read alike; a test compares them.
 *
 * @see RFC 9112, sections 2 to 6
 */

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
const LENGTH = /^(?:0|[1-9]\d{0,8})$/;

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
 * Where the head ends that begins these bytes: the first byte of the body. Null: it is longer than it may be, or not all
 * of it is there.
 */
export function endOfHead(bytes: Buffer): number | null {
  const end = bytes.indexOf(HEAD_END, 0, 'latin1') + HEAD_END.length;
  return end < HEAD_END.length || end > HEAD_BYTES_MAX ? null : end;
}

/** The heads of one connection: they differ in their body's length alone, mostly, and are then not read anew. */
export class PlainHeads {
  /** What stands before and behind the length. */
  #before = '';
  #after = '';
  #head: PlainHead | null = null;

  /**
   * @param text with the empty line at its end, a character for each byte
   * @returns null: not plain
   */
  read(text: string): ReadHead | null {
    return this.#readAgain(text) ?? this.#readAnew(text);
  }

  #readAgain(text: string): ReadHead | null {
    if (this.#head === null || !text.startsWith(this.#before) || !text.endsWith(this.#after)) return null;
    const length = text.slice(this.#before.length, text.length - this.#after.length);
    return LENGTH.test(length) ? { head: this.#head, byteCount: Number(length) } : null;
  }

  #readAnew(text: string): ReadHead | null {
    const plain = parsePlainHead(text);
    if (plain === null) return null;
    this.#head = plain.head;
    this.#before = text.slice(0, plain.lengthAt);
    this.#after = text.slice(plain.lengthAt + plain.length.length);
    return { head: plain.head, byteCount: Number(plain.length) };
  }
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
  const head = {
    path: ownText(path),
    authorization: said.get('authorization'),
    observatoryKey: said.get('x-observatory-key'),
    contentType: said.has('content-type') ? ownText(said.get('content-type') as string) : undefined,
  };
  return { head, length, lengthAt };
}

/** Not a piece of the head: each message compares it, and pieces are compared by a call out of compiled code. */
const ownText = (text: string): string => Buffer.from(text, 'latin1').toString('latin1');

/** Where the text begins and ends without the blanks around it. Not by an expression, which would try every way to part them. */
function withoutBlanks(text: string): [from: number, to: number] {
  let from = 0;
  let to = text.length;
  while (from < to && isBlank(text[from])) from += 1;
  while (to > from && isBlank(text[to - 1])) to -= 1;
  return [from, to];
}

const isBlank = (sign: string | undefined): boolean => sign === ' ' || sign === TAB;
