/**
 * The gateway's own key where an upstream says it to an agent: some quote it in an error, which may come behind a status of 200, or
 * give a request's headers back. Each of its characters becomes a star, so that what was told of lengths holds. A good answer that
 * came compressed although that was not asked for reaches the agent as it came; what is kept of it here is without the key.
 */
import type { Reader } from './inflated-reader.js';

/** A shorter one (`EMPTY`, `ollama`) is a word that local servers take from anybody, and may say. */
const KEY_CHARS_MIN = 8;
const STAR = '*';

const isSecret = (key: string | null): key is string => key !== null && key.length >= KEY_CHARS_MIN;

export const maskKey = (text: string, key: string | null): string =>
  isSecret(key) ? text.replaceAll(key, STAR.repeat(key.length)) : text;

/** Hot path. @param headers name, value, name, value ...; @param key null: the caller's own passes through */
export function maskKeyInHeaders(headers: string[], key: string | null): void {
  if (!isSecret(key)) return;
  for (let at = 1; at < headers.length; at += 2) {
    const value = headers[at] as string;
    if (value.includes(key)) headers[at] = value.replaceAll(key, STAR.repeat(key.length));
  }
}

/** Reads along what comes, without the key. */
export class MaskedReader<Read> implements Reader<Read> {
  constructor(
    private readonly reader: Reader<Read>,
    private readonly mask: KeyMask,
  ) {}

  push(bytes: Buffer): void {
    this.reader.push(this.mask.push(bytes));
  }

  finish(): ReturnType<Reader<Read>['finish']> {
    this.reader.push(this.mask.finish());
    return this.reader.finish();
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

  /** What may go on, without what is held back. Hot path: the bytes themselves, where the key is not in them. */
  push(came: Buffer): Buffer {
    const bytes = this.#masked(this.#held.length === 0 ? came : Buffer.concat([this.#held, came]));
    const end = this.#beginningAtEnd(bytes);
    this.#held = bytes.subarray(end);
    return end === bytes.length ? bytes : bytes.subarray(0, end);
  }

  /** What is left; to be asked once. */
  finish(): Buffer {
    return this.#held;
  }

  #masked(bytes: Buffer): Buffer {
    const { length } = this.#key;
    let at = bytes.indexOf(this.#key);
    if (at === -1) return bytes;
    const masked = Buffer.from(bytes);
    for (; at !== -1; at = masked.indexOf(this.#key, at + length)) masked.fill(STAR, at, at + length);
    return masked;
  }

  /** From where on the bytes are the key's first ones: at their end, mostly. */
  #beginningAtEnd(bytes: Buffer): number {
    const [first] = this.#key as Buffer & [number];
    let at = bytes.indexOf(first, Math.max(0, bytes.length - this.#key.length + 1));
    while (at !== -1 && !bytes.subarray(at).equals(this.#key.subarray(0, bytes.length - at)))
      at = bytes.indexOf(first, at + 1);
    return at === -1 ? bytes.length : at;
  }
}
