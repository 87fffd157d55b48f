/**
 * Cursors of keyset paging: the key of the last row of a page, opaque to who sends it back. A page that is read
 * while rows are written neither repeats nor skips a row that was there at the first page.
 */
import { ObservatoryError } from './errors.js';
import { LIMITS } from './limits.js';

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
  | 'semantic_loops'
  | 'cache_entries'
  | 'cache_matches';

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
  if (!fits) {
    const detail =
      'cursor: not one that this listing gave out; send the next_cursor of the page before, or none';
    throw new ObservatoryError('invalid_request', detail, { fields: ['cursor'] });
  }
  return parts.slice(1) as never;
}

/** @throws ObservatoryError invalid_request, for a limit outside 1..LIMITS.pageRowsMax */
export function checkLimit({ limit }: { limit: number }): number {
  if (!Number.isInteger(limit) || limit < 1 || limit > LIMITS.pageRowsMax)
    throw new ObservatoryError('invalid_request', `limit: a whole number from 1 to ${LIMITS.pageRowsMax}`);
  return limit;
}

function parsedParts(cursor: string): unknown {
  if (cursor.length > LIMITS.cursorCharsMax) return null;
  try {
    return JSON.parse(Buffer.from(cursor, 'base64url').toString());
  } catch {
    return null;
  }
}
