import type { Page, PageQuery } from '#contracts';

const PAGE_ROWS = 3;

/**
 * Reads a listing to its last page, three rows at a time.
 *
 * @param read spreads the query into its own; may ask for another `limit`
 * @param between awaited after each page
 */
export async function everyPage<T>(
  read: (query: PageQuery) => Promise<Page<T>>,
  between: () => Promise<unknown> = async () => {},
): Promise<T[]> {
  const items: T[] = [];
  let cursor: string | undefined;
  do {
    const page = await read({ limit: PAGE_ROWS, cursor });
    items.push(...page.items);
    cursor = page.next_cursor ?? undefined;
    await between();
  } while (cursor !== undefined);
  return items;
}
