/**
 * Of an answer on a path that nobody reads, the end alone: there vendors say what it took, and no more of it is kept
 * while it goes by.
 */
import type { LlmAnswer } from '#contracts';
import { readUsageAtEnd, USAGE_END_CHARS_MAX } from '#domain/llm-dialects';

export class EndReader {
  /** The last, as few as hold the end. */
  #chunks: Buffer[] = [];
  #byteCount = 0;

  push(bytes: Buffer): void {
    this.#chunks.push(bytes);
    this.#byteCount += bytes.length;
    for (;;) {
      const left = this.#byteCount - (this.#chunks[0]?.length ?? 0);
      if (left < USAGE_END_CHARS_MAX) return;
      this.#chunks.shift();
      this.#byteCount = left;
    }
  }

  /** Null: it does not say. Never throws. */
  finish(): LlmAnswer | null {
    const usage = readUsageAtEnd(Buffer.concat(this.#chunks).toString('latin1'));
    return usage && { ...UNREAD, usage };
  }
}

const UNREAD: Omit<LlmAnswer, 'usage'> = {
  model: null,
  text: '',
  tool_calls: [],
  finish: null,
  failed: false,
  answer_id: null,
  lossless: false,
};
