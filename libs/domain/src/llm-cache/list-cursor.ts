/** Cursors of the lists that the cache keeps outside the store: which list, and where in it a page ended. */
import { foreignCursor, LIMITS } from '#contracts';

export type ListKind = 'cache_entries' | 'cache_matches';

export const encodeListCursor = (kind: ListKind, ...place: (string | number)[]): string =>
  Buffer.from(JSON.stringify([kind, ...place])).toString('base64url');

/** @throws ObservatoryError invalid_request, for a cursor we did not make for this list */
export function decodeListCursor(
  kind: ListKind,
  cursor: string,
  isPlace: (place: unknown[]) => boolean,
): unknown[] {
  const [itsKind, ...place] = parsed(cursor);
  if (itsKind !== kind || !isPlace(place)) throw foreignCursor();
  return place;
}

function parsed(cursor: string): unknown[] {
  try {
    const isTooLong = cursor.length > LIMITS.cursorCharsMax;
    const parts: unknown = isTooLong ? null : JSON.parse(Buffer.from(cursor, 'base64url').toString());
    return Array.isArray(parts) ? parts : [];
  } catch {
    return [];
  }
}
