/** Pages of what is listed by a key: as many rows as asked for, and one more, which tells that there are more. */
import {
  type CursorKind,
  checkLimit,
  decodeCursor,
  encodeCursor,
  type Page,
  type PageQuery,
} from '#contracts';
import type { PageKeys } from './wire.js';

/** A page out of `limit + 1` rows: the extra one only tells that there are more. */
export function toPage<Row, Item>(
  rows: Row[],
  limit: number,
  toItem: (row: Row) => Item,
  toCursor: (last: Row) => string,
): Page<Item> {
  const shown = rows.slice(0, limit);
  const last = shown.at(-1);
  return {
    items: shown.map(toItem),
    next_cursor: rows.length > limit && last !== undefined ? toCursor(last) : null,
  };
}

/** One row more than the page shows, which tells whether there is a next page. */
export function pageKeys(kind: CursorKind, query: PageQuery, order: 'asc' | 'desc' = 'desc'): PageKeys {
  const limit = checkLimit(query) + 1;
  return {
    limit,
    order,
    afterSeq: query.cursor === undefined ? null : decodeCursor(kind, query.cursor, ['number'])[0],
  };
}

/** A page of rows that are listed by `seq`. */
export function seqPage<Row extends { seq: number }, Item>(
  kind: CursorKind,
  rows: Row[],
  limit: number,
  toItem: (row: Row) => Item,
): Page<Item> {
  return toPage(rows, limit, toItem, (row) => encodeCursor(kind, [row.seq]));
}
