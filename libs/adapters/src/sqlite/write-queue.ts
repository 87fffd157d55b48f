/**
 * Writes waiting for the writing thread, gathered into batches while it is busy: one message, one transaction and
 * one fsync per batch. Knows neither threads nor SQL.
 *
 *     appendSteps ─┐                      ┌─ resolve each call
 *     call        ─┼─> [batch][batch] ──> │  take() … settle(batch, results)
 *     saveSessions ┘    pending           └─ in flight until settled
 *
 * Calls are never split over batches: a batch that fails keeps nothing, so a call is kept whole or not at all.
 */
import type { StepCommit, StepRow } from '#contracts';
import {
  type OperationResult,
  type Primitive,
  type RoomAsked,
  roomAsked,
  STEP_COLUMNS,
  type StepsResult,
  type WriteCallName,
  type WriteOperation,
} from './protocol.js';
import type { CallBatch } from './proxy/proxy-protocol.js';
import { toError } from './thread-failure.js';

/** A batch takes no further call beyond this many rows: it bounds how long the next one waits. */
const BATCH_ROWS_MAX = 1_000;
const BATCH_BYTES_MAX = 4 * 1024 * 1024;
/** Memory of a row beside its texts, about. */
const ROW_BYTES = 256;

const NUMBER_COLUMNS: readonly string[] = ['received_at_ms', 'held', 'entropy_score', 'window_size'];
/** Places in STEP_COLUMNS. Apart, since to compare a type with one that only the run knows is a call out of compiled code. */
const NUMBERS_AT = placesOf((column) => NUMBER_COLUMNS.includes(column));
const TEXTS_AT = placesOf((column) => !NUMBER_COLUMNS.includes(column));

interface CallWaiter<T> {
  resolve(value: T): void;
  reject(error: Error): void;
}
interface StepsWaiter extends CallWaiter<StepCommit[]> {
  rowCount: number;
}

/** Who waits for one operation; steps of several calls share one. */
type OperationWaiter = { kind: 'steps'; calls: StepsWaiter[] } | { kind: 'other'; call: CallWaiter<unknown> };

export interface WriteBatch {
  readonly operations: WriteOperation[];
  readonly waiters: OperationWaiter[];
  /** Rows, counting every operation other than steps and LLM calls as one. */
  rowCount: number;
  bytes: number;
  /** The same of all its operations: a full disk must fail the ones without the others. */
  readonly room: RoomAsked;
}

export class WriteQueue {
  readonly #pending: WriteBatch[] = [];
  #count = 0;
  #bytes = 0;
  #pendingCount = 0;

  /** Rows accepted and not settled, in flight or not. */
  get count(): number {
    return this.#count;
  }

  /** Their size in memory, about. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Rows not yet taken. */
  get pendingCount(): number {
    return this.#pendingCount;
  }

  /** @throws TypeError, without queueing anything, if a row holds a value of the wrong type */
  appendSteps(rows: readonly StepRow[]): Promise<StepCommit[]> {
    if (rows.length === 0) return Promise.resolve([]);
    const batch = this.#openBatch('ordinary');
    const operation = this.#openSteps(batch);
    const bytes = pushRows(operation.values, rows);
    operation.rowCounts.push(rows.length);
    this.#grow(batch, rows.length, bytes);
    return new Promise((resolve, reject) => {
      const waiter = batch.waiters.at(-1) as OperationWaiter & { kind: 'steps' };
      waiter.calls.push({ rowCount: rows.length, resolve, reject });
    });
  }

  /** @returns seq of the first call; the others follow without a gap */
  appendCalls(batch: CallBatch): Promise<number> {
    return this.#add({ kind: 'calls', batch }, batch.bytes, batch.rowCount) as Promise<number>;
  }

  /** @param values primitives only, in the order of SESSION_COLUMNS */
  saveSessions(values: Primitive[], checkpointSeq: number, releasedSeqs: readonly number[]): Promise<void> {
    const bytes = values.reduce<number>(
      (sum, value) => sum + (typeof value === 'string' ? value.length : 8),
      0,
    );
    return this.#add({ kind: 'sessions', values, checkpointSeq, releasedSeqs }, bytes) as Promise<void>;
  }

  /** @param args JSON text of the argument list */
  call(name: WriteCallName, args: string): Promise<unknown> {
    return this.#add({ kind: 'call', name, args }, args.length);
  }

  /** The next batch, now in flight; null if nothing waits. */
  take(): WriteBatch | null {
    const batch = this.#pending.shift();
    if (batch === undefined) return null;
    this.#pendingCount -= batch.rowCount;
    return batch;
  }

