/**
 * Gathers streamed responses, as events or as a JSON array: the first byte that is no blank tells which, and blanks
 * before it say nothing.
 */
import type { LlmAnswer } from '#contracts';
import { AnswerGatherer } from '../answer-gatherer.js';
import type { StreamReader } from '../dialect.js';
import { SseReader } from '../sse.js';
import { JsonValuesReader } from './json-values.js';
import { takeResponse } from './take-response.js';

const JSON_STARTS = new Set([0x5b, 0x7b]);
/** Space, tab, line ends and the bytes of a byte order mark. */
const BLANKS = new Set([0x20, 0x09, 0x0a, 0x0d, 0xef, 0xbb, 0xbf]);

export class GeminiStreamReader implements StreamReader {
  readonly #gatherer = new AnswerGatherer();
  #format: SseReader | JsonValuesReader | undefined;

  push(chunk: Uint8Array): void {
    if (this.#format) {
      this.#format.push(chunk);
      return;
    }
    const start = chunk.findIndex((byte) => !BLANKS.has(byte));
    if (start === -1) return;
    const take = (json: string) => {
      const response = this.#gatherer.parseEvent(json);
      if (response !== undefined) takeResponse(this.#gatherer, response);
    };
    this.#format = JSON_STARTS.has(chunk[start] as number) ? new JsonValuesReader(take) : new SseReader(take);
    this.#format.push(chunk.subarray(start));
  }

  end(): void {
    this.#format?.end();
  }

  answer(): LlmAnswer {
    const answer = this.#gatherer.toAnswer();
    return { ...answer, lossless: answer.lossless && this.isComplete && !this.isTruncated };
  }

  get isComplete(): boolean {
    return this.#gatherer.finish !== null;
  }

  get keptCount(): number {
    return this.#gatherer.keptCount + (this.#format?.keptCount ?? 0);
  }

  get isTruncated(): boolean {
    return this.#gatherer.isTruncated || (this.#format?.skippedCount ?? 0) > 0;
  }
}
