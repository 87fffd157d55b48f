/**
 * Where the windows of all sessions lie. With many sessions every object followed is a cache miss, so a window is no
 * object: it is a row of numbers, side by side with other windows' rows in pages of their own, and two texts that only
 * an unusual step looks at.
 *
 *     numbers   ... | size oldest unique chars state period agent | digest digest ... | chars intent tool | chars ...
 *     texts     ... | key flagged | key flagged | ...
 *
 * Hands out rows and takes them back; what is written into them is `EntropyWindow`'s business.
 */
import type { Brand } from '#kernel';
import { pageLength } from './page-length.js';

/** Names a row: valid until it is closed, after which another session may get the same. */
export type WindowSlot = Brand<number, 'WindowSlot'>;

/** A text of a row; a list only where several agents are flagged. */
export type RowText = string | string[];

/** Numbers of a row before its tuples', and those of each tuple. */
export const HEAD_NUMBERS = 7;
export const TUPLE_NUMBERS = 4;
/** Texts of a row. */
export const ROW_TEXTS = 2;

/** Rows of a page are this many at most. */
const ROW_BITS = 13;
const PAGE_ROWS = 1 << ROW_BITS;

export interface WindowPage {
  readonly index: number;
  /** Tuples to a row. */
  readonly capacity: number;
  readonly rows: number;
  readonly numbers: Int32Array;
  readonly texts: RowText[];
  /** Rows given back. */
  readonly free: number[];
  /** Rows from this one on were never handed out. */
  untouchedFrom: number;
}

export class WindowRows {
  readonly #pages: (WindowPage | undefined)[] = [];
  /** Places in `#pages` that are empty. */
  readonly #gaps: number[] = [];
  /** Pages with a row to hand out, by their capacity. */
  readonly #roomy = new Map<number, Set<WindowPage>>();

  /** A row for `capacity` tuples, all its numbers 0 and its texts "". O(1), but for the first of each page. */
  open(capacity: number): WindowSlot {
    const roomy = this.#roomyOf(capacity);
    const [page = this.#addPage(capacity, roomy)] = roomy;
    let row = page.free.pop();
    if (row === undefined) {
      row = page.untouchedFrom;
      page.untouchedFrom += 1;
    }
    if (isFull(page)) roomy.delete(page);
    return ((page.index << ROW_BITS) | row) as WindowSlot;
  }

  /** Empties the row and takes it back; a page left without any goes. */
  close(slot: WindowSlot): void {
    const page = this.pageOf(slot);
    const row = rowOf(slot);
    const roomy = this.#roomyOf(page.capacity);
    const numbers = numbersOf(page.capacity);
    page.texts.fill('', row * ROW_TEXTS, (row + 1) * ROW_TEXTS);
    page.numbers.fill(0, row * numbers, (row + 1) * numbers);
    page.free.push(row);
    roomy.add(page);
    if (page.free.length < page.untouchedFrom) return;
    roomy.delete(page);
    this.#pages[page.index] = undefined;
    this.#gaps.push(page.index);
  }

  /** The page an open row lies in. */
  pageOf(slot: WindowSlot): WindowPage {
    return this.#pages[slot >>> ROW_BITS] as WindowPage;
  }

  #roomyOf(capacity: number): Set<WindowPage> {
    let roomy = this.#roomy.get(capacity);
    if (roomy === undefined) {
      roomy = new Set();
      this.#roomy.set(capacity, roomy);
    }
    return roomy;
  }

  #addPage(capacity: number, roomy: Set<WindowPage>): WindowPage {
    const index = this.#gaps.pop() ?? this.#pages.length;
    const rows = pageLength(index, PAGE_ROWS);
    const page: WindowPage = {
      index,
      capacity,
      rows,
      numbers: new Int32Array(rows * numbersOf(capacity)),
      texts: new Array(rows * ROW_TEXTS).fill(''),
      free: [],
      untouchedFrom: 0,
    };
    this.#pages[page.index] = page;
    roomy.add(page);
    return page;
  }
}

const isFull = (page: WindowPage) => page.free.length === 0 && page.untouchedFrom === page.rows;

/** Of a slot, inside its page. */
export const rowOf = (slot: WindowSlot): number => slot & (PAGE_ROWS - 1);

/** Numbers of a row. */
export const numbersOf = (capacity: number): number => HEAD_NUMBERS + capacity * TUPLE_NUMBERS;
