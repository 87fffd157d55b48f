/**
 * The gateway's own key where an upstream says it to an agent: some quote it in an error, or give a request's headers back.
 * Each of its characters becomes a star, so that what was told of lengths holds. Not looked for in the body of a good answer, nor
 * in one that came compressed although that was not asked for.
 */

/** A shorter one (`EMPTY`, `ollama`) is a word that local servers take from anybody, and may say. */
const KEY_CHARS_MIN = 8;
const STAR = '*';

const isSecret = (key: string | null): key is string => key !== null && key.length >= KEY_CHARS_MIN;

/** Hot path. @param headers name, value, name, value ...; @param key null: the caller's own passes through */
export function maskKeyInHeaders(headers: string[], key: string | null): void {
  if (!isSecret(key)) return;
  for (let at = 1; at < headers.length; at += 2) {
    const value = headers[at] as string;
    if (value.includes(key)) headers[at] = value.replaceAll(key, STAR.repeat(key.length));
  }
}

/** Of a body in pieces, wherever they are cut. */
export class KeyMask {
  readonly #key: Buffer;
  /** With which the key may have begun; shorter than it. */
  #held: Buffer = Buffer.alloc(0);

  private constructor(key: string) {
    this.#key = Buffer.from(key, 'latin1');
  }

  /** Null: there is nothing to hide. */
  static for(key: string | null): KeyMask | null {
    return isSecret(key) ? new KeyMask(key) : null;
  }

  /** What may go on: a copy, without what is held back. */
  push(came: Buffer): Buffer {
    const bytes = Buffer.concat([this.#held, came]);
    const { length } = this.#key;
    for (let at = bytes.indexOf(this.#key); at !== -1; at = bytes.indexOf(this.#key, at + length))
      bytes.fill(STAR, at, at + length);
    const end = bytes.length - this.#beginningAtEnd(bytes);
    this.#held = bytes.subarray(end);
    return bytes.subarray(0, end);
  }

  /** What is left. */
  finish(): Buffer {
    return this.#held;
  }

  /** How many bytes at the end are the key's first ones. */
  #beginningAtEnd(bytes: Buffer): number {
    let count = Math.min(this.#key.length - 1, bytes.length);
    while (count > 0 && !bytes.subarray(-count).equals(this.#key.subarray(0, count))) count -= 1;
    return count;
  }
}
