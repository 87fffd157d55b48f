/** Finds what closes a quotation. Remembers what it found, so that a text of opening marks is still read in one pass. */
import { isAlphanumeric } from './char-classes.js';

export class ClosingMarks {
  /** Mark -> where it next stands; Infinity for nowhere. */
  private readonly foundAt = new Map<string, number>();
  private apostropheEnd = -1;

  constructor(private readonly text: string) {}

  /** @param from ascends from call to call */
  nextOf(mark: string, from: number): number {
    const known = this.foundAt.get(mark);
    if (known !== undefined && known >= from) return known;
    const found = this.text.indexOf(mark, from);
    const at = found < 0 ? Number.POSITIVE_INFINITY : found;
    this.foundAt.set(mark, at);
    return at;
  }

  /** The next apostrophe behind which no word goes on. @param from ascends from call to call */
  nextApostropheEnd(from: number): number {
    const { text } = this;
    if (this.apostropheEnd >= from) return this.apostropheEnd;
    let at = text.indexOf("'", from);
    while (at >= 0 && at + 1 < text.length && isAlphanumeric(text.charCodeAt(at + 1)))
      at = text.indexOf("'", at + 1);
    this.apostropheEnd = at < 0 ? Number.POSITIVE_INFINITY : at;
    return this.apostropheEnd;
  }
}

/** What was quoted, without the punctuation that some put inside the marks. */
export const trimmed = (quoted: string): string =>
  quoted
    .trim()
    .replace(/\s+/g, ' ')
    .replace(/[.,;:!?。]$/, '');
