/**
 * Steps in SQLite: the insert that the ingest path waits for, and the changes an operator makes to held ones.
 * All methods run inside the writer's transaction.
 */
import type { Database, Statement } from 'better-sqlite3';
import { type ControlWrite, RELEASED_STEPS_MAX, STEPS_READ_CHARS_MAX } from '#contracts/store';
import { READ_COUNTER, SAVE_COUNTER } from './counters.js';
import { type Primitive, type RawStep, STEP_COLUMNS, type StepsResult, stepWidth } from './protocol.js';
import { countWithin, takeWithin } from './rows-within.js';
import type { StepIdentity } from './step-generation.js';
import { StepKeys } from './step-keys.js';

export const RAW_STEP_COLUMNS = ['seq', ...STEP_COLUMNS, 'rewritten_by'] as const;
export const RAW_STEP_LIST = RAW_STEP_COLUMNS.join(', ');

const SESSION_AT = STEP_COLUMNS.indexOf('session_id');
const TRACE_AT = STEP_COLUMNS.indexOf('trace_id');
const HASH_AT = STEP_COLUMNS.indexOf('body_hash');

/** Name in `counters`: no seq up to this may be given again, though its row may be gone. */
const SEQ_FLOOR = 'step_seq_floor';

export class StepTable {
  readonly #database: Database;
  readonly #insert: Statement;
  readonly #keys: StepKeys;
  readonly #setFloor: Statement;
  #nextSeq: number;

  /** @see StepKeys */
  constructor(database: Database, generationSteps?: number, segmentSteps?: number) {
    this.#database = database;
    this.#insert = database.prepare(
      `INSERT INTO steps (${STEP_COLUMNS.join(', ')}, seq) VALUES (${'?, '.repeat(stepWidth)}?)`,
    );
    this.#keys = new StepKeys(database, generationSteps, segmentSteps);
    this.#setFloor = database.prepare(SAVE_COUNTER);
    this.#nextSeq = this.#nextSeqStored();
  }

  /** Seq of the next new row. The caller puts it back when a transaction is undone. */
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
      const first = this.#keys.findOrAdd(identityAt(values, start), this.#nextSeq);
      if (first === null) {
        this.#insert.run(row);
        this.#nextSeq += 1;
      } else {
        duplicates ??= [];
        duplicates.push(index, first);
      }
    }
    return duplicates;
  }

  /** Before every transaction. */
  begin(): void {
    this.#keys.begin(this.#nextSeq);
  }

  /** Before a savepoint. @returns to be called if it is undone */
  mark(): () => void {
    const nextSeq = this.#nextSeq;
    return () => {
      this.#nextSeq = nextSeq;
    };
  }

  /** After every commit. */
  committed(): void {
    this.#keys.committed();
  }

  /** At the end of a transaction: indexes older steps, as many as the new ones demand. */
  indexFor(newCount: number): void {
    this.#keys.mergeFor(newCount);
  }

  /** Indexes all steps, in transactions of its own. */
  settle(): void {
    this.#keys.settle(this.#nextSeq);
  }

  /** Keys of the sessions with steps that `step_keys` may lack. */
  youngSessionKeys(): Set<number> {
    return this.#keys.youngSessionKeys(this.#nextSeq);
  }

  /** @see StepKeySweep.piece */
  sweepKeys(entryCount = 0): boolean {
    return this.#keys.sweep(entryCount);
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
      .prepare(`UPDATE steps SET body = ?, rewritten_by = ? WHERE seq = ? RETURNING ${RAW_STEP_LIST}`)
      .get(rewrite.body, rewrite.rewritten_by, seq) as RawStep;
  }

  /** Clears `held` on the oldest of a session's held steps. @returns them, oldest first, and whether there are more */
  release({ tenant_id, session_id }: NonNullable<ControlWrite['release']>) {
    const held = takeWithin(
      this.#database
        .prepare(
          `SELECT ${RAW_STEP_LIST} FROM steps WHERE tenant_id = ? AND session_id = ? AND held = 1 ORDER BY seq LIMIT ?`,
        )
        .iterate(tenant_id, session_id, RELEASED_STEPS_MAX + 1) as IterableIterator<RawStep>,
      RELEASED_STEPS_MAX + 1,
      STEPS_READ_CHARS_MAX,
    );
    const released = held.slice(0, Math.min(RELEASED_STEPS_MAX, countWithin(held, STEPS_READ_CHARS_MAX)));
    const unfolded = this.#database.prepare('INSERT INTO unfolded_releases (seq) VALUES (?)');
    for (const { seq } of released) unfolded.run(seq);
    this.#database
      .prepare('UPDATE steps SET held = 0 WHERE tenant_id = ? AND session_id = ? AND held = 1 AND seq <= ?')
      .run(tenant_id, session_id, released.at(-1)?.seq ?? 0);
    return {
      released: released.map((step): RawStep => ({ ...step, held: 0 })),
      has_more_held: held.length > released.length,
    };
  }

  /** To be called in every transaction that deletes steps. */
  keepSeqFloor(): void {
    this.#setFloor.run(SEQ_FLOOR, this.#nextSeq - 1);
  }

  #nextSeqStored(): number {
    const last = this.#database.prepare('SELECT max(seq) FROM steps').pluck().get() as number | null;
    const floor = this.#database.prepare(READ_COUNTER).pluck().get(SEQ_FLOOR) as number | undefined;
    return Math.max(last ?? 0, floor ?? 0) + 1;
  }
}

const identityAt = (values: Primitive[], start: number): StepIdentity => ({
  tenant_id: values[start] as string,
  session_id: values[start + SESSION_AT] as string,
  trace_id: values[start + TRACE_AT] as string,
  body_hash: values[start + HASH_AT] as string,
});
