/**
 * Gathers streamed responses, as events or as a JSON array: the first byte that is no blank tells which, and blanks
 * before it say nothing.
 */
import { parseJsonExactly } from '#kernel';
import { GatheringReader } from '../gathering-reader.js';
import { SseReader } from '../sse.js';
import { JsonValuesReader } from './json-values.js';
import { isPlainResponse } from './lossless.js';
import { takeResponse } from './take-response.js';

const JSON_STARTS = new Set([0x5b, 0x7b]);
/** Space, tab, line ends and the bytes of a byte order mark. */
const BLANKS = new Set([0x20, 0x09, 0x0a, 0x0d, 0xef, 0xbb, 0xbf]);

export class GeminiStreamReader extends GatheringReader {
  readonly #take = (json: string): void => {
    const response = this.gatherer.parseEvent(json);
    if (response === undefined) return;
    const isPlain = isPlainResponse(response);
    this.gatherer.isLossy ||= !isPlain;
    // It may not be so for an id of 64 bits among the arguments of a call, which tells it from another one.
    takeResponse(this.gatherer, isPlain ? response : parseJsonExactly(Buffer.from(json)));
  };
  protected cutter: SseReader | JsonValuesReader = new SseReader(this.#take);
  #isBegun = false;

  override push(chunk: Uint8Array): void {
    if (this.#isBegun) {
      super.push(chunk);
      return;
    }
    const start = chunk.findIndex((byte) => !BLANKS.has(byte));
    if (start === -1) return;
    this.#isBegun = true;
    if (JSON_STARTS.has(chunk[start] as number)) this.cutter = new JsonValuesReader(this.#take);
    super.push(chunk.subarray(start));
  }

  get isComplete(): boolean {
    return this.gatherer.finish !== null;
  }
}
