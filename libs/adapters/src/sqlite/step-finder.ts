/**
 * The reader's side of `step_keys`: steps by session or by trace. What is not indexed yet is gathered from the end of
 * `steps`, each step looked at once.
 */
import type { Database } from 'better-sqlite3';
import { STEPS_READ_CHARS_MAX } from '#contracts/store';
import { READ_COUNTER } from './counters.js';
import { PreparedStatements } from './prepared-statements.js';
import type { PageKeys, RawStep } from './protocol.js';
import { takeWithin } from './rows-within.js';
import { NO_PART, partOf, SEGMENT_STEPS, segmentOf, sessionKeyOf, traceKeyOf } from './step-key.js';
import { INDEXED_SEQ } from './step-key-table.js';
import { RAW_STEP_COLUMNS } from './step-table.js';

const INDEXED = `SELECT ${RAW_STEP_COLUMNS.map((column) => `steps.${column}`).join(', ')}
  FROM step_keys CROSS JOIN steps ON steps.seq = step_keys.seq
  WHERE segment = ? AND key = ? AND step_keys.seq BETWEEN ? AND ?`;
const ONE = `SELECT ${RAW_STEP_COLUMNS.join(', ')} FROM steps WHERE seq = ?`;

/** Beyond all of them. */
const NO_STEPS = Number.MAX_SAFE_INTEGER;
/** Looked at for one that is wanted. */
const CANDIDATES_MAX = 8;
/** Entries of one trace among which the latest is looked for: they do not stand in the order of their steps. */
const ENTRIES_OF_TRACE_MAX = 10_000;

type YoungStep = [seq: number, tenantId: string, sessionId: string, traceId: string, bodyHash: string];

export class StepFinder {
  readonly #sql: PreparedStatements;
  readonly #inOneView: <T>(find: () => T) => T;
  readonly #ofSessions = new YoungSeqs();
  readonly #ofTraces = new YoungSeqs();
  readonly #ofBodies = new YoungSeqs();
  readonly #entriesMax: number;
  readonly #segmentSteps: number;
  #indexedSeq = 0;
  #seenSeq = 0;

  /** @param segmentSteps as the writer has it */
  constructor(database: Database, entriesOfTraceMax = ENTRIES_OF_TRACE_MAX, segmentSteps = SEGMENT_STEPS) {
    this.#entriesMax = entriesOfTraceMax;
    this.#segmentSteps = segmentSteps;
    this.#sql = new PreparedStatements(database);
    this.#inOneView = <T>(find: () => T) => database.transaction(find)();
  }

  /** @see takeWithin */
  ofSession(tenantId: string, sessionId: string, page: PageKeys): RawStep[] {
    return this.inSession(tenantId, sessionId, page, (steps) =>
      takeWithin(steps, page.limit, STEPS_READ_CHARS_MAX),
    );
  }

