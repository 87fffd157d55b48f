/**
 * One retention run: pieces of deletion, each a write among others, until the bounds hold. What retention.ts does
 * to the tables, seen from the client.
 */
import { type SessionKey, sessionKey } from '#contracts';
import {
  AGED_TABLES,
  type AgedTable,
  BEFORE_ALL,
  type EvictionPiece,
  type RetentionPiece,
  type SessionAge,
  type SessionPiece,
} from './protocol.js';
import type { WritePump } from './write-pump.js';

/** Rows of sessions that are gone, a piece of them. Must not throw. */
export type OnSessionsDeleted = (keys: readonly SessionKey[]) => void;

export interface RetentionBounds {
  /** Older goes; null = no bound. */
  beforeMs: number | null;
  /** The oldest of all go while the database is larger; null = no bound. */
  bytesMax: number | null;
}

/** Rows after which what they left behind goes: what that frees need not be freed by further steps. */
const ROWS_OF_ROUND = 1_000;

/** Before every session. */
const LONGEST_UNSEEN: SessionAge = [0, 0];

/** @returns how many rows of aged tables went; session rows left without steps go uncounted. And whether that was all, and not enough */
export async function enforceRetention(
  pump: WritePump,
  { beforeMs, bytesMax }: RetentionBounds,
  onSessionsDeleted: OnSessionsDeleted = () => {},
): Promise<{ deleted_count: number; is_over_bytes: boolean }> {
  let deleted = 0;
  let isOverBytes = false;
  if (beforeMs !== null) {
    for (const table of AGED_TABLES) deleted += await deleteOlder(pump, table, beforeMs);
    await deleteLeftBehind(pump, beforeMs, onSessionsDeleted);
  }
  if (bytesMax !== null) {
    const evicted = await deleteOldest(pump, bytesMax, onSessionsDeleted);
    deleted += evicted.deleted_count;
    // Once more: what was left behind may have been enough.
    isOverBytes =
      evicted.is_over_bytes && (await pump.call('deleteOldest', [bytesMax, BEFORE_ALL])).is_over_bytes;
  }
  while (await pump.call('shrink', []));
  return { deleted_count: deleted, is_over_bytes: isOverBytes };
}

async function deleteOldest(
  pump: WritePump,
  bytesMax: number,
  onSessionsDeleted: OnSessionsDeleted,
): Promise<Pick<EvictionPiece, 'deleted_count' | 'is_over_bytes'>> {
  let deleted = 0;
  let isOverBytes = false;
  let goneBeforeMs: number | null = null;
  let roundEndsAt = ROWS_OF_ROUND;
  for (let afterSeq: number | null = BEFORE_ALL; afterSeq !== null; ) {
    const piece: EvictionPiece = await pump.call('deleteOldest', [bytesMax, afterSeq]);
    deleted += piece.deleted_count;
    isOverBytes = piece.is_over_bytes;
    goneBeforeMs = piece.goneBeforeMs ?? goneBeforeMs;
    afterSeq = piece.nextSeq;
    if (goneBeforeMs === null || deleted < roundEndsAt) continue;
    await deleteEmptySessions(pump, goneBeforeMs, onSessionsDeleted);
    roundEndsAt = deleted + ROWS_OF_ROUND;
  }
  if (goneBeforeMs !== null) await deleteLeftBehind(pump, goneBeforeMs, onSessionsDeleted);
  return { deleted_count: deleted, is_over_bytes: isOverBytes };
}

async function deleteLeftBehind(
  pump: WritePump,
  beforeMs: number,
  onSessionsDeleted: OnSessionsDeleted,
): Promise<void> {
  await deleteEmptySessions(pump, beforeMs, onSessionsDeleted);
  await everyPiece((afterSeq) => pump.call('deleteAlertGroups', [beforeMs, afterSeq]));
}

/** First the entries of deleted steps: those that a session has left are looked at in one piece, for a second where a million are. */
async function deleteEmptySessions(
  pump: WritePump,
  beforeMs: number,
  onSessionsDeleted: OnSessionsDeleted,
): Promise<void> {
  while (await pump.call('sweepStepKeys', []));
  for (let after: SessionAge | null = LONGEST_UNSEEN; after !== null; ) {
    const { deleted, next }: SessionPiece = await pump.call('deleteEmptySessions', [beforeMs, after]);
    onSessionsDeleted(deleted.map((names) => sessionKey(...names)));
    after = next;
  }
}

/** Everything of one table that is older, piece by piece. @returns how many rows went */
const deleteOlder = (pump: WritePump, table: AgedTable, beforeMs: number): Promise<number> =>
  everyPiece((afterSeq) => pump.call('deleteOlder', [table, beforeMs, afterSeq]));

async function everyPiece(work: (afterSeq: number) => Promise<RetentionPiece>): Promise<number> {
  let deleted = 0;
  let afterSeq = BEFORE_ALL;
  while (true) {
    const piece = await work(afterSeq);
    deleted += piece.deleted_count;
    if (piece.nextSeq === null) return deleted;
    afterSeq = piece.nextSeq;
  }
}