  /** The batch is committed. @param results one per operation, in order */
  settle(batch: WriteBatch, results: readonly OperationResult[]): void {
    this.#leave(batch);
    for (const [index, waiter] of batch.waiters.entries()) {
      const result = results[index];
      if (waiter.kind === 'steps' && result?.kind === 'steps') settleSteps(waiter.calls, result.steps);
      else if (waiter.kind === 'other' && result?.kind === 'done') waiter.call.resolve(result.value);
      else
        rejectWaiter(
          waiter,
          result?.kind === 'failed' ? toError(result.failure) : new Error('the store lost a result'),
        );
    }
  }

  /** Nothing of the batch was kept. */
  reject(batch: WriteBatch, error: Error): void {
    this.#leave(batch);
    for (const waiter of batch.waiters) rejectWaiter(waiter, error);
  }

  #add(operation: WriteOperation, bytes: number, rowCount = 1): Promise<unknown> {
    const batch = this.#openBatch(roomAsked(operation));
    batch.operations.push(operation);
    this.#grow(batch, rowCount, bytes + ROW_BYTES);
    return new Promise((resolve, reject) => {
      batch.waiters.push({ kind: 'other', call: { resolve, reject } });
    });
  }

  #openBatch(room: RoomAsked): WriteBatch {
    const last = this.#pending.at(-1);
    const fits =
      last !== undefined &&
      last.room === room &&
      last.rowCount < BATCH_ROWS_MAX &&
      last.bytes < BATCH_BYTES_MAX;
    if (fits) return last;
    const batch: WriteBatch = { operations: [], waiters: [], rowCount: 0, bytes: 0, room };
    this.#pending.push(batch);
    return batch;
  }

  /** Steps that follow steps share their array: one operation, however many calls. */
  #openSteps(batch: WriteBatch): WriteOperation & { kind: 'steps' } {
    const last = batch.operations.at(-1);
    if (last?.kind === 'steps') return last;
    const operation = { kind: 'steps' as const, values: [], rowCounts: [] };
    batch.operations.push(operation);
    batch.waiters.push({ kind: 'steps', calls: [] });
    return operation;
  }

  #grow(batch: WriteBatch, rowCount: number, bytes: number): void {
    batch.rowCount += rowCount;
    batch.bytes += bytes;
    this.#count += rowCount;
    this.#bytes += bytes;
    this.#pendingCount += rowCount;
  }

  #leave(batch: WriteBatch): void {
    this.#count -= batch.rowCount;
    this.#bytes -= batch.bytes;
  }
}

/** @returns bytes added; on a wrong type the array is as it was before */
function pushRows(values: Primitive[], rows: readonly StepRow[]): number {
  const lengthBefore = values.length;
  let bytes = 0;
  for (const row of rows) {
    values.push(
      row.tenant_id,
      row.session_id,
      row.agent_id,
      row.trace_id,
      row.body_hash,
      row.received_at_ms,
      row.held,
      row.entropy_score,
      row.entropy_severity,
      row.window_size,
      row.body,
    );
    bytes += ROW_BYTES + (typeof row.body === 'string' ? row.body.length : 0);
  }
  for (let start = lengthBefore; start < values.length; start += STEP_COLUMNS.length) {
    const wrong = wrongColumn(values, start);
    if (wrong === undefined) continue;
    values.length = lengthBefore;
    const type = NUMBERS_AT.includes(wrong) ? 'number' : 'string';
    throw new TypeError(`step row: ${STEP_COLUMNS[wrong]} must be a ${type}`);
  }
  return bytes;
}

/** Of the row that starts there. @returns its place in STEP_COLUMNS */
function wrongColumn(values: readonly Primitive[], start: number): number | undefined {
  for (const column of TEXTS_AT) if (typeof values[start + column] !== 'string') return column;
  for (const column of NUMBERS_AT) if (typeof values[start + column] !== 'number') return column;
  return undefined;
}

function placesOf(isWanted: (column: string) => boolean): number[] {
  return STEP_COLUMNS.flatMap((column, at) => (isWanted(column) ? [at] : []));
}

function settleSteps(calls: readonly StepsWaiter[], { firstSeq, duplicates, failures }: StepsResult): void {
  let seq = firstSeq;
  let row = 0;
  let duplicateAt = 0;
  for (const [index, call] of calls.entries()) {
    const failure = failures?.[index] ?? null;
    if (failure !== null) {
      row += call.rowCount;
      call.reject(toError(failure));
      continue;
    }
    const commits: StepCommit[] = new Array(call.rowCount);
    for (let at = 0; at < call.rowCount; at += 1, row += 1) {
      if (duplicates !== null && duplicates[duplicateAt] === row) {
        commits[at] = { seq: duplicates[duplicateAt + 1] as number, duplicate: true };
        duplicateAt += 2;
      } else {
        commits[at] = { seq, duplicate: false };
        seq += 1;
      }
    }
    call.resolve(commits);
  }
}

function rejectWaiter(waiter: OperationWaiter, error: Error): void {
  if (waiter.kind === 'other') waiter.call.reject(error);
  else for (const call of waiter.calls) call.reject(error);
}
