/**
 * SimHash of a text: 64 bits, of which almost equal texts differ in few. Two are similar below a Hamming distance of 3.
 *
 * `fingerprint` is for what people and models write: case, white space, numbers, UUIDs and timestamps make no
 * difference (`normalise` is the same rule, written to be read). `rawFingerprint` is for what tools answer, where a
 * 42 % instead of a 41 % is the whole news.
 *
 * @see Charikar, Similarity estimation techniques from rounding algorithms, 2002; seed 001, decisions 1 and 5
 */
import { foldUnicode } from './normalise.js';
import { LAYOUT } from './simhash/layout.js';
import { writeSimhashProgram } from './simhash/program.js';

/** Unsigned 32-bit halves. */
export interface Fingerprint {
  readonly hi: number;
  readonly lo: number;
}

export interface RawFingerprint extends Fingerprint {
  /** Hash over all tokens: equal for texts that differ in the amount of white space only. */
  readonly exact: string;
  /** Hash over all digits and where they part; "0" when there is none. */
  readonly digits: string;
}

/** Strictly below is similar. @see seed 001, decision 1 */
export const SIMILAR_WHEN_DISTANCE_BELOW = 3;

const PAGE_BYTES = 65_536;
/** Memory of the program that stays; a longer text gets a program of its own, which is then dropped. */
const KEPT_PAGES = 32;
/** The program needs a quarter of the text's size for its masks. */
const MASKS_SHARE = 4;
/** Per UTF-16 code unit; a character of two units has 4. */
const UTF8_BYTES_PER_UNIT_MAX = 3;
const UTF8_BYTES_PER_CHARACTER_MAX = 4;

/** The parts of the engine's global that are used here; they are in no library of ours. */
declare const WebAssembly: {
  Module: new (bytes: Uint8Array) => object;
  Instance: new (
    module: object,
  ) => {
    exports: {
      memory: { buffer: ArrayBuffer; grow(pages: number): number };
      runFolded(length: number, masks: number): void;
      runRaw(length: number, masks: number): void;
    };
  };
};

const compiled = new WebAssembly.Module(writeSimhashProgram(KEPT_PAGES));

class Simhasher {
  readonly #runFolded: (length: number, masks: number) => void;
  readonly #runRaw: (length: number, masks: number) => void;
  readonly #bytes: Buffer;
  readonly #words: Int32Array;
  readonly #textBytesMax: number;

  constructor(textBytes: number) {
    const { memory, runFolded, runRaw } = new WebAssembly.Instance(compiled).exports;
    const needed = Math.ceil((textBytes * (1 + 1 / MASKS_SHARE) + 2 * LAYOUT.text) / PAGE_BYTES);
    if (needed > KEPT_PAGES) memory.grow(needed - KEPT_PAGES);
    this.#runFolded = runFolded;
    this.#runRaw = runRaw;
    this.#bytes = Buffer.from(memory.buffer);
    this.#words = new Int32Array(memory.buffer);
    this.#bytes.fill(0xff, LAYOUT.pieceMask, LAYOUT.pieceMask + 16);
    this.#textBytesMax = Math.floor((memory.buffer.byteLength - 2 * LAYOUT.text) / (1 + 1 / MASKS_SHARE));
  }

  get textBytesMax(): number {
    return this.#textBytesMax;
  }

  /** Puts the text into memory, whole characters only. @returns bytes of UTF-8 */
  write(text: string, bytesMax: number): number {
    return this.#bytes.write(text, LAYOUT.text, bytesMax, 'utf8');
  }

  /** @returns false when there is no token in it */
  run(length: number, isRaw: boolean): boolean {
    const masks = (LAYOUT.text + length + LAYOUT.paddingBytes + 7) & ~7;
    if (isRaw) this.#runRaw(length, masks);
    else this.#runFolded(length, masks);
    return this.#word(LAYOUT.tokenCount) !== 0;
  }

