/**
 * One retention run: pieces of deletion, each a write among others, until the bounds hold. What retention.ts does
 * to the tables, seen from the client.
 */
import { AGED_TABLES, type AgedTable, type RetentionPiece } from './protocol.js';
import type { WritePump } from './write-pump.js';

export interface RetentionBounds {
  /** Older goes; null = no bound. */
  beforeMs: number | null;
  /** The oldest of all go while the database is larger; null = no bound. */
  bytesMax: number | null;
}

/** @returns how many rows of aged tables went; session rows left without steps go uncounted */
export async function enforceRetention(
  store: { pump: WritePump; oldestStepMs: () => Promise<number | null> },
  { beforeMs, bytesMax }: RetentionBounds,
): Promise<{ deleted_count: number }> {
  const { pump } = store;
  let deleted = 0;
  let boundMs = beforeMs;
  if (beforeMs !== null) {
    for (const table of AGED_TABLES) deleted += await deleteOlder(pump, table, beforeMs);
  }
  if (bytesMax !== null) {
    const evicted = await everyPiece((afterSeq) => pump.call('deleteOldest', [bytesMax, afterSeq]));
    deleted += evicted;
    const oldestMs = evicted > 0 ? await store.oldestStepMs() : null;
    if (oldestMs !== null) boundMs = Math.max(boundMs ?? oldestMs, oldestMs);
  }
  if (boundMs !== null) {
    const olderThanMs = boundMs;
    await everyPiece(() => pump.call('deleteEmptySessions', [olderThanMs]));
    await everyPiece((afterSeq) => pump.call('deleteAlertGroups', [olderThanMs, afterSeq]));
  }
  while (await pump.call('shrink', []));
  return { deleted_count: deleted };
}

/** Everything of one table that is older, piece by piece. @returns how many rows went */
export const deleteOlder = (pump: WritePump, table: AgedTable, beforeMs: number): Promise<number> =>
  everyPiece((afterSeq) => pump.call('deleteOlder', [table, beforeMs, afterSeq]));

async function everyPiece(work: (afterSeq: number) => Promise<RetentionPiece>): Promise<number> {
  let deleted = 0;
  let afterSeq = 0;
  while (true) {
    const piece = await work(afterSeq);
    deleted += piece.deleted_count;
    if (piece.nextSeq === null) return deleted;
    afterSeq = piece.nextSeq;
  }
}
