/**
 * Takes the entries of deleted steps out of `step_keys`. With each step its two would cost a page each, for their neighbours
 * are other steps. So they stay, which harms nobody: whoever finds an entry reads its step. Once there are enough of them
 * their segments are gone through in order, a piece at a time.
 *
 * @see docs/decisions/0023-the-index-of-steps-has-segments.md
 */
import type { Database, Statement } from 'better-sqlite3';
import type { KeyEntry } from './step-generation.js';
import { INDEXED_SEQ } from './step-key-table.js';
import type { StepSegments } from './step-segments.js';

/** Name in `counters`: of the steps up to this one, the entries of those that were deleted are gone. */
export const SWEPT_SEQ = 'step_keys_swept_seq';

/** Deleted steps whose entries go together; fewer in a small database, where they are as large a share of it. */
const SWEPT_TOGETHER = 65_536;
const SWEPT_SHARE = 1 / 4;
/** Entries looked at in one piece: a few ms. */
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

export class StepKeySweep {
  readonly #segments: StepSegments;
  readonly #counter: Statement;
  readonly #saveCounter: Statement;
  readonly #oldestFree: Statement;
  readonly #newest: Statement;
  readonly #entryAfter: Statement;
  readonly #delete: Statement;
  readonly #deleteBefore: Statement;
  #underWay: Sweep | null = null;

  constructor(database: Database, segments: StepSegments) {
    this.#segments = segments;
    this.#counter = database.prepare('SELECT value FROM counters WHERE name = ?').pluck();
    this.#saveCounter = database.prepare(
      'INSERT INTO counters (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value',
    );
    this.#oldestFree = database.prepare('SELECT seq FROM steps WHERE held = 0 ORDER BY seq LIMIT 1').pluck();
    this.#newest = database.prepare('SELECT max(seq) FROM steps').pluck();
    this.#entryAfter = database
      .prepare(
        `SELECT key, part, seq FROM step_keys WHERE segment = ? AND (key, part, seq) > (?, ?, ?)
         ORDER BY key, part, seq LIMIT 1 OFFSET ${PIECE_ENTRIES - 1}`,
      )
      .raw();
    this.#delete = database.prepare(
      `DELETE FROM step_keys WHERE segment = ? AND (key, part, seq) > (?, ?, ?) AND (key, part, seq) <= (?, ?, ?)
         AND seq <= ? AND NOT EXISTS (SELECT 1 FROM steps WHERE steps.seq = step_keys.seq)`,
    );
    this.#deleteBefore = database.prepare('DELETE FROM step_keys WHERE segment < ?');
  }

  /** The next piece, inside the writer's transaction. @returns true while there is more */
  piece(): boolean {
    this.#underWay ??= this.#due();
    if (this.#underWay === null) return false;
    const { segment, after, lastSeq } = this.#underWay;
    const last = (this.#entryAfter.get(segment, ...after) as KeyEntry | undefined) ?? END;
    this.#delete.run(segment, ...after, ...last, lastSeq);
    if (last !== END) this.#underWay.after = last;
    else if (segment < this.#segments.of(lastSeq))
      this.#underWay = { lastSeq, segment: segment + 1, after: START };
    else this.#end(lastSeq);
    return true;
  }

  #due(): Sweep | null {
    const indexedSeq = this.#seqOf(INDEXED_SEQ);
    const newestSeq = (this.#newest.get() as number | null) ?? indexedSeq;
    const oldestSeq = (this.#oldestFree.get() as number | undefined) ?? newestSeq + 1;
    const [sweptSeq, lastSeq] = [this.#seqOf(SWEPT_SEQ), Math.min(oldestSeq - 1, indexedSeq)];
    const enough = Math.min(SWEPT_TOGETHER, 1 + (newestSeq - lastSeq) * SWEPT_SHARE);
    if (lastSeq - sweptSeq < enough) return null;
    return { lastSeq, segment: this.#segments.of(sweptSeq + 1), after: START };
  }

  #end(lastSeq: number): void {
    this.#saveCounter.run(SWEPT_SEQ, lastSeq);
    // What was held when its neighbours were deleted, and went later.
    this.#deleteBefore.run(Math.min(this.#segments.first(), this.#segments.of(lastSeq)));
    this.#underWay = null;
  }

  #seqOf(counter: string): number {
    return (this.#counter.get(counter) as number | undefined) ?? 0;
  }
}
