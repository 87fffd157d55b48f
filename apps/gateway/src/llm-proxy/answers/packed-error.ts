/**
 * An error that its upstream compressed, although none was asked for: it may quote a key of ours where that cannot be seen. Held
 * back until it is whole, and undone.
 */
import { BytePieces } from '#kernel';
import type { AnswerRoom, MayKeep } from './answer-room.js';
import { InflatedReader } from './inflated-reader.js';
import type { KeyMask } from './key-mask.js';

/** Inflated. Errors are short. */
const ERROR_BYTES_MAX = 1024 * 1024;

export interface PackedErrorParts {
  /** Of the answer as it came: name, value, name, value ... */
  headers: string[];
  /** In lower case, in the order in which they were applied. */
  encodings: readonly string[];
  mask: KeyMask;
  room: AnswerRoom;
}

export class PackedError {
  readonly headers: string[];
  readonly #mask: KeyMask;
  readonly #whole: WholeReader;
  readonly #inflated: InflatedReader<Buffer> | null;
  #isEmpty = true;

  constructor({ headers, encodings, mask, room }: PackedErrorParts) {
    this.headers = headers;
    this.#mask = mask;
    this.#whole = new WholeReader(room.keeper());
    this.#inflated = InflatedReader.for(encodings, this.#whole, room);
  }

  /** False: it need not come to its end, nothing more of it will be read. */
  push(bytes: Buffer): boolean {
    this.#isEmpty = false;
    this.#inflated?.push(bytes);
    return this.#inflated?.takesMore === true && this.#whole.takesMore;
  }

  /** Plain, and without the key. Null: it is too long, or in nothing that is read here. Never throws. */
  async finish(): Promise<Buffer | null> {
    if (this.#isEmpty) return Buffer.alloc(0);
    const error = (await this.#inflated?.finish()) ?? null;
    return error && Buffer.concat([this.#mask.push(error), this.#mask.finish()]);
  }
}

class WholeReader {
  readonly #mayKeep: MayKeep;
  readonly #pieces = new BytePieces();
  #isGivenUp = false;

  constructor(mayKeep: MayKeep) {
    this.#mayKeep = mayKeep;
  }

  get takesMore(): boolean {
    return !this.#isGivenUp;
  }

  push(bytes: Buffer): void {
    const byteCount = this.#pieces.byteCount + bytes.length;
    this.#isGivenUp ||= byteCount > ERROR_BYTES_MAX || !this.#mayKeep(byteCount);
    if (!this.#isGivenUp) this.#pieces.push(bytes);
  }

  /** Null: nothing that could be read, or too much. */
  finish(): Buffer | null {
    return this.#isGivenUp || this.#pieces.byteCount === 0 ? null : this.#pieces.toBuffer();
  }
}
