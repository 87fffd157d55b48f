/**
 * Steps in SQLite: the insert that the ingest path waits for, and the changes an operator makes to held ones.
 * All methods run inside the writer's transaction.
 */
import type { Database, Statement } from 'better-sqlite3';
import type { ControlWrite } from '#contracts';
import { type Primitive, type RawStep, STEP_COLUMNS, type StepsResult, stepWidth } from './protocol.js';

export const RAW_STEP_COLUMNS = `seq, ${STEP_COLUMNS.join(', ')}, rewritten_by`;

const TRACE_AT = STEP_COLUMNS.indexOf('trace_id');
const HASH_AT = STEP_COLUMNS.indexOf('body_hash');

/** Name in `counters`: no seq up to this may be given again, though its row may be gone. */
const SEQ_FLOOR = 'step_seq_floor';

export class StepTable {
  readonly #database: Database;
  readonly #insert: Statement;
  readonly #find: Statement;
  readonly #setFloor: Statement;
  #nextSeq: number;

  constructor(database: Database) {
    this.#database = database;
    this.#insert = database.prepare(
      `INSERT INTO steps (${STEP_COLUMNS.join(', ')}, seq) VALUES (${'?, '.repeat(stepWidth)}?)
       ON CONFLICT (tenant_id, trace_id, body_hash) DO NOTHING`,
    );
    this.#find = database
      .prepare('SELECT seq FROM steps WHERE tenant_id = ? AND trace_id = ? AND body_hash = ?')
      .pluck();
    this.#setFloor = database.prepare(
      'INSERT INTO counters (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value',
    );
    this.#nextSeq = this.#nextSeqStored();
  }

  /** Seq of the next new row. The caller puts it back when a transaction or savepoint is undone. */
  get nextSeq(): number {
    return this.#nextSeq;
  }
  set nextSeq(seq: number) {
    this.#nextSeq = seq;
  }

  /**
   * Inserts rows `from` to `to` of a flat array. About 10 us a row.
   *
   * @returns row index and seq of those that were there already, in turns; null for none
   */
  append(values: Primitive[], from: number, to: number): StepsResult['duplicates'] {
    const row: Primitive[] = new Array(stepWidth + 1);
    let duplicates: number[] | null = null;
    for (let index = from; index < to; index += 1) {
      const start = index * stepWidth;
      for (let column = 0; column < stepWidth; column += 1) row[column] = values[start + column] as Primitive;
      row[stepWidth] = this.#nextSeq;
      if (this.#insert.run(row).changes === 1) {
        this.#nextSeq += 1;
        continue;
      }
      const first = this.#find.get(
        values[start],
        values[start + TRACE_AT],
        values[start + HASH_AT],
      ) as number;
      duplicates ??= [];
      duplicates.push(index, first);
    }
    return duplicates;
  }

  /** @returns the step as rewritten; null if no such step is held */
  rewriteHeld(rewrite: NonNullable<ControlWrite['rewrite']>): RawStep | null {
    const seq = this.#database
      .prepare(
        'SELECT seq FROM steps WHERE tenant_id = ? AND session_id = ? AND trace_id = ? AND held = 1 ORDER BY seq LIMIT 1',
      )
      .pluck()
      .get(rewrite.tenant_id, rewrite.session_id, rewrite.trace_id) as number | undefined;
    if (seq === undefined) return null;
    return this.#database
      .prepare(`UPDATE steps SET body = ?, rewritten_by = ? WHERE seq = ? RETURNING ${RAW_STEP_COLUMNS}`)
      .get(rewrite.body, rewrite.rewritten_by, seq) as RawStep;
  }

  /** Clears `held` on all of a session's steps. @returns them, oldest first */
  release({ tenant_id, session_id }: NonNullable<ControlWrite['release']>): RawStep[] {
    const held = this.#database
      .prepare(
        `SELECT ${RAW_STEP_COLUMNS} FROM steps WHERE tenant_id = ? AND session_id = ? AND held = 1 ORDER BY seq`,
      )
      .all(tenant_id, session_id) as RawStep[];
    this.#database
      .prepare('UPDATE steps SET held = 0 WHERE tenant_id = ? AND session_id = ? AND held = 1')
      .run(tenant_id, session_id);
    return held.map((step) => ({ ...step, held: 0 }));
  }

  /** To be called in every transaction that deletes steps. */
  keepSeqFloor(): void {
    this.#setFloor.run(SEQ_FLOOR, this.#nextSeq - 1);
  }

  #nextSeqStored(): number {
    const last = this.#database.prepare('SELECT max(seq) FROM steps').pluck().get() as number | null;
    const floor = this.#database
      .prepare('SELECT value FROM counters WHERE name = ?')
      .pluck()
      .get(SEQ_FLOOR) as number | undefined;
    return Math.max(last ?? 0, floor ?? 0) + 1;
  }
}
