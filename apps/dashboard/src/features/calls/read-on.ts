/** A search for what is rare comes in pieces, of which the first may be empty: nothing to show is no page. */
import type { Page } from '#contracts';

/** @param read a page by its cursor, null for the first */
export async function readOn<Item>(
  read: (cursor: string | null) => Promise<Page<Item>>,
  from: string | null,
): Promise<Page<Item>> {
  let page = await read(from);
  while (page.items.length === 0 && page.next_cursor !== null) page = await read(page.next_cursor);
  return page;
}
