/**
 * One retention run: pieces of deletion, each a write among others, until the bounds hold. What retention.ts does
 * to the tables, seen from the client.
 */
import type { AgedTable, RetentionPiece } from './protocol.js';
import type { WritePump } from './write-pump.js';

export interface RetentionBounds {
  /** Older goes; null = no bound. */
  beforeMs: number | null;
  /** The oldest of all go while the database is larger; null = no bound. */
  bytesMax: number | null;
}

/** @returns how many steps, alerts and violations went; session rows left without steps go uncounted */
export async function enforceRetention(
  store: { pump: WritePump; oldestStepMs: () => Promise<number | null> },
  { beforeMs, bytesMax }: RetentionBounds,
): Promise<{ deleted_count: number }> {
  const { pump } = store;
  const deleteOlder = (table: AgedTable, olderThanMs: number) =>
    everyPiece((afterSeq) => pump.call('deleteOlder', [table, olderThanMs, afterSeq]));
  let deleted = 0;
  let boundMs = beforeMs;
  if (beforeMs !== null) {
    deleted += await deleteOlder('steps', beforeMs);
    deleted += await deleteOlder('alerts', beforeMs);
    deleted += await deleteOlder('violations', beforeMs);
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
  }
  while (await pump.call('shrink', []));
  return { deleted_count: deleted };
}

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
