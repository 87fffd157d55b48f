/**
 * One text in place of many equal ones. Agents name the same few tools and, made from one program, often the same
 * intents, each time as a text of its own: shared, they take no memory, and two of them are found equal without being
 * read. A cache with one place for each digest: it remembers what came lately and needs no eviction.
 */

/** A power of two, several times the tools and labels that a fleet uses at once. */
const PLACES = 4_096;
/** Longer texts hardly recur, and the places may hold no more than a megabyte or two. */
const CHARS_MAX = 256;

export class SharedTexts {
  readonly #texts: string[] = new Array(PLACES).fill('');

  /** @param digest of the text, any number: texts whose digests meet take the place from each other. O(1) */
  share(text: string, digest: number): string {
    if (text.length > CHARS_MAX) return text;
    const place = digest & (PLACES - 1);
    const known = this.#texts[place] as string;
    if (known === text) return known;
    this.#texts[place] = text;
    return text;
  }
}
