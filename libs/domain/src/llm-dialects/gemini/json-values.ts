/**
 * Reads the objects of a JSON array as they come: `[{...},\n{...}]`, the vendor's stream where no events were asked
 * for. Looks at nothing but strings and brackets, all of them ASCII, so that bytes can be cut anywhere.
 */
import { BytePieces } from '#kernel';
import { DIALECT_LIMITS } from '../dialect-limits.js';
import { holdsTooMuch } from '../read-json.js';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

export class JsonValuesReader {
  /** Objects left out because they were longer than the limit, held more, or had no end. */
  skippedCount = 0;
  readonly #onValue: (json: string) => void;
  /** Braces open; 0 between the objects, where commas and the array's own brackets are passed over. */
  #depth = 0;
  #inString = false;
  #escaped = false;
  /** Of the object that has not ended; null: nothing came of it before, or too much. */
  #pieces: BytePieces | null = null;
  #bytes = 0;

  constructor(onValue: (json: string) => void) {
    this.#onValue = onValue;
  }

  /** Bytes of the object that has not ended. */
  get keptCount(): number {
    return this.#pieces?.byteCount ?? 0;
  }

  /** Calls back for each object that this chunk completes. Copies what it keeps of the chunk. */
  push(chunk: Uint8Array): void {
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    let start = 0;
    for (let index = 0; index < bytes.length; index++) {
      const byte = bytes[index];
      if (this.#inString) {
        if (this.#escaped) this.#escaped = false;
        else if (byte === BACKSLASH) this.#escaped = true;
        else if (byte === QUOTE) this.#inString = false;
      } else if (byte === OPEN_BRACE) {
        if (this.#depth === 0) start = index;
        this.#depth += 1;
      } else if (this.#depth > 0) {
        if (byte === QUOTE) this.#inString = true;
        else if (byte === CLOSE_BRACE) {
          this.#depth -= 1;
          if (this.#depth === 0) this.#end(bytes.subarray(start, index + 1));
        }
      }
    }
    if (this.#depth > 0) this.#keep(bytes.subarray(start));
  }

  /** No chunk is to come. */
  end(): void {
    if (this.#depth > 0) this.skippedCount += 1;
    this.#depth = 0;
    this.#pieces = null;
  }

  #keep(piece: Buffer): void {
    this.#bytes += piece.length;
    if (this.#bytes > DIALECT_LIMITS.eventBytesMax) this.#pieces = null;
    else {
      this.#pieces ??= new BytePieces();
      this.#pieces.push(Buffer.from(piece));
    }
  }

  #end(last: Buffer): void {
    const length = this.#bytes + last.length;
    const json = length > DIALECT_LIMITS.eventBytesMax ? '' : this.#decode(last);
    this.#pieces = null;
    this.#bytes = 0;
    const isSkipped = json === '' || json.length > DIALECT_LIMITS.eventCharsMax || holdsTooMuch(json);
    if (isSkipped) this.skippedCount += 1;
    else this.#onValue(json);
  }

  #decode(last: Buffer): string {
    if (this.#pieces === null) return last.toString('utf8');
    return Buffer.concat([...this.#pieces.all, last]).toString('utf8');
  }
}
