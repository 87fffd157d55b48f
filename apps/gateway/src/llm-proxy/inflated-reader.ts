/**
 * Reads an answer that its upstream compressed, although none was asked for: the client has its bytes as they came, and a copy is
 * inflated beside them, away from the event loop. What would take too much of that goes unread.
 */
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import type { LlmAnswer } from '#contracts';
import type { AnswerReader } from './answer-reader.js';
import type { EndReader } from './end-reader.js';

type Decoder = ReturnType<typeof createGunzip>;

const DECODERS: Readonly<Record<string, () => Decoder>> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
};

/** Of an answer: no vendor's is longer, and few bytes may be made to say more. */
const INFLATED_BYTES_MAX = 64 * 1024 * 1024;
/** Compressed, and not inflated yet. */
const WAITING_BYTES_MAX = 1024 * 1024;

export class InflatedReader {
  readonly #reader: AnswerReader | EndReader;
  readonly #decoder: Decoder;
  readonly #ended: Promise<void>;
  #byteCount = 0;
  #isGivenUp = false;

  private constructor(reader: AnswerReader | EndReader, decoder: Decoder) {
    this.#reader = reader;
    this.#decoder = decoder;
    decoder.on('data', (bytes: Buffer) => this.#take(bytes));
    // What came before a mistake, or before a cut, is read.
    decoder.on('error', () => {});
    this.#ended = new Promise((resolve) => decoder.once('close', resolve));
  }

  /** @param encoding in lower case. Null: nobody here knows it, or it is several */
  static for(encoding: string, reader: AnswerReader | EndReader): InflatedReader | null {
    const decoder = Object.hasOwn(DECODERS, encoding) ? DECODERS[encoding]?.() : undefined;
    return decoder === undefined ? null : new InflatedReader(reader, decoder);
  }

  push(bytes: Buffer): void {
    const { destroyed, writableLength } = this.#decoder;
    if (destroyed) return;
    if (writableLength + bytes.length > WAITING_BYTES_MAX) this.#giveUp();
    else this.#decoder.write(bytes);
  }

  /** Null: nothing that could be read. Never throws. */
  async finish(): Promise<LlmAnswer | null> {
    this.#decoder.end();
    await this.#ended;
    return this.#isGivenUp ? null : this.#reader.finish();
  }

  #take(bytes: Buffer): void {
    this.#byteCount += bytes.length;
    if (this.#byteCount > INFLATED_BYTES_MAX) this.#giveUp();
    else this.#reader.push(bytes);
  }

  #giveUp(): void {
    this.#isGivenUp = true;
    this.#decoder.destroy();
  }
}
