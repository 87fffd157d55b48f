/**
 * Cursors of keyset paging: the key of the last row of a page, opaque to who sends it back. A page that is read
 * while rows are written neither repeats nor skips a row that was there at the first page.
 */
import { foreignCursor, LIMITS, ObservatoryError, type Page, type PageQuery } from '#contracts';
import type { PageKeys } from './wire.js';

/** Which listing a cursor belongs to: one of another listing is refused, not misread. */
export type CursorKind =
  | 'steps'
  | 'sessions'
  | 'alerts'
  | 'violations'
  | 'audit'
  | 'calls'
  | 'incidents'
  | 'deliveries'
  | 'semantic_loops';

export function encodeCursor(kind: CursorKind, key: (number | string)[]): string {
  return Buffer.from(JSON.stringify([kind, ...key])).toString('base64url');
}

/**
 * @param shape type of each part of the key
 * @throws ObservatoryError invalid_request, for a cursor we did not make for this listing
 */
export function decodeCursor<const S extends readonly ('number' | 'string')[]>(
  kind: CursorKind,
  cursor: string,
  shape: S,
): { [I in keyof S]: S[I] extends 'number' ? number : string } {
  const parts = parsedParts(cursor);
  const fits =
    Array.isArray(parts) &&
    parts.length === shape.length + 1 &&
    parts[0] === kind &&
    shape.every((type, index) => {
      const part = parts[index + 1];
      return type === 'number' ? Number.isSafeInteger(part) : typeof part === 'string';
    });
  if (!fits) throw foreignCursor();
  return parts.slice(1) as never;
}

/** @throws ObservatoryError invalid_request, for a limit outside 1..LIMITS.pageRowsMax */
export function checkLimit(query: PageQuery): number {
  if (!Number.isInteger(query.limit) || query.limit < 1 || query.limit > LIMITS.pageRowsMax) {
    throw new ObservatoryError('invalid_request', `limit: a whole number from 1 to ${LIMITS.pageRowsMax}`);
  }
  return query.limit;
}

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

function parsedParts(cursor: string): unknown {
  if (cursor.length > LIMITS.cursorCharsMax) return null;
  try {
    return JSON.parse(Buffer.from(cursor, 'base64url').toString());
  } catch {
    return null;
  }
}
