/** A search for what is rare comes in pieces, of which the first may be empty: nothing to show is no page. */
import type { Page } from '#contracts';

/** @param read a page by its cursor, null for the first @param signal raised: nobody waits for it, and no more is read */
export async function readOn<Item>(
  read: (cursor: string | null) => Promise<Page<Item>>,
  from: string | null,
  signal?: AbortSignal,
): Promise<Page<Item>> {
  let page = await read(from);
  while (page.items.length === 0 && page.next_cursor !== null) {
    signal?.throwIfAborted();
    page = await read(page.next_cursor);
  }
  return page;
}
