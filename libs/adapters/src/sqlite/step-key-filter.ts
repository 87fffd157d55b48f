/**
 * What keys a segment of `step_keys` may hold: "no" is certain, "yes" is wrong about once in four hundred times when the
 * segment is full. A step that is new, as most are, is told so without a look at any segment.
 *
 * @see Bloom, "Space/time trade-offs in hash coding with allowable errors", 1970; two hashes do for all of the probes:
 *   Kirsch and Mitzenmacher, "Less hashing, same performance", 2006
 */

/** Of its traces; the sessions of a segment are few beside them. */
const BITS_PER_STEP = 16;
const PROBES = 4;
const BITS_PER_BYTE = 8;
/** 2 ** 32 by the golden ratio: spreads what differs in any bit (Knuth, "The Art of Computer Programming", 6.4). */
const SPREAD = 0x9e3779b1;

/** Of the filter of a segment of so many steps. */
export const filterLength = (stepsCount: number): number => (stepsCount * BITS_PER_STEP) / BITS_PER_BYTE;

export class StepKeyFilter {
  readonly #bytes: Uint8Array;
  readonly #bitsCount: number;

  /** @param bytes what `bytes` gave for as many steps */
  constructor(stepsCount: number, bytes: Uint8Array = new Uint8Array(filterLength(stepsCount))) {
    this.#bytes = bytes;
    this.#bitsCount = bytes.length * BITS_PER_BYTE;
  }

  get bytes(): Uint8Array {
    return this.#bytes;
  }

  /** @param key 44 bits, evenly spread, as are the 32 of `part` */
  add(key: number, part: number): void {
    const stride = this.#stride(key, part);
    let bit = this.#first(key, part);
    for (let probe = 0; probe < PROBES; probe += 1) {
      this.#bytes[bit >>> 3] = (this.#bytes[bit >>> 3] as number) | (1 << (bit & 7));
      bit = (bit + stride) % this.#bitsCount;
    }
  }

  mayHold(key: number, part: number): boolean {
    const stride = this.#stride(key, part);
    let bit = this.#first(key, part);
    for (let probe = 0; probe < PROBES; probe += 1) {
      if (((this.#bytes[bit >>> 3] as number) & (1 << (bit & 7))) === 0) return false;
      bit = (bit + stride) % this.#bitsCount;
    }
    return true;
  }

  #first(key: number, part: number): number {
    return ((key % this.#bitsCount) + (part >>> 0)) % this.#bitsCount;
  }

  #stride(key: number, part: number): number {
    const spread = Math.imul(part, SPREAD) >>> 0;
    return 1 + ((Math.floor(key / this.#bitsCount) + spread) % (this.#bitsCount - 1));
  }
}
