/**
 * Reads an answer that its upstream compressed, although none was asked for: of a good one the client has its bytes as they came,
 * and a copy is inflated beside them, away from the event loop. What would take too much of that goes unread.
 */
import { createBrotliDecompress, createGunzip, createInflate, createInflateRaw } from 'node:zlib';
import type { AnswerRoom, MayKeep } from './answer-room.js';

type Decoder = ReturnType<typeof createGunzip>;
/** @param first bytes of what is to be inflated */
type OpenDecoder = (first: Buffer) => Decoder;

/** Of zlib's header, which many servers leave out, though "deflate" asks for it. */
const ZLIB_METHOD = 8;
const inflaterFor: OpenDecoder = (first) =>
  ((first[0] ?? 0) & 0x0f) === ZLIB_METHOD ? createInflate() : createInflateRaw();

interface Encoding {
  open: OpenDecoder;
  /** What a decoder keeps of the bytes that it gave out. */
  windowBytes: number;
}

const gzip: Encoding = { open: () => createGunzip(), windowBytes: 32 * 1024 };

const ENCODINGS: Readonly<Record<string, Encoding>> = {
  gzip,
  'x-gzip': gzip,
  deflate: { open: inflaterFor, windowBytes: 32 * 1024 },
  br: { open: () => createBrotliDecompress(), windowBytes: 16 * 1024 * 1024 },
};

/** One inside the other: a server's own, and that of what stands before it. */
const ENCODINGS_MAX = 2;
/** Of an answer: no vendor's is longer, and few bytes may be made to say more. */
const INFLATED_BYTES_MAX = 64 * 1024 * 1024;
/** Compressed, and not inflated yet. */
const WAITING_BYTES_MAX = 1024 * 1024;

/** What takes plain bytes, and says at their end what it read. */
export interface Reader<Read> {
  push(bytes: Buffer): void;
  /** The vendor has said that its answer is over, whatever its connection does. Absent: it is not read for that. */
  readonly isComplete?: boolean;
  finish(): Read | null | Promise<Read | null>;
}

export class InflatedReader<Read> {
  readonly #reader: Reader<Read>;
  readonly #encoding: Encoding;
  readonly #mayKeep: MayKeep;
  #decoder: Decoder | null = null;
  #ended: Promise<void> | null = null;
  #byteCount = 0;
  #isGivenUp = false;

  private constructor(reader: Reader<Read>, encoding: Encoding, room: AnswerRoom) {
    this.#reader = reader;
    this.#encoding = encoding;
    this.#mayKeep = room.keeper();
  }

  /** @param encodings in lower case, in the order in which they were applied. Null: nobody here knows one, or they are too many */
  static for<Read>(
    encodings: readonly string[],
    reader: Reader<Read>,
    room: AnswerRoom,
  ): InflatedReader<Read> | null {
    let outermost: InflatedReader<Read> | null = null;
    for (const name of encodings) {
      const encoding = Object.hasOwn(ENCODINGS, name) ? ENCODINGS[name] : undefined;
      if (encoding === undefined || encodings.length > ENCODINGS_MAX) return null;
      outermost = new InflatedReader(outermost ?? reader, encoding, room);
    }
    return outermost;
  }

  /** False: nothing more of it will be read. */
  get takesMore(): boolean {
    return !this.#isGivenUp && this.#decoder?.destroyed !== true;
  }

  push(bytes: Buffer): void {
    this.#decoder ??= this.#begin(bytes);
    const { destroyed, writableLength } = this.#decoder;
    if (destroyed) return;
    if (writableLength + bytes.length > WAITING_BYTES_MAX) this.#giveUp();
    else this.#decoder.write(bytes);
  }

  /** Null: nothing that could be read. Never throws. */
  async finish(): Promise<Read | null> {
    this.#decoder?.end();
    await this.#ended;
    return this.#isGivenUp ? null : this.#reader.finish();
  }

  #begin(first: Buffer): Decoder {
    const decoder = this.#encoding.open(first);
    const read = () => this.#take(decoder.read());
    decoder.on('readable', () => inTurn(read));
    // What came before a mistake, or before a cut, is read.
    decoder.on('error', () => {});
    this.#ended = new Promise((resolve) => {
      decoder.once('close', () => {
        read();
        resolve();
      });
    });
    return decoder;
  }

  #take(bytes: Buffer | null): void {
    if (bytes === null || this.#isGivenUp) return;
    this.#byteCount += bytes.length;
    const keptCount = Math.min(this.#byteCount, this.#encoding.windowBytes);
    if (this.#byteCount > INFLATED_BYTES_MAX || !this.#mayKeep(keptCount)) this.#giveUp();
    else this.#reader.push(bytes);
  }

  #giveUp(): void {
    this.#isGivenUp = true;
    this.#decoder?.destroy();
  }
}

const waiting: (() => void)[] = [];

/** One piece in a turn, of all answers together: few bytes may say so many events that reading them kept everybody else waiting. */
function inTurn(read: () => void): void {
  if (waiting.push(read) === 1) setImmediate(readNext);
}

function readNext(): void {
  const read = waiting.shift();
  if (waiting.length > 0) setImmediate(readNext);
  read?.();
}
