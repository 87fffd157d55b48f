/**
 * The texts of all windows, each under a number, so that windows are rows of numbers and an unusual step alone makes a text
 * stay. Agents name the same few tools and, made from one program, often the same intents, each time as a text of its own: a
 * text that is held already gets its number again, which takes no memory and tells two of them equal without being read.
 * Found by a cache with one place for each digest, so that now and then an equal text lies under two numbers.
 */
import type { Brand } from '#kernel';
import { pageLength } from './page-length.js';

/** Names a text while somebody holds it. */
export type TextId = Brand<number, 'TextId'>;

/** Always there, and held by nobody. */
export const EMPTY_TEXT = 0 as TextId;

/** A power of two, several times the tools and labels that a fleet uses at once. */
const PLACES = 4_096;
/** Texts of a page are this many at most. */
const TEXT_BITS = 15;
const PAGE_TEXTS = 1 << TEXT_BITS;

interface TextPage {
  readonly texts: string[];
  /** Holders of each text; of a number that is free the next free one, as `~id`. */
  readonly holders: Int32Array;
}

export class TextPool {
  /** Pairs of a digest and the number last given to a text with it; maybe another text's since. */
  readonly #places = new Int32Array(PLACES * 2);
  /** They stay: at most as many numbers as texts were held at once. */
  readonly #pages: TextPage[] = [];
  /** The latest to become free is the first to be used again, while it is at hand. */
  #free: TextId = EMPTY_TEXT;

  constructor() {
    this.#addPage();
  }

  /**
   * Keeps a text until it is released, once for each call. O(1)
   *
   * @param digest of the text, 32 bits, signed: texts whose digests meet take the place from each other
   */
  hold(text: string, digest: number): TextId {
    // A number that is free has this text, and must not be found by it.
    if (text === '') return EMPTY_TEXT;
    const place = (digest & (PLACES - 1)) * 2;
    const known = this.#places[place + 1] as TextId;
    // Another text's is mostly told by its digest, without being touched.
    if (this.#places[place] === digest && this.of(known) === text) return this.holdAgain(known);
    if (this.#free === EMPTY_TEXT) this.#addPage();
    const id = this.#free;
    const { texts, holders } = this.#pageOf(id);
    const at = placeIn(id);
    this.#free = ~(holders[at] as number) as TextId;
    texts[at] = text;
    holders[at] = 1;
    this.#places[place] = digest;
    this.#places[place + 1] = id;
    return id;
  }

  /** A text that is held gets one holder more. */
  holdAgain(id: TextId): TextId {
    if (id !== EMPTY_TEXT) (this.#pageOf(id).holders[placeIn(id)] as number) += 1;
    return id;
  }

  /** One holder less; without any the text goes, and its number becomes another's. */
  release(id: TextId): void {
    if (id === EMPTY_TEXT) return;
    const { texts, holders } = this.#pageOf(id);
    const at = placeIn(id);
    const left = (holders[at] as number) - 1;
    holders[at] = left;
    if (left > 0) return;
    holders[at] = ~this.#free;
    texts[at] = '';
    this.#free = id;
  }

  /** "" for a number that is free. */
  of(id: TextId): string {
    return this.#pageOf(id).texts[placeIn(id)] as string;
  }

  #pageOf(id: TextId): TextPage {
    return this.#pages[id >>> TEXT_BITS] as TextPage;
  }

  /** All its numbers are free, but for that of the empty text. */
  #addPage(): void {
    const length = pageLength(this.#pages.length, PAGE_TEXTS);
    const first = this.#pages.length << TEXT_BITS;
    const holders = Int32Array.from({ length }, (_, at) => ~(at + 1 < length ? first + at + 1 : EMPTY_TEXT));
    this.#pages.push({ texts: new Array(length).fill(''), holders });
    this.#free = (first === EMPTY_TEXT ? first + 1 : first) as TextId;
  }
}

const placeIn = (id: TextId) => id & (PAGE_TEXTS - 1);
