/**
 * The bytes of a body, in pieces as they came. Its sender decides how they are cut, and one that came by itself would take
 * some hundreds of bytes of memory: small ones are put together, so that a body takes little more than its bytes.
 */

/** A smaller piece is copied, but for the first, which is mostly the only one. */
const SMALL_BYTES = 4 * 1024;
/** What small ones are copied to. */
const BLOCK_BYTES = 32 * 1024;
/** A body up to this size is read in memory that the next one uses, too. */
const SCRATCH_BYTES_MAX = 4 * 1024 * 1024;

const NOTHING = Buffer.alloc(0);
let scratch = NOTHING;

export class BytePieces {
  #pieces: Buffer[] = [];
  /** Of all that came, also when they were given away. */
  byteCount = 0;
  #isGivenAway = false;
  /** The part of it before `#from` belongs to pieces already. */
  #block = NOTHING;
  #from = 0;
  #to = 0;

  push(piece: Buffer): void {
    const isFirst = this.byteCount === 0;
    this.byteCount += piece.length;
    if (isFirst) {
      // Not pushed: that would make room for sixteen more, which mostly never come.
      this.#pieces = [piece];
      return;
    }
    if (piece.length >= SMALL_BYTES) {
      this.#seal();
      this.#pieces.push(piece);
      return;
    }
    if (this.#to + piece.length > this.#block.length) {
      this.#seal();
      this.#block = Buffer.allocUnsafe(BLOCK_BYTES);
      this.#from = 0;
      this.#to = 0;
    }
    this.#to += piece.copy(this.#block, this.#to);
  }

  /** In their order. Not to be written to. */
  get all(): readonly Buffer[] {
    if (this.#isGivenAway) throw new Error('the bytes of this body were given away');
    this.#seal();
    return this.#pieces;
  }

  /** They are the caller's, and nobody else may ask for them again: what has been sent is to be kept by no one. */
  giveAway(): Buffer[] {
    const pieces = [...this.all];
    this.#pieces = [];
    this.#block = NOTHING;
    this.#isGivenAway = true;
    return pieces;
  }

  /** A copy, where there are several. */
  toBuffer(): Buffer {
    const pieces = this.all;
    return pieces.length === 1 ? (pieces[0] as Buffer) : Buffer.concat(pieces, this.byteCount);
  }

  /**
   * Hands `read` all of them in one. A buffer of its own for each large body would have the garbage collector go through the
   * whole heap every fifty of them, which took a third of such a call's processor time.
   *
   * @param read must keep nothing of what it is given: the bytes of another body will stand there
   */
  read<T>(read: (bytes: Buffer) => T): T {
    if (this.all.length <= 1 || this.byteCount > SCRATCH_BYTES_MAX) return read(this.toBuffer());
    // Taken, so that who reads within a read gets another.
    let memory = scratch;
    scratch = NOTHING;
    if (memory.length < this.byteCount) memory = Buffer.allocUnsafeSlow(roomFor(this.byteCount));
    try {
      let at = 0;
      for (const piece of this.#pieces) at += piece.copy(memory, at);
      return read(memory.subarray(0, at));
    } finally {
      scratch = memory;
    }
  }

  #seal(): void {
    if (this.#from === this.#to) return;
    this.#pieces.push(this.#block.subarray(this.#from, this.#to));
    this.#from = this.#to;
  }
}

/** The next power of two. */
const roomFor = (byteCount: number): number => 2 ** Math.ceil(Math.log2(byteCount));
