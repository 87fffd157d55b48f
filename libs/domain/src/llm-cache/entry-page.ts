/** Pages of a tenant's entries: most hits first, and of equals the greater key. */
import {
  type CacheEntry,
  type CacheEntryView,
  checkLimit,
  decodeCursor,
  encodeCursor,
  type PageQuery,
} from '#contracts';

const MICRO = 1_000_000;

/** Where a page ends. */
export interface EntryPlace {
  hit_count: number;
  key: string;
}

/** Below 0: `one` comes first. */
export const compareEntryPlaces = (one: EntryPlace, other: EntryPlace): number =>
  other.hit_count - one.hit_count || (one.key < other.key ? 1 : one.key > other.key ? -1 : 0);

export const encodeEntryCursor = ({ hit_count: hits, key }: EntryPlace): string =>
  encodeCursor('cache_entries', [hits, key]);

/**
 * @returns how many to give and behind what; null: from the start
 * @throws ObservatoryError invalid_request, for a limit out of bounds or a cursor we did not make
 */
export function readEntryQuery(query: PageQuery): { limit: number; behind: EntryPlace | null } {
  const limit = checkLimit(query);
  if (query.cursor === undefined) return { limit, behind: null };
  const [hit_count, key] = decodeCursor('cache_entries', query.cursor, ['number', 'string']);
  return { limit, behind: { hit_count, key } };
}

/** What is known of an entry beside itself. */
export interface EntryUse {
  hit_count: number;
  last_hit_at_ms: number | null;
  byte_count: number;
  has_vector: boolean;
}

export const toEntryView = (
  entry: Pick<CacheEntry, 'key' | 'agent_id' | 'upstream' | 'created_at_ms' | 'cost_micro_usd'> & {
    answer: Pick<CacheEntry['answer'], 'model' | 'dialect'>;
  },
  use: EntryUse,
): CacheEntryView => ({
  key: entry.key,
  agent_id: entry.agent_id,
  upstream: entry.upstream,
  model: entry.answer.model,
  dialect: entry.answer.dialect,
  created_at_ms: entry.created_at_ms,
  ...use,
  cost_usd: entry.cost_micro_usd === null ? null : entry.cost_micro_usd / MICRO,
});
