/**
 * The writer's side of `step_keys`. An index that is kept up with every insert costs a page of the log for each step,
 * twice: neighbours in time are no neighbours in it. So steps are gathered in memory, and a whole generation of them
 * is merged in the order of the table, a piece with a commit. Until it is, memory knows which steps are stored;
 * after a crash the table `steps` tells. Of what is merged, the filter of a segment tells.
 *
 * @see docs/decisions/0012-steps-are-indexed-in-bulk.md
 * @see docs/decisions/0023-the-index-of-steps-has-segments.md
 */
import type { Database, Statement } from 'better-sqlite3';
import { READ_COUNTER, SAVE_COUNTER } from './counters.js';
import { diskFullDetail } from './disk-full.js';
import { type KeyEntry, StepGeneration, type StepIdentity } from './step-generation.js';
import { NO_PART, partOf, SEGMENT_STEPS, sessionKeyOf, traceKeyOf } from './step-key.js';
import { StepKeySweep } from './step-key-sweep.js';
import { INDEXED_SEQ } from './step-key-table.js';
import { StepSegments } from './step-segments.js';

/** Steps of a generation: the more, the fewer pages a step costs; the next start after a crash has so many to index. */
const GENERATION_STEPS = 16_384;
/** Entries merged for a new step; there are two to each, so a generation is done long before the next is full. */
const MERGED_PER_STEP = 6;
/**
 * A piece is 2,048 entries at least, 3 ms: the commit of a transaction that split pages of the
 * index goes through the whole page cache, and small commits would pay that, 0.2 ms, for a few entries each.
 */
const PIECES_PER_GENERATION = 8;
const ALL = Number.POSITIVE_INFINITY;
/** Generations kept in memory where the disk has no room for them at the start; a crash leaves two at most. */
const UNINDEXED_GENERATIONS_MAX = 16;
/** Sessions whose key is remembered. */
const SESSIONS_KNOWN_MAX = 10_000;

interface Merge {
  generation: StepGeneration;
  entryAt: (index: number) => KeyEntry;
  entriesCount: number;
  lastSeq: number;
  /** Entries committed. */
  position: number;
  /** The same when the transaction under way is committed. */
  positionThen: number;
}

export class StepKeys {
  readonly #database: Database;
  readonly #insert: Statement;
  readonly #findRow: Statement;
  readonly #isRow: Statement;
  readonly #saveCounter: Statement;
  readonly #generationSteps: number;
  readonly #segments: StepSegments;
  readonly #sweep: StepKeySweep;
  readonly #sessionKeys = new Map<string, number>();
  #indexedSeq: number;
  #young = new StepGeneration();
  #merge: Merge | null = null;
  /** Entries that are due for the steps committed: fewer than a piece, so that a transaction without steps merges nothing. */
  #entriesOwed = 0;
  /** The same when the transaction under way is committed. */
  #entriesOwedThen = 0;

  /**
   * @param generationSteps how many are gathered before they are merged
   * @param segmentSteps how many stand together in the table; never another for the same database
   * @throws SqliteError if the disk is full and more steps wait to be indexed than memory may hold
   */
  constructor(database: Database, generationSteps = GENERATION_STEPS, segmentSteps = SEGMENT_STEPS) {
    this.#database = database;
    this.#generationSteps = generationSteps;
    // An entry may be there already: a merge cut off by a crash begins anew.
    this.#insert = database.prepare(
      'INSERT OR IGNORE INTO step_keys (segment, key, part, seq) VALUES (?, ?, ?, ?)',
    );
    this.#findRow = database
      .prepare(
        `SELECT steps.seq FROM step_keys CROSS JOIN steps ON steps.seq = step_keys.seq
         WHERE segment = ? AND key = ? AND part = ? AND tenant_id = ? AND trace_id = ? AND body_hash = ? LIMIT 1`,
      )
      .pluck();
    this.#isRow = database
      .prepare('SELECT 1 FROM steps WHERE seq = ? AND tenant_id = ? AND trace_id = ? AND body_hash = ?')
      .pluck();
    this.#saveCounter = database.prepare(SAVE_COUNTER);
    database.function('session_key', { deterministic: true }, sessionKeyOf);
    this.#indexedSeq = (database.prepare(READ_COUNTER).pluck().get(INDEXED_SEQ) as number | undefined) ?? 0;
    this.#segments = new StepSegments(database, this.#indexedSeq, segmentSteps);
    this.#sweep = new StepKeySweep(database, this.#segments);
    database.function('segments_of_session', (key) =>
      JSON.stringify(this.#segments.mayHold(key as number, NO_PART)),
    );
    this.#indexStored();
  }

