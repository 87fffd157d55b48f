/**
 * Reads an answer along while it goes by: a stream some kilobytes at a time, a whole answer once it has ended. No client
 * waits for it, least of all for the first token: what it is given has left before it is read. An answer it cannot read
 * (compressed, too large, not what the vendor documents) is passed on all the same and counts as unread.
 */
import type { LlmAnswer } from '#contracts';
import type { Dialect, StreamReader } from '#domain/llm-dialects';
import { headerOf } from './forwarded-headers.js';

/** Of an unstreamed answer; beyond it, it goes unread. */
const ANSWER_BYTES_READ_MAX = 16 * 1024 * 1024;
/** Of a stream, read together: some 100 us of work, and what a call under way holds. */
const TOGETHER_BYTES = 16 * 1024;
const TOGETHER_COUNT = 64;

export class AnswerReader {
  readonly #dialect: Dialect;
  readonly #stream: StreamReader | null;
  /** Not read yet. */
  #chunks: Buffer[] = [];
  #byteCount = 0;
  #isUnreadable = false;

  private constructor(dialect: Dialect, stream: StreamReader | null) {
    this.#dialect = dialect;
    this.#stream = stream;
  }

  /**
   * @param headers of the answer, name, value, name, value ...; of one that is not compressed
   * @param isStream the request asked for a stream: Gemini's may be a JSON array
   */
  static for(dialect: Dialect, headers: readonly string[], isStream: boolean | undefined): AnswerReader {
    const isEvents = headerOf(headers, 'content-type')?.startsWith('text/event-stream') ?? false;
    return new AnswerReader(
      dialect,
      isEvents || (isStream === true && dialect.name === 'gemini') ? dialect.streamReader() : null,
    );
  }

  push(bytes: Buffer): void {
    this.#chunks.push(bytes);
    this.#byteCount += bytes.length;
    if (this.#stream === null) {
      if (this.#byteCount > ANSWER_BYTES_READ_MAX) this.#chunks = [];
    } else if (this.#byteCount >= TOGETHER_BYTES || this.#chunks.length >= TOGETHER_COUNT) {
      this.#byteCount = 0;
      // Node writes to sockets before its next microtask.
      queueMicrotask(() => this.#readEvents());
    }
  }

  /** Null: nothing that could be read. Never throws. */
  finish(): LlmAnswer | null {
    if (this.#stream !== null) {
      this.#readEvents();
      return this.#isUnreadable ? null : this.#stream.answer();
    }
    if (this.#chunks.length === 0) return null;
    const bytes = this.#chunks.length === 1 ? (this.#chunks[0] as Buffer) : Buffer.concat(this.#chunks);
    try {
      return this.#dialect.readAnswer(JSON.parse(bytes.toString('utf8')));
    } catch {
      return null;
    }
  }

  /** A reader's error would find nobody above it here, and must not end the process. */
  #readEvents(): void {
    try {
      for (const bytes of this.#chunks.splice(0)) this.#stream?.push(bytes);
    } catch {
      this.#isUnreadable = true;
    }
  }
}
