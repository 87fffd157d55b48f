/**
 * Deleting what is too old or too much, in pieces small enough that no write waits long for one. Held steps, the
 * audit, controls, incidents, spend sums, documents and deliveries that are pending are never touched. Rows are visited in order of seq, which is the order of their age: a piece
 * stops at the first row that is young enough, and never scans the table. What a wrong clock has stamped with a time to
 * come is young for so much longer, and what came after it waits as long: nothing goes too early for it.
 */
import type { Database } from 'better-sqlite3';
import {
  AGED_TABLES,
  type AgedTable,
  BEFORE_ALL,
  type EvictionPiece,
  type RetentionCalls,
  type RetentionPiece,
  type SessionAge,
  type SessionPiece,
} from './protocol.js';
import type { CallTable } from './proxy/call-table.js';
import { NO_PART } from './step-key.js';
import type { StepTable } from './step-table.js';

/** Rows looked at in one piece, at least: agents wait for them. */
const PIECE_COUNT = 100;
/** As many times as many as were written since the piece before: what comes must not outrun what goes. */
const PIECE_PER_WRITTEN = 2;
/** At most, for a piece may come long after the one before: some 40 ms. */
const PIECE_COUNT_MAX = 4_000;
/** A large piece looks at the size so many times, so that it takes no more than must go. */
const LOOKS = 8;
/** Entries of the index looked at take as long together as one row does. */
const ENTRIES_PER_ROW = 10;
/** Session rows looked at in one piece, at least; it begins with some 10 ms of work for all of them. */
const SESSION_PIECE_COUNT = 500;
/** Alert groups looked at in one piece: some 5 ms where all of them go, less than one where none does. */
const ALERT_GROUP_PIECE_COUNT = 500;
/** A row is no younger than what came so many rows after it: with these, a clock that was wrong for a time is seen through. */
const LATER_BY = [1_000, 10_000, 100_000, 1_000_000, 10_000_000];
/** Pages given back to the file system in one piece. */
const SHRINK_PAGES = 500;
/** Below this share of free pages a file is left as it is: new rows will fill them. */
const FREE_SHARE_MIN = 0.2;

/** The start of a query for each, up to the condition on `seq`. Whatever waits to be delivered is not old yet. */
const OLDEST = {
  steps: 'SELECT seq, received_at_ms AS at_ms FROM steps WHERE',
  alerts: 'SELECT seq, at_ms FROM alerts WHERE',
  violations: 'SELECT seq, at_ms FROM violations WHERE',
  llm_calls: 'SELECT seq, started_at_ms AS at_ms FROM llm_calls WHERE',
  alert_deliveries: `SELECT seq, created_at_ms AS at_ms FROM alert_deliveries WHERE state <> 'pending' AND`,
  semantic_loops: 'SELECT seq, at_ms FROM semantic_loops WHERE',
} as const satisfies Record<AgedTable, string>;
/** What of a kind goes, whatever its age. */
const MAY_GO: Partial<Record<AgedTable, string>> = {
  steps: 'held = 0',
  alert_deliveries: `state <> 'pending'`,
};

/** No row where fewer are left. */
const LAST_OF_SESSIONS = `SELECT last_seen_ms, rowid FROM sessions
  WHERE (last_seen_ms, rowid) > (?, ?) AND last_seen_ms < ?
  ORDER BY last_seen_ms, rowid LIMIT 1 OFFSET ?`;

/** An operator, or an alert, holds the session `of` a row: somebody has to decide on it. */
const isHeld = (of: string): string => `EXISTS (SELECT 1 FROM controls c WHERE c.tenant_id = ${of}.tenant_id
                    AND c.session_id = ${of}.session_id AND c.state NOT IN ('active', 'terminated'))`;

/** Of the sessions after one place up to another. A piece never reads the steps that are not indexed yet. */
export const DELETE_EMPTY_SESSIONS = `DELETE FROM sessions WHERE rowid IN (
  SELECT s.rowid FROM sessions s WHERE (s.last_seen_ms, s.rowid) > (?, ?) AND (s.last_seen_ms, s.rowid) <= (?, ?)
    AND NOT EXISTS (SELECT 1 FROM json_each(segments_of_session(session_key(s.tenant_id, s.session_id))) g
                    CROSS JOIN step_keys k ON k.segment = g.value
                      AND k.key = session_key(s.tenant_id, s.session_id) AND k.part = ${NO_PART}
                    CROSS JOIN steps t ON t.seq = k.seq
                    WHERE t.tenant_id = s.tenant_id AND t.session_id = s.session_id)
    AND NOT has_young_step(session_key(s.tenant_id, s.session_id))
    AND NOT ${isHeld('s')})
  RETURNING tenant_id, session_id`;

