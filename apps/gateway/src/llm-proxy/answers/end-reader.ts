/**
 * Of an answer that nobody reads, on a path that has no dialect or beyond what is read of one, the end alone: there vendors
 * say what it took, and no more of it is kept while it goes by.
 */
import type { LlmAnswer } from '#contracts';
import { type Dialect, readUsageAtEnd, USAGE_END_CHARS_MAX } from '#domain/llm-dialects';

/** Beyond so many they are put together: each that came by itself takes hundreds of bytes of memory. */
const PIECES_MAX = 64;

export class EndReader {
  readonly #dialect: Dialect | undefined;
  /** The last, as few as hold the end. */
  #chunks: Buffer[] = [];
  #byteCount = 0;

  /** @param dialect in which the usage is told; undefined: whichever it fits */
  constructor(dialect?: Dialect) {
    this.#dialect = dialect;
  }

  push(bytes: Buffer): void {
    this.#chunks.push(bytes);
    this.#byteCount += bytes.length;
    if (this.#chunks.length > PIECES_MAX) this.#chunks = [Buffer.concat(this.#chunks)];
    for (;;) {
      const left = this.#byteCount - (this.#chunks[0]?.length ?? 0);
      if (left < USAGE_END_CHARS_MAX) return;
      this.#chunks.shift();
      this.#byteCount = left;
    }
  }

  /** Null: it does not say what it took. Never throws. */
  finish(): LlmAnswer | null {
    const end = Buffer.concat(this.#chunks).toString('latin1');
    const usage = readUsageAtEnd(end, this.#dialect);
    return usage && { ...UNREAD, usage };
  }
}

const UNREAD: LlmAnswer = {
  model: null,
  text: '',
  tool_calls: [],
  finish: null,
  usage: null,
  failed: false,
  answer_id: null,
  lossless: false,
};