  /** Bit k is set where more than half of the weight has it set. */
  fingerprint(): Fingerprint {
    const tokens = this.#word(LAYOUT.tokenCount);
    // Two features more than tokens for the borders, and the whole text two or three times: always an odd total.
    const half = (tokens + 2 + (tokens & 1 ? 2 : 3) - 1) / 2;
    return { hi: this.#bitsAbove(half, 1), lo: this.#bitsAbove(half, 0) };
  }

  /** Adds the two counts of each bit, plane by plane, and compares the sum with `half` as it goes. */
  #bitsAbove(half: number, side: 0 | 1): number {
    let [carry, above] = [0, 0];
    for (let k = 0; k < LAYOUT.planeCount; k += 1) {
      const one = this.#word(LAYOUT.planes + 16 * k + 4 * side);
      const other = this.#word(LAYOUT.planes + 16 * k + 8 + 4 * side);
      const sum = one ^ other ^ carry;
      carry = (one & other) | (carry & (one ^ other));
      // A higher bit that differs outweighs all lower ones.
      above = (half >>> k) & 1 ? sum & above : sum | above;
    }
    return above >>> 0;
  }

  hash(address: number): string {
    const hi = this.#word(address + 4) >>> 0;
    return (BigInt(hi) * 0x1_0000_0000n + BigInt(this.#word(address) >>> 0)).toString(36);
  }

  #word(address: number): number {
    return this.#words[address >> 2] as number;
  }
}

const kept = new Simhasher(0);

/** Loads the text into a program and runs it. @returns null when nothing but white space is in it */
function simhash(text: string, isRaw: boolean): Simhasher | null {
  if (text === '') return null;
  // Only ASCII has as many bytes as characters. With room for one character more, other text is seen to have more.
  const asciiMax = text.length + UTF8_BYTES_PER_CHARACTER_MAX;
  if (asciiMax <= kept.textBytesMax) {
    const written = kept.write(text, asciiMax);
    if (written === text.length) return kept.run(written, isRaw) ? kept : null;
  }
  const folded = isRaw ? text : foldUnicode(text);
  const bytesMax = folded.length * UTF8_BYTES_PER_UNIT_MAX;
  const hasher = bytesMax <= kept.textBytesMax ? kept : new Simhasher(bytesMax);
  return hasher.run(hasher.write(folded, bytesMax), isRaw) ? hasher : null;
}

/**
 * Of text that people or models wrote. Null for a text of white space only, which is similar to nothing.
 * Synchronous; see bench/kill-switch.mjs for its cost, about 1 us and 1 ms a megabyte of ASCII, several times that
 * for other text.
 */
export const fingerprint = (text: string): Fingerprint | null => simhash(text, false)?.fingerprint() ?? null;

/** Of text that a tool returned: nothing is normalised but white space. Null for white space only. */
export function rawFingerprint(text: string): RawFingerprint | null {
  const hasher = simhash(text, true);
  if (hasher === null) return null;
  return {
    ...hasher.fingerprint(),
    exact: hasher.hash(LAYOUT.exact),
    digits: hasher.hash(LAYOUT.digits),
  };
}

/** Bits in which two fingerprints differ, 0..64. */
export const hammingDistance = (one: Fingerprint, other: Fingerprint): number =>
  bitCount(one.hi ^ other.hi) + bitCount(one.lo ^ other.lo);

function bitCount(bits: number): number {
  let sums = bits - ((bits >>> 1) & 0x55555555);
  sums = (sums & 0x33333333) + ((sums >>> 2) & 0x33333333);
  return Math.imul((sums + (sums >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}

/** Null, the fingerprint of nothing, is similar to nothing, itself included. */
export const isSimilar = (one: Fingerprint | null, other: Fingerprint | null): boolean =>
  one !== null && other !== null && hammingDistance(one, other) < SIMILAR_WHEN_DISTANCE_BELOW;