const LAST_OF_GROUPS = `SELECT max(rowid) FROM (
  SELECT rowid FROM alert_groups WHERE rowid > ? ORDER BY rowid LIMIT ?)`;
const DELETE_ALERT_GROUPS = `DELETE FROM alert_groups AS g WHERE rowid > ? AND rowid <= ? AND last_at_ms < ?
  AND NOT ${isHeld('g')}`;

const NOTHING_EVICTED = { deleted_count: 0, nextSeq: null, goneBeforeMs: null };

interface AgedRow {
  seq: number;
  at_ms: number;
}

export class Retention implements RetentionCalls {
  readonly #database: Database;
  readonly #steps: StepTable;
  readonly #calls: CallTable;
  /** Since the last piece of rows. */
  #writtenCount = 0;
  /** Keys of sessions whose steps memory alone can find; filled for the statement that asks. */
  #youngSessionKeys: ReadonlySet<number> = new Set();

  constructor(database: Database, steps: StepTable, calls: CallTable) {
    this.#database = database;
    this.#steps = steps;
    this.#calls = calls;
    database.function('has_young_step', (key) => Number(this.#youngSessionKeys.has(key as number)));
  }

  /** So many rows were written beside. */
  noteWritten(count: number): void {
    this.#writtenCount += count;
  }

  deleteOlder(table: AgedTable, beforeMs: number, afterSeq: number): RetentionPiece {
    const count = this.#takePieceCount(afterSeq);
    const rows = this.#oldest(table, afterSeq, count);
    const young = rows.findIndex((row) => row.at_ms >= beforeMs);
    const old = young === -1 ? rows : rows.slice(0, young);
    return {
      deleted_count: this.#delete(table, old),
      nextSeq: young === -1 && rows.length === count ? (rows.at(-1) as AgedRow).seq : null,
    };
  }

  deleteOldest(bytesMax: number, afterSeq: number): EvictionPiece {
    const count = this.#takePieceCount(afterSeq);
    const countBetweenLooks = Math.max(PIECE_COUNT, Math.ceil(count / LOOKS));
    const whole: EvictionPiece = {
      deleted_count: 0,
      nextSeq: Math.max(afterSeq, 0),
      goneBeforeMs: null,
      is_over_bytes: false,
    };
    for (let looked = 0; looked < count && whole.nextSeq !== null; looked += countBetweenLooks) {
      const some = this.#deleteSomeOldest(bytesMax, whole.nextSeq, countBetweenLooks);
      whole.deleted_count += some.deleted_count;
      whole.nextSeq = some.nextSeq;
      whole.goneBeforeMs = some.goneBeforeMs ?? whole.goneBeforeMs;
      whole.is_over_bytes = some.is_over_bytes;
    }
    return whole;
  }

  /** The oldest of all kinds, so that a flood of one does not push out the others. */
  #deleteSomeOldest(bytesMax: number, afterSeq: number, count: number): EvictionPiece {
    if (this.#usedBytes() <= bytesMax) return { ...NOTHING_EVICTED, is_over_bytes: false };
    const rows = AGED_TABLES.flatMap((table) =>
      this.#aged(table, this.#oldest(table, table === 'steps' ? afterSeq : 0, count)),
    )
      .sort((left, right) => left.atMs - right.atMs)
      .slice(0, count);
    const last = rows.at(-1);
    if (last === undefined) return { ...NOTHING_EVICTED, is_over_bytes: true };
    let deleted = 0;
    let lastStepSeq = afterSeq;
    for (const table of AGED_TABLES) {
      const ofTable = rows.filter((each) => each.table === table).map((each) => each.row);
      deleted += this.#delete(table, ofTable);
      if (table === 'steps') lastStepSeq = ofTable.at(-1)?.seq ?? lastStepSeq;
    }
    return {
      deleted_count: deleted,
      nextSeq: lastStepSeq,
      goneBeforeMs: last.atMs,
      is_over_bytes: rows.length < count && this.#usedBytes() > bytesMax,
    };
  }

  /** Sessions that an operator holds stay, so that someone can still let them go. */
  deleteEmptySessions(beforeMs: number, after: SessionAge): SessionPiece {
    const offset = Math.max(SESSION_PIECE_COUNT, this.#pieceCount()) - 1;
    const next = this.#database
      .prepare(LAST_OF_SESSIONS)
      .raw()
      .get(...after, beforeMs, offset) as SessionAge | undefined;
    const last = next ?? [beforeMs, 0];
    this.#youngSessionKeys = this.#steps.youngSessionKeys();
    const deleted = this.#database
      .prepare(DELETE_EMPTY_SESSIONS)
      .raw()
      .all(...after, ...last) as SessionPiece['deleted'];
    this.#youngSessionKeys = new Set();
    return { deleted, next: next ?? null };
  }

  /** They have no index by age: all are looked through once a run. Those of held sessions stay with them, and say why. */
  deleteAlertGroups(beforeMs: number, afterSeq: number): RetentionPiece {
    const last = this.#database.prepare(LAST_OF_GROUPS).pluck().get(afterSeq, ALERT_GROUP_PIECE_COUNT);
    if (typeof last !== 'number') return { deleted_count: 0, nextSeq: null };
    const { changes } = this.#database.prepare(DELETE_ALERT_GROUPS).run(afterSeq, last, beforeMs);
    return { deleted_count: changes, nextSeq: last };
  }

  /** True while there is more. */
  sweepStepKeys(): boolean {
    return this.#steps.sweepKeys(this.#pieceCount() * ENTRIES_PER_ROW);
  }

  /** True while there is more to give back. */
  shrink(): boolean {
    const free = this.#pragma('freelist_count');
    if (free < this.#pragma('page_count') * FREE_SHARE_MIN || free < SHRINK_PAGES) return false;
    this.#database.pragma(`incremental_vacuum(${SHRINK_PAGES})`);
    return this.#pragma('freelist_count') < free;
  }

  /** The first piece of a run makes good for nothing that came before the run. */
  #takePieceCount(afterSeq: number): number {
    const count = afterSeq === BEFORE_ALL ? PIECE_COUNT : this.#pieceCount();
    this.#writtenCount = 0;
    return count;
  }

  #pieceCount(): number {
    return Math.min(Math.max(this.#writtenCount * PIECE_PER_WRITTEN, PIECE_COUNT), PIECE_COUNT_MAX);
  }

  #oldest(table: AgedTable, afterSeq: number, count: number): AgedRow[] {
    return this.#database
      .prepare(`${OLDEST[table]} seq > ? ORDER BY seq LIMIT ?`)
      .all(afterSeq, count) as AgedRow[];
  }

  /**
   * With the times to compare them by across the kinds: what is stamped with a time to come is as old as the oldest that came
   * after it. Taken at its word it would stand as the youngest of all, and every other kind go before it.
   */
  #aged(table: AgedTable, rows: AgedRow[]): { table: AgedTable; row: AgedRow; atMs: number }[] {
    const last = rows.at(-1);
    if (last === undefined) return [];
    const later = this.#database.prepare(`${OLDEST[table]} seq > ? ORDER BY seq LIMIT 1`);
    let atMs = LATER_BY.reduce((earliest, count) => {
      const row = later.get(last.seq + count) as AgedRow | undefined;
      return row === undefined ? earliest : Math.min(earliest, row.at_ms);
    }, Number.POSITIVE_INFINITY);
    return rows
      .reverse()
      .map((row) => {
        atMs = Math.min(atMs, row.at_ms);
        return { table, row, atMs };
      })
      .reverse();
  }

  /** @param rows one after the other, as `#oldest` gave them */
  #delete(table: AgedTable, rows: AgedRow[]): number {
    const [first, last] = [rows[0], rows.at(-1)];
    if (first === undefined || last === undefined) return 0;
    const deleted = this.#database
      .prepare(`DELETE FROM ${table} WHERE seq BETWEEN ? AND ? AND ${MAY_GO[table] ?? 'TRUE'}`)
      .run(first.seq, last.seq).changes;
    if (table === 'steps' && deleted > 0) this.#steps.keepSeqFloor();
    if (table === 'llm_calls' && deleted > 0) this.#calls.noteDeleted(last.seq);
    return deleted;
  }

  /** Free pages do not count: they are filled before the file grows. */
  #usedBytes(): number {
    return (this.#pragma('page_count') - this.#pragma('freelist_count')) * this.#pragma('page_size');
  }

  #pragma(name: string): number {
    return this.#database.pragma(name, { simple: true }) as number;
  }
}
