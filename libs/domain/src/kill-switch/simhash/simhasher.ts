/** Runs the SimHash program over a text, and reads what it has counted. */
import { compile } from '#kernel/wasm-writer';
import { encodeFolded } from '../fold.js';
import { LAYOUT } from './layout.js';
import { writeSimhashProgram } from './program.js';

const PAGE_BYTES = 65_536;
/** Address space of a program, of which only what has been written takes memory. */
const PAGES = 64;
/** UTF-8 of a UTF-16 code unit; a character of two units has 4. */
const UTF8_BYTES_PER_UNIT_MAX = 3;
const UTF8_BYTES_PER_CHARACTER_MAX = 4;
const UTF16_BYTES_PER_UNIT = 2;
/** Behind the text lie either its UTF-16, which is then done with, or the program's masks, a quarter of its size. */
const BYTES_PER_UNIT = UTF8_BYTES_PER_UNIT_MAX + UTF16_BYTES_PER_UNIT;

interface SimhashProgram {
  runFolded(length: number, masks: number): void;
  runRaw(length: number, masks: number): void;
}

const startProgram = compile<SimhashProgram>(writeSimhashProgram(PAGES));

export class Simhasher {
  readonly #program: SimhashProgram;
  readonly #bytes: Buffer;
  readonly #units: Uint16Array;
  readonly #words: Int32Array;
  /** Longest text it takes, in UTF-16 code units. */
  readonly unitsMax: number;

  /** @param units of the longest text, should it be longer than what a program takes anyway */
  constructor(units = 0) {
    const program = startProgram();
    const { memory } = program;
    this.#program = program;
    const pages = Math.ceil((units * BYTES_PER_UNIT + 2 * LAYOUT.text) / PAGE_BYTES);
    if (pages > PAGES) memory.grow(pages - PAGES);
    this.#bytes = Buffer.from(memory.buffer);
    this.#units = new Uint16Array(memory.buffer);
    this.#words = new Int32Array(memory.buffer);
    this.unitsMax = Math.floor((memory.buffer.byteLength - 2 * LAYOUT.text) / BYTES_PER_UNIT);
    this.#bytes.fill(0xff, LAYOUT.pieceMask, LAYOUT.pieceMask + 16);
  }

  /**
   * @param text at most `unitsMax` long
   * @returns false when there is no token in it
   */
  run(text: string, isRaw: boolean): boolean {
    const length = this.#write(text, isRaw);
    const masks = (LAYOUT.text + length + LAYOUT.paddingBytes + 7) & ~7;
    if (isRaw) this.#program.runRaw(length, masks);
    else this.#program.runFolded(length, masks);
    return this.#word(LAYOUT.tokenCount) !== 0;
  }

  /** Signed. Bit k of the halves is set where more than half of the weight has it set. */
  get fingerprint(): { hi: number; lo: number } {
    const tokens = this.#word(LAYOUT.tokenCount);
    // Two features more than tokens for the borders, and the whole text two or three times: always an odd total.
    const half = (tokens + 2 + (tokens & 1 ? 2 : 3) - 1) / 2;
    return { hi: this.#bitsAbove(half, 1), lo: this.#bitsAbove(half, 0) };
  }

  /** @param address of an i64 @returns in base 36 */
  hash(address: number): string {
    const hi = this.#word(address + 4) >>> 0;
    return (BigInt(hi) * 0x1_0000_0000n + BigInt(this.#word(address) >>> 0)).toString(36);
  }

  /** Puts the text into memory. @returns bytes of UTF-8 */
  #write(text: string, isRaw: boolean): number {
    const { length } = text;
    // Only ASCII has as many bytes as characters. With room for one character more, other text is seen to have more.
    const written = this.#bytes.write(text, LAYOUT.text, length + UTF8_BYTES_PER_CHARACTER_MAX, 'utf8');
    if (written === length) return length;
    const unitsAt = (LAYOUT.text + length * UTF8_BYTES_PER_UNIT_MAX + 1) & ~1;
    if (isRaw) return this.#bytes.write(text, LAYOUT.text, unitsAt - LAYOUT.text, 'utf8');
    this.#bytes.write(text, unitsAt, length * UTF16_BYTES_PER_UNIT, 'utf16le');
    const end = encodeFolded(this.#units, unitsAt / UTF16_BYTES_PER_UNIT, length, this.#bytes, LAYOUT.text);
    return end - LAYOUT.text;
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
    return above;
  }

  #word(address: number): number {
    return this.#words[address >> 2] as number;
  }
}
