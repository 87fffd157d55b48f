/**
 * An incremental reader of `text/event-stream`, over bytes as they come off a socket. Cuts only at line ends, where
 * no UTF-8 sequence can be open, and decodes all whole lines of a chunk in one go: a chunk costs one decoding and
 * an event one `slice`, however many events a stream has.
 *
 * @see https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation
 */
import { BytePieces, TextPieces } from '#kernel';
import { DIALECT_LIMITS } from './dialect-limits.js';
import { holdsTooMuch } from './read-json.js';

const LF = 0x0a;
const CR = 0x0d;
const BOM = '\ufeff';
/** Ends a line that is open, and the event. */
const BLANK_LINE = Buffer.from('\n\n');

/** @param name of the `event:` line, "" without one */
export type OnSseEvent = (data: string, name: string) => void;

export class SseReader {
  /** Events left out because a line or the whole was longer than the limits, or held more. */
  skippedCount = 0;
  readonly #onEvent: OnSseEvent;
  /** Bytes of the line that has not ended yet, in pieces: joining them at each chunk would be quadratic. */
  #rest: BytePieces | null = null;
  /** The line that has not ended yet is too long already; the rest of it is thrown away. */
  #overlong = false;
  /** The last line ended in CR, so that an LF right after it ends nothing. */
  #afterCr = false;
  #atStart = true;
  #name = '';
  readonly #data = new TextPieces();
  #hasData = false;
  /** The event being read has lost a line, and will be skipped. */
  #spoiled = false;

  constructor(onEvent: OnSseEvent) {
    this.#onEvent = onEvent;
  }

  /** Bytes and characters of the event that has not ended. */
  get keptCount(): number {
    return (this.#rest?.byteCount ?? 0) + this.#data.length;
  }

  /** Calls back for each event that this chunk completes. Copies what it keeps of the chunk. */
  push(chunk: Uint8Array): void {
    if (chunk.length === 0) return;
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    const end = Math.max(bytes.lastIndexOf(LF), bytes.lastIndexOf(CR)) + 1;
    if (end === 0) {
      this.#keep(bytes);
      return;
    }
    const text = this.#takeRest(bytes, end);
    if (end < bytes.length) this.#keep(bytes.subarray(end));
    this.#readLines(text);
  }

  /** No chunk is to come. An event is read without its blank line, too, which some servers leave out behind the last. */
  end(): void {
    this.push(BLANK_LINE);
  }

  #keep(tail: Buffer): void {
    if (this.#overlong) return;
    this.#rest ??= new BytePieces();
    if (this.#rest.byteCount + tail.length > DIALECT_LIMITS.eventBytesMax) {
      this.#overlong = true;
      this.#rest = null;
    } else this.#rest.push(Buffer.from(tail));
  }

  /** The kept bytes and the chunk's, up to `end`, decoded. */
  #takeRest(bytes: Buffer, end: number): string {
    if (this.#overlong) {
      // A comment takes the place of the line, and the event that it belongs to will be skipped.
      this.#spoiled = true;
      this.#overlong = false;
      return `:${bytes.toString('utf8', firstLineEnd(bytes), end)}`;
    }
    if (this.#rest === null) return bytes.toString('utf8', 0, end);
    const whole = Buffer.concat([...this.#rest.all, bytes.subarray(0, end)]);
    this.#rest = null;
    return whole.toString('utf8');
  }

  #readLines(decoded: string): void {
    let text = this.#atStart && decoded.startsWith(BOM) ? decoded.slice(1) : decoded;
    this.#atStart = false;
    if (this.#afterCr && text.charCodeAt(0) === LF) text = text.slice(1);
    if (text === '') {
      this.#afterCr = false;
      return;
    }
    this.#afterCr = text.charCodeAt(text.length - 1) === CR;
    if (text.includes('\r')) text = text.replaceAll(/\r\n?/g, '\n');
    let start = 0;
    for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n', start)) {
      if (end === start) this.#endEvent();
      else this.#readLine(text, start, end);
      start = end + 1;
    }
  }

  #readLine(text: string, start: number, end: number): void {
    if (end - start > DIALECT_LIMITS.eventCharsMax) this.#spoiled = true;
    else if (text.startsWith('data', start)) {
      const line = text.slice(start, end);
      if (line === 'data' || line.charCodeAt(4) === 0x3a) this.#addData(dataOf(line));
    } else if (text.startsWith('event:', start)) {
      this.#name = text.slice(text.charCodeAt(start + 6) === 0x20 ? start + 7 : start + 6, end);
    }
  }

  #addData(line: string): void {
    if (this.#data.length + line.length > DIALECT_LIMITS.eventCharsMax) this.#spoiled = true;
    if (this.#spoiled) return;
    if (this.#hasData) this.#data.push('\n');
    this.#data.push(line);
    this.#hasData = true;
  }

  #endEvent(): void {
    const data = this.#data.toString();
    const name = this.#name;
    const isSkipped = this.#spoiled || holdsTooMuch(data);
    const isWhole = this.#hasData && !isSkipped;
    if (isSkipped) this.skippedCount += 1;
    this.#data.clear();
    this.#name = '';
    this.#hasData = false;
    this.#spoiled = false;
    if (isWhole) this.#onEvent(data, name);
  }
}

const dataOf = (line: string): string => line.slice(line.charCodeAt(5) === 0x20 ? 6 : 5);

/** Index of the first byte that ends a line; the caller knows that there is one. */
function firstLineEnd(bytes: Buffer): number {
  const lf = bytes.indexOf(LF);
  const cr = bytes.indexOf(CR);
  return Math.min(lf === -1 ? bytes.length : lf, cr === -1 ? bytes.length : cr);
}
