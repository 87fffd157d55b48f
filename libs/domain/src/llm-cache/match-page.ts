/** Pages of a tenant's semantic matches: newest first. */
import type { PageQuery } from '#contracts';
import { decodeListCursor, encodeListCursor } from './list-cursor.js';

export interface MatchQuery {
  limit: number;
  /** Id of the last match of the page before; null: from the start. */
  behind: string | null;
}

export const encodeMatchCursor = (matchId: string): string => encodeListCursor('cache_matches', matchId);

/** @throws ObservatoryError invalid_request, for a cursor we did not make */
export function readMatchQuery({ limit, cursor }: PageQuery): MatchQuery {
  if (cursor === undefined) return { limit, behind: null };
  const [matchId] = decodeListCursor('cache_matches', cursor, ([id]) => typeof id === 'string');
  return { limit, behind: matchId as string };
}
