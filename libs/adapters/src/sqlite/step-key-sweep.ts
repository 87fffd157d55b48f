/**
 * Takes the entries of deleted steps out of `step_keys`. With each step its two would cost a page each, for their neighbours
 * are other steps. So they stay, which harms nobody: whoever finds an entry reads its step. Once there are enough of them
 * their segments are gone through in order, a piece at a time.
 *
 * @see docs/decisions/0023-the-index-of-steps-has-segments.md
 */
import type { Database, Statement } from 'better-sqlite3';
import { READ_COUNTER, SAVE_COUNTER } from './counters.js';
import type { KeyEntry } from './step-generation.js';
import { SEGMENT_STEPS } from './step-key.js';
import { INDEXED_SEQ } from './step-key-table.js';
import type { StepSegments } from './step-segments.js';

/** Name in `counters`: of the steps up to this one, the entries of those that were deleted are gone. */
export const SWEPT_SEQ = 'step_keys_swept_seq';

/** Deleted steps whose entries go together; fewer in a small database, where they are as large a share of it. */
const SWEPT_TOGETHER = SEGMENT_STEPS;
const SWEPT_SHARE = 1 / 4;
/** Entries looked at in one piece, at least: a few ms. */
const PIECE_ENTRIES = 4_096;
/** Before every entry. */
const START: KeyEntry = [-1, 0, 0];
/** Beyond every entry. */
const END: KeyEntry = [Number.MAX_SAFE_INTEGER, 0, 0];

interface Sweep {
  /** Steps up to this one are looked at. */
  lastSeq: number;
  segment: number;
  after: KeyEntry;
}

/** Before every segment. */
const NO_SEGMENT = -1;

export class StepKeySweep {
  readonly #segments: StepSegments;
  readonly #counter: Statement;
  readonly #saveCounter: Statement;
  readonly #nextFree: Statement;
  readonly #newest: Statement;
  readonly #entryAfter: Statement;
  readonly #delete: Statement;
  readonly #nextSegment: Statement;
  #underWay: Sweep | null = null;
  /** The same when the transaction under way is committed. */
  #underWayThen: Sweep | null = null;

  constructor(database: Database, segments: StepSegments) {
    this.#segments = segments;
    this.#counter = database.prepare(READ_COUNTER).pluck();
    this.#saveCounter = database.prepare(SAVE_COUNTER);
    this.#nextFree = database
      .prepare('SELECT seq FROM steps WHERE seq > ? AND held = 0 ORDER BY seq LIMIT 1')
      .pluck();
    this.#newest = database.prepare('SELECT max(seq) FROM steps').pluck();
    this.#entryAfter = database
      .prepare(
        `SELECT key, part, seq FROM step_keys WHERE segment = ? AND (key, part, seq) > (?, ?, ?)
         ORDER BY key, part, seq LIMIT 1 OFFSET ?`,
      )
      .raw();
    this.#delete = database.prepare(
      `DELETE FROM step_keys WHERE segment = ? AND (key, part, seq) > (?, ?, ?) AND (key, part, seq) <= (?, ?, ?)
         AND seq <= ? AND NOT EXISTS (SELECT 1 FROM steps WHERE steps.seq = step_keys.seq)`,
    );
    this.#nextSegment = database.prepare('SELECT min(segment) FROM step_keys WHERE segment > ?').pluck();
  }

  /** Before every transaction. */
  begin(): void {
    this.#underWayThen = this.#underWay;
  }

  /** After every commit. */
  committed(): void {
    this.#underWay = this.#underWayThen;
  }

  /**
   * The next piece, inside the writer's transaction.
   *
   * @param entryCount to be looked at, `PIECE_ENTRIES` if that is more
   * @returns true while there is more
   */
  piece(entryCount: number): boolean {
    const sweep = this.#underWayThen ?? this.#due();
    if (sweep === null) return false;
    const { segment, after, lastSeq } = sweep;
    const offset = Math.max(entryCount, PIECE_ENTRIES) - 1;
    const last = (this.#entryAfter.get(segment, ...after, offset) as KeyEntry | undefined) ?? END;
    this.#delete.run(segment, ...after, ...last, lastSeq);
    this.#underWayThen = last === END ? this.#inNextSegment(segment, lastSeq) : { ...sweep, after: last };
    if (this.#underWayThen === null) this.#saveCounter.run(SWEPT_SEQ, lastSeq);
    return true;
  }

  #due(): Sweep | null {
    const [indexedSeq, sweptSeq] = [this.#seqOf(INDEXED_SEQ), this.#seqOf(SWEPT_SEQ)];
    const newestSeq = (this.#newest.get() as number | null) ?? indexedSeq;
    const nextFreeSeq = (this.#nextFree.get(sweptSeq) as number | undefined) ?? newestSeq + 1;
    const lastSeq = Math.min(nextFreeSeq - 1, indexedSeq);
    const enough = Math.min(SWEPT_TOGETHER, 1 + (newestSeq - lastSeq) * SWEPT_SHARE);
    return lastSeq - sweptSeq < enough ? null : this.#inNextSegment(NO_SEGMENT, lastSeq);
  }

  /** From the first that has entries: an earlier sweep left those of held steps, which may have gone since. */
  #inNextSegment(segment: number, lastSeq: number): Sweep | null {
    const next = this.#nextSegment.get(segment) as number | null;
    return next === null || next > this.#segments.of(lastSeq)
      ? null
      : { lastSeq, segment: next, after: START };
  }

  #seqOf(counter: string): number {
    return (this.#counter.get(counter) as number | undefined) ?? 0;
  }
}
