/** Pages of a tenant's entries: most hits first, and of equals the greater key. */
import { type CacheEntry, type CacheEntryView, LIMITS, ObservatoryError, type PageQuery } from '#contracts';
import { decodeListCursor, encodeListCursor } from './list-cursor.js';

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
  encodeListCursor('cache_entries', hits, key);

/**
 * @returns how many to give and behind what; null: from the start
 * @throws ObservatoryError invalid_request, for a limit out of bounds or a cursor we did not make
 */
export function readEntryQuery({ limit, cursor }: PageQuery): { limit: number; behind: EntryPlace | null } {
  if (!Number.isInteger(limit) || limit < 1 || limit > LIMITS.pageRowsMax)
    throw new ObservatoryError('invalid_request', `limit: a whole number from 1 to ${LIMITS.pageRowsMax}`);
  if (cursor === undefined) return { limit, behind: null };
  const isPlace = ([hits, key]: unknown[]) => Number.isSafeInteger(hits) && typeof key === 'string';
  const [hits, key] = decodeListCursor('cache_entries', cursor, isPlace);
  return { limit, behind: { hit_count: hits as number, key: key as string } };
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
