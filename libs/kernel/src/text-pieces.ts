/**
 * A text that comes in pieces. Added to each other by `+=`, each takes 32 bytes of memory until somebody looks at the text, and
 * a part of a longer text keeps all of that: so many of one character each take more than what they came from. Put together
 * regularly, they take little more than their characters.
 */

/** Beyond so many they are put together. */
const PIECES_MAX = 256;

export class TextPieces {
  /** Characters of all that came. */
  length = 0;
  #text = '';
  #pieces: string[] = [];

  push(piece: string): void {
    this.length += piece.length;
    if (this.#pieces.push(piece) >= PIECES_MAX) this.#join();
  }

  toString(): string {
    if (this.#pieces.length > 0) this.#join();
    return this.#text;
  }

  clear(): void {
    this.length = 0;
    this.#text = '';
    this.#pieces = [];
  }

  #join(): void {
    this.#text += this.#pieces.length === 1 ? this.#pieces[0] : this.#pieces.join('');
    this.#pieces = [];
  }
}
