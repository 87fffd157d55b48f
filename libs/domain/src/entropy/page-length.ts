/** The first pages are smaller, for those who hold little. */
const SMALL_PAGES = 8;

/**
 * Entries of a page, of many that lie side by side. Large pages are few, so that what says where they lie stays in the
 * processor's caches.
 *
 * @param index of the page, from 0
 * @param max entries of a large one, a power of two
 */
export const pageLength = (index: number, max: number): number =>
  index < SMALL_PAGES ? max / SMALL_PAGES : max;