  /** @param take of its steps, which are read one by one as they are asked for; more than the limit where some are not indexed yet */
  inSession<T>(
    tenantId: string,
    sessionId: string,
    page: PageKeys,
    take: (steps: Iterable<RawStep>) => T,
  ): T {
    return this.#inOneView(() => {
      this.#catchUp();
      const { afterSeq, order } = page;
      const isBeyond = (seq: number) =>
        afterSeq === null || (order === 'asc' ? seq > afterSeq : seq < afterSeq);
      const young = this.#ofSessions.get(tenantId, sessionId).filter(isBeyond);
      const indexed = this.#indexedOfSession(tenantId, sessionId, page);
      const ordered = order === 'asc' ? [indexed, this.#read(young)] : [this.#read(young.reverse()), indexed];
      return take(oneAfterAnother(ordered));
    });
  }

  /** The latest, or the one with this body. */
  ofTrace(tenantId: string, traceId: string, bodyHash: string | null): RawStep | null {
    return this.#inOneView(() => {
      this.#catchUp();
      const young =
        bodyHash === null
          ? this.#ofTraces.last(tenantId, traceId)
          : this.#ofBodies.last(tenantId, bodyName(traceId, bodyHash));
      const isWanted = (step: RawStep) =>
        step.tenant_id === tenantId &&
        step.trace_id === traceId &&
        (bodyHash === null || step.body_hash === bodyHash);
      const find = (seqs: Iterable<number>) => {
        for (const step of this.#read(seqs)) if (isWanted(step)) return step;
        return undefined;
      };
      const step = find(young);
      if (step !== undefined) return step;
      for (const segment of this.#segments(this.#indexedSeq, 1)) {
        const found = find(this.#indexedOfTrace(segment, tenantId, traceId, bodyHash));
        if (found !== undefined) return found;
      }
      return null;
    });
  }

  /**
   * Of one segment, newest first: the first of them, but where steps were deleted beside one that is held, or two traces
   * share a key. Of more than ENTRIES_OF_TRACE_MAX it is not the newest but one of them: ingest waits for the answer.
   */
  *#indexedOfTrace(
    segment: number,
    tenantId: string,
    traceId: string,
    bodyHash: string | null,
  ): Generator<number> {
    const ofPart = bodyHash === null ? '' : 'AND part = ?';
    const part = bodyHash === null ? [] : [partOf(bodyHash)];
    // Without the second bound SQLite sorts before it takes the first, and goes through all of them.
    const entries = this.#sql.each<{ seq: number }>(
      `SELECT seq FROM (
         SELECT seq FROM step_keys WHERE segment = ? AND key = ? ${ofPart} AND seq BETWEEN ? AND ?
         LIMIT ${this.#entriesMax})
       ORDER BY seq DESC LIMIT ${this.#entriesMax}`,
      [segment, traceKeyOf(tenantId, traceId), ...part, this.#oldestSeq(), this.#indexedSeq],
    );
    for (const { seq } of entries) yield seq;
  }

  /** Looked for when the first is asked for. */
  *#indexedOfSession(
    tenantId: string,
    sessionId: string,
    { limit, afterSeq, order }: PageKeys,
  ): Generator<RawStep> {
    const [beyond, direction] = order === 'asc' ? ['>', 'ASC'] : ['<', 'DESC'];
    const start = afterSeq ?? (order === 'asc' ? 0 : NO_STEPS);
    const key = sessionKeyOf(tenantId, sessionId);
    const segments = order === 'asc' ? this.#segments(start, this.#indexedSeq) : this.#segments(start, 1);
    for (const segment of segments)
      yield* this.#sql.each<RawStep>(
        `${INDEXED} AND part = ${NO_PART} AND step_keys.seq ${beyond} ? AND tenant_id = ? AND session_id = ?
         ORDER BY step_keys.seq ${direction} LIMIT ?`,
        [segment, key, this.#oldestSeq(), this.#indexedSeq, start, tenantId, sessionId, limit],
      );
  }

  /** Those that steps from one seq to another, forwards or backwards, may stand in. */
  *#segments(fromSeq: number, toSeq: number): Generator<number> {
    const oldest = this.#oldestSeq();
    if (oldest === NO_STEPS) return;
    const [from, to] = [fromSeq, toSeq].map((seq) =>
      segmentOf(Math.min(Math.max(seq, oldest), this.#indexedSeq), this.#segmentSteps),
    ) as [number, number];
    const step = from <= to ? 1 : -1;
    for (let segment = from; segment !== to + step; segment += step) yield segment;
  }

  /** Before it there are entries of deleted steps alone. */
  #oldestSeq(): number {
    return this.#sql.get<{ seq: number | null }>('SELECT min(seq) AS seq FROM steps', [])?.seq ?? NO_STEPS;
  }

  /** Retention may have taken one since. */
  *#read(seqs: Iterable<number>): Generator<RawStep> {
    for (const seq of seqs) {
      const step = this.#sql.get<RawStep>(ONE, [seq]);
      if (step !== null) yield step;
    }
  }

  #catchUp(): void {
    const indexed = this.#sql.get<{ value: number }>(READ_COUNTER, [INDEXED_SEQ]);
    if (indexed !== null && indexed.value > this.#indexedSeq) {
      this.#indexedSeq = indexed.value;
      this.#ofSessions.forgetUpTo(indexed.value);
      this.#ofTraces.forgetUpTo(indexed.value);
      this.#ofBodies.forgetUpTo(indexed.value);
    }
    this.#seenSeq = Math.max(this.#seenSeq, this.#indexedSeq);
    const steps = this.#sql
      .prepare('SELECT seq, tenant_id, session_id, trace_id, body_hash FROM steps WHERE seq > ? ORDER BY seq')
      .raw()
      .all(this.#seenSeq) as YoungStep[];
    for (const [seq, tenantId, sessionId, traceId, bodyHash] of steps) {
      this.#ofSessions.add(tenantId, sessionId, seq);
      this.#ofTraces.add(tenantId, traceId, seq);
      this.#ofBodies.add(tenantId, bodyName(traceId, bodyHash), seq);
      this.#seenSeq = seq;
    }
  }
}

function* oneAfterAnother<T>(parts: readonly Iterable<T>[]): Generator<T> {
  for (const part of parts) yield* part;
}

/** Seqs of steps by a name within a tenant, ascending. */
class YoungSeqs {
  readonly #seqs = new Map<string, number[]>();

  add(tenantId: string, name: string, seq: number): void {
    const key = keyOf(tenantId, name);
    const seqs = this.#seqs.get(key);
    if (seqs === undefined) this.#seqs.set(key, [seq]);
    else seqs.push(seq);
  }

  /** The caller's own. */
  get(tenantId: string, name: string): number[] {
    return [...(this.#seqs.get(keyOf(tenantId, name)) ?? [])];
  }

  /** Newest first. */
  last(tenantId: string, name: string): number[] {
    return (this.#seqs.get(keyOf(tenantId, name)) ?? []).slice(-CANDIDATES_MAX).reverse();
  }

  forgetUpTo(seq: number): void {
    for (const [key, seqs] of this.#seqs) {
      if ((seqs.at(-1) ?? 0) <= seq) this.#seqs.delete(key);
      else if ((seqs[0] ?? 0) <= seq)
        this.#seqs.set(
          key,
          seqs.filter((each) => each > seq),
        );
    }
  }
}

const keyOf = (tenantId: string, name: string) => `${tenantId.length} ${tenantId}${name}`;

const bodyName = (traceId: string, bodyHash: string) => `${traceId.length} ${traceId}${bodyHash}`;
