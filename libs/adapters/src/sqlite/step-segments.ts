/** The writer's knowledge of which segments of `step_keys` may hold a key. */
import type { Database, Statement } from 'better-sqlite3';
import { segmentOf } from './step-key.js';
import { filterLength, StepKeyFilter } from './step-key-filter.js';

const NONE: readonly number[] = [];

export class StepSegments {
  readonly #stepsCount: number;
  readonly #filters = new Map<number, StepKeyFilter>();
  readonly #oldest: Statement;
  readonly #anyStep: Statement;
  readonly #saved: Statement;
  readonly #save: Statement;
  readonly #forget: Statement;

  /**
   * Reads what is kept of full segments, 0.5 MB each; looks through the others, a tenth of a second for a whole one.
   *
   * @param indexedSeq up to which `step_keys` is whole
   * @param stepsCount of one segment
   */
  constructor(database: Database, indexedSeq: number, stepsCount: number) {
    this.#stepsCount = stepsCount;
    this.#oldest = database.prepare('SELECT min(seq) FROM steps').pluck();
    this.#anyStep = database.prepare('SELECT 1 FROM steps WHERE seq >= ? AND seq < ? LIMIT 1').pluck();
    // One of another length would deny what its segment holds: it counts as missing.
    const isWhole = `length(bytes) = ${filterLength(stepsCount)}`;
    this.#saved = database.prepare(`SELECT segment FROM step_key_filters WHERE ${isWhole}`).pluck();
    this.#save = database.prepare('INSERT OR REPLACE INTO step_key_filters (segment, bytes) VALUES (?, ?)');
    this.#forget = database.prepare('DELETE FROM step_key_filters WHERE segment = ?');
    const read = database
      .prepare(`SELECT bytes FROM step_key_filters WHERE segment = ? AND ${isWhole}`)
      .pluck();
    database.function('add_to_filter', (segment, key, part) => {
      this.add(segment as number, key as number, part as number);
      return 0;
    });
    // A call for each row costs a fifth of what giving the row out does.
    const addAll = database.prepare(
      'SELECT total(add_to_filter(segment, key, part)) FROM step_keys WHERE segment = ?',
    );
    for (let segment = this.#first(); segment <= this.of(indexedSeq); segment += 1) {
      if (!this.#hasSteps(segment)) continue;
      const bytes = read.get(segment) as Uint8Array | undefined;
      if (bytes === undefined) addAll.get(segment);
      else this.#filters.set(segment, new StepKeyFilter(stepsCount, bytes));
    }
  }

  of(seq: number): number {
    return segmentOf(seq, this.#stepsCount);
  }

  /** Null if there are no steps. */
  oldestSeq(): number | null {
    return this.#oldest.get() as number | null;
  }

  /** To be called for every entry that is written, before the transaction is committed. */
  add(segment: number, key: number, part: number): void {
    let filter = this.#filters.get(segment);
    if (filter === undefined) {
      filter = new StepKeyFilter(this.#stepsCount);
      this.#filters.set(segment, filter);
    }
    filter.add(key, part);
  }

  /** Those that may hold an entry: none, for most that are new. */
  mayHold(key: number, part: number): readonly number[] {
    let segments: number[] | null = null;
    for (const [segment, filter] of this.#filters) {
      if (!filter.mayHold(key, part)) continue;
      segments ??= [];
      segments.push(segment);
    }
    return segments ?? NONE;
  }

  /** In the transaction that makes `step_keys` whole up to `indexedSeq`: keeps the filters of segments that are full by it. */
  save(indexedSeq: number): void {
    const firstNotFull = this.of(indexedSeq + 1);
    const saved = new Set(this.#saved.all() as number[]);
    for (const segment of saved) if (!this.#hasSteps(segment)) this.#forget.run(segment);
    for (const [segment, filter] of this.#filters)
      if (segment < firstNotFull && !saved.has(segment) && this.#hasSteps(segment))
        this.#save.run(segment, filter.bytes);
  }

  /** Lets go of the segments without steps, of which the last commit left nothing. One held step may keep the oldest for years. */
  forgetEmpty(): void {
    for (const segment of this.#filters.keys()) if (!this.#hasSteps(segment)) this.#filters.delete(segment);
  }

  /** The first with steps; beyond all of them if there are none. */
  #first(): number {
    const seq = this.oldestSeq();
    return seq === null ? Number.POSITIVE_INFINITY : this.of(seq);
  }

  #hasSteps(segment: number): boolean {
    return this.#anyStep.get(segment * this.#stepsCount, (segment + 1) * this.#stepsCount) === 1;
  }
}
