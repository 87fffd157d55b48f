/** Pages of a tenant's semantic matches: newest first. */
import { decodeCursor, encodeCursor, type PageQuery } from '#contracts';

export interface MatchQuery {
  limit: number;
  /** Id of the last match of the page before; null: from the start. */
  behind: string | null;
}

export const encodeMatchCursor = (matchId: string): string => encodeCursor('cache_matches', [matchId]);

/** @throws ObservatoryError invalid_request, for a cursor we did not make */
export function readMatchQuery({ limit, cursor }: PageQuery): MatchQuery {
  if (cursor === undefined) return { limit, behind: null };
  const [behind] = decodeCursor('cache_matches', cursor, ['string']);
  return { limit, behind };
}