  /** Before every transaction. @param nextSeq seq of the next new step: all before it are committed */
  begin(nextSeq: number): void {
    this.#sweep.begin();
    this.#entriesOwedThen = this.#entriesOwed;
    // What the last transaction merged is undone, if it was.
    if (this.#merge !== null) this.#merge.positionThen = this.#merge.position;
    else if (this.#young.count >= this.#generationSteps) this.#startMerge(nextSeq);
  }

  /** After every commit. */
  committed(): void {
    this.#sweep.committed();
    this.#entriesOwed = this.#entriesOwedThen;
    const merge = this.#merge;
    if (merge === null) return;
    merge.position = merge.positionThen;
    if (merge.position < merge.entriesCount) return;
    this.#indexedSeq = merge.lastSeq;
    this.#merge = null;
    this.#segments.forgetEmpty();
  }

  /** @returns seq of the step if it is stored, else null, and it is known under `seq` from now on */
  findOrAdd(step: StepIdentity, seq: number): number | null {
    const { tenant_id, session_id, trace_id, body_hash } = step;
    const traceKey = traceKeyOf(tenant_id, trace_id);
    const part = partOf(body_hash);
    const found = this.#findYoung(traceKey, part, step) ?? this.#findIndexed(traceKey, part, step);
    if (found === null) this.#young.add(seq, this.#sessionKey(tenant_id, session_id), traceKey, part);
    return found;
  }

  /** A piece of the merge under way, if one is due: the last thing in every transaction. */
  mergeFor(stepsCount: number): void {
    if (this.#merge === null) return;
    this.#entriesOwedThen += stepsCount * MERGED_PER_STEP;
    if (this.#entriesOwedThen < this.#generationSteps / PIECES_PER_GENERATION) return;
    this.#mergePiece(this.#entriesOwedThen);
    this.#entriesOwedThen = 0;
  }

  /** Merges all steps there are, in transactions of its own. */
  settle(nextSeq: number): void {
    if (this.#merge !== null) this.#mergeRest(nextSeq);
    this.#startMerge(nextSeq);
    if (this.#merge !== null) this.#mergeRest(nextSeq);
    // Those that had to be made again at the start, too.
    this.#database.transaction(() => this.#segments.save(this.#indexedSeq))();
  }

  /** Takes out entries of deleted steps, a piece of them. @returns true while there is more */
  sweep(entryCount: number): boolean {
    return this.#sweep.piece(entryCount);
  }

  /**
   * Session keys of the steps not indexed yet, as the transaction under way sees them. A few ms for a generation. Of one that was
   * deleted before an older one, which is held, the key is among them until it is indexed.
   */
  youngSessionKeys(nextSeq: number): Set<number> {
    const keys = new Set<number>();
    const oldestSeq = this.#segments.oldestSeq() ?? nextSeq;
    const isStored = (seq: number) => seq >= oldestSeq && seq < nextSeq;
    this.#merge?.generation.addSessionKeys(keys, isStored);
    this.#young.addSessionKeys(keys, isStored);
    return keys;
  }

  /**
   * What a crash, or an older version, left unindexed. Where the disk is full it stays in memory, and is merged with
   * the steps to come: retention, which makes room, needs the writer.
   */
  #indexStored(): void {
    const next = this.#database.prepare(
      'SELECT seq, tenant_id, session_id, trace_id, body_hash FROM steps WHERE seq > ? ORDER BY seq LIMIT ?',
    );
    let afterSeq = this.#indexedSeq;
    let full: unknown = null;
    for (;;) {
      const steps = next.all(afterSeq, this.#generationSteps) as (StepIdentity & { seq: number })[];
      if (steps.length === 0) return;
      for (const { seq, ...step } of steps) {
        const { tenant_id, session_id, trace_id, body_hash } = step;
        const traceKey = traceKeyOf(tenant_id, trace_id);
        const sessionKey = this.#sessionKey(tenant_id, session_id);
        this.#young.add(seq, sessionKey, traceKey, partOf(body_hash));
        afterSeq = seq;
      }
      full ??= this.#settleUnlessFull();
      if (this.#young.count > this.#generationSteps * UNINDEXED_GENERATIONS_MAX) throw full;
    }
  }

  /** @returns the error of a full disk; then the merge is under way, and nothing of it is lost */
  #settleUnlessFull(): unknown {
    try {
      this.settle(Number.MAX_SAFE_INTEGER);
      return null;
    } catch (error) {
      if (diskFullDetail(error) === null) throw error;
      return error;
    }
  }

  #startMerge(nextSeq: number): void {
    const generation = this.#young;
    generation.cutFrom(nextSeq);
    const { lastSeq } = generation;
    if (lastSeq === null) return;
    this.#young = new StepGeneration();
    this.#merge = {
      generation,
      entryAt: generation.sorted(),
      entriesCount: generation.count * 2,
      lastSeq,
      position: 0,
      positionThen: 0,
    };
  }

  #mergeRest(nextSeq: number): void {
    this.begin(nextSeq);
    this.#database.transaction(() => this.#mergePiece(ALL))();
    this.committed();
  }

  #mergePiece(entriesMax: number): void {
    const merge = this.#merge;
    if (merge === null) return;
    const end = Math.min(merge.entriesCount, merge.position + entriesMax);
    const oldestSeq = this.#segments.oldestSeq() ?? ALL;
    for (let index = merge.position; index < end; index += 1) {
      const [key, part, seq] = merge.entryAt(index);
      if (seq < oldestSeq) continue;
      const segment = this.#segments.of(seq);
      this.#insert.run(segment, key, part, seq);
      this.#segments.add(segment, key, part);
    }
    merge.positionThen = end;
    if (end < merge.entriesCount) return;
    this.#saveCounter.run(INDEXED_SEQ, merge.lastSeq);
    this.#segments.save(merge.lastSeq);
  }

  #findYoung(
    traceKey: number,
    part: number,
    { tenant_id, trace_id, body_hash }: StepIdentity,
  ): number | null {
    const isIt = (seq: number) => this.#isRow.get(seq, tenant_id, trace_id, body_hash) === 1;
    return (
      this.#young.find(traceKey, part, isIt) ?? this.#merge?.generation.find(traceKey, part, isIt) ?? null
    );
  }

  #findIndexed(
    traceKey: number,
    part: number,
    { tenant_id, trace_id, body_hash }: StepIdentity,
  ): number | null {
    for (const segment of this.#segments.mayHold(traceKey, part)) {
      const seq = this.#findRow.get(segment, traceKey, part, tenant_id, trace_id, body_hash);
      if (seq !== undefined) return seq as number;
    }
    return null;
  }

  #sessionKey(tenantId: string, sessionId: string): number {
    const name = `${tenantId.length} ${tenantId}${sessionId}`;
    let key = this.#sessionKeys.get(name);
    if (key === undefined) {
      key = sessionKeyOf(tenantId, sessionId);
      if (this.#sessionKeys.size >= SESSIONS_KNOWN_MAX) this.#sessionKeys.clear();
      this.#sessionKeys.set(name, key);
    }
    return key;
  }
}
