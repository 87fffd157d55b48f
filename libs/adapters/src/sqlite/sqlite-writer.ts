/**
 * The writing half of the store, synchronous: one batch of operations, one transaction. If one operation is at
 * fault, the batch is done again with each in a savepoint of its own, so that the fault costs nobody else their
 * write and the usual batch pays for no savepoints.
 */
import { existsSync, realpathSync, statfsSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Database, Statement } from 'better-sqlite3';
import { CommandReserve } from './command-reserve.js';
import { SAVE_COUNTER } from './counters.js';
import {
  beginLogAnew,
  cannotOpen,
  checkpoint,
  openWriterConnection,
  type WriterConnection,
} from './database-file.js';
import { diskFullDetail, isLocked, StoreFullError } from './disk-full.js';
import {
  type OperationResult,
  type RoomAsked,
  roomAsked,
  SESSION_COLUMNS,
  type StepsResult,
  sessionWidth,
  type ThreadFailure,
  type ThreadSettings,
  type WriteOperation,
} from './protocol.js';
import { CallTable } from './proxy/call-table.js';
import { Retention } from './retention.js';
import { SESSION_CHECKPOINT } from './schema.js';
import { unindexedCountMax } from './step-key-table.js';
import { StepTable } from './step-table.js';
import type { StoreEvent } from './store-event.js';
import { toFailure } from './thread-failure.js';
import { WriteCallTable } from './write-call-table.js';

/** Of the space to be kept free, below which commands are refused, too: of 32 MiB, 4. */
const COMMAND_SHARE = 1 / 8;
/** What is kept from other programs besides, as a file: of 32 MiB, 8. */
const RESERVE_SHARE = 1 / 4;

/**
 * A writer, on a full disk by giving up the room that is kept for commands: without a gateway no agent could call.
 *
 * @param onEvent as of the class
 * @throws as the class does
 */
export function openWriter(settings: ThreadSettings, onEvent: (event: StoreEvent) => void): SqliteWriter {
  try {
    return new SqliteWriter(settings, onEvent);
  } catch (error) {
    const isFull = diskFullDetail((error as Error).cause) !== null && existsSync(settings.path);
    const reserve = isFull ? reserveOf(settings) : null;
    if (reserve?.release() !== true) throw error;
    onEvent({ kind: 'reserve_released', bytes: reserve.bytes });
    return new SqliteWriter(settings, onEvent);
  }
}

/** Beside the file itself, as SQLite's log is. */
const reserveOf = ({ path, freeBytesMin }: ThreadSettings): CommandReserve =>
  new CommandReserve(`${realpathSync(path)}.reserve`, Math.floor(freeBytesMin * RESERVE_SHARE));

export class SqliteWriter {
  readonly #connection: WriterConnection;
  readonly #settings: ThreadSettings;
  readonly #steps: StepTable;
  readonly #llmCalls: CallTable;
  readonly #calls: WriteCallTable;
  readonly #retention: Retention;
  readonly #reserve: CommandReserve;
  readonly #onEvent: (event: StoreEvent) => void;
  readonly #readFreeBytes: () => number;
  readonly #begin: Statement;
  readonly #commit: Statement;
  readonly #saveSession: Statement;
  readonly #saveCounter: Statement;
  readonly #forgetRelease: Statement;

  /**
   * @param onEvent told before a start that takes its time, and when the room kept for commands is given up
   * @param readFreeBytes free space on the database's file system
   * @throws Error with a reason for the person who started the server, if the database cannot be used
   */
  constructor(
    settings: ThreadSettings,
    onEvent: (event: StoreEvent) => void = () => {},
    readFreeBytes = () => freeBytesAt(settings.path),
  ) {
    this.#settings = settings;
    this.#onEvent = onEvent;
    this.#readFreeBytes = readFreeBytes;
    this.#connection = openWriterConnection(settings, onEvent);
    try {
      const { database } = this.#connection;
      const stepCountMax = unindexedCountMax(database);
      if (stepCountMax > 0) onEvent({ kind: 'indexing', stepCountMax });
      this.#steps = new StepTable(database);
      this.#llmCalls = new CallTable(database);
      this.#retention = new Retention(database, this.#steps, this.#llmCalls);
      this.#calls = new WriteCallTable(database, this.#steps, this.#retention);
      this.#begin = database.prepare('BEGIN IMMEDIATE');
      this.#commit = database.prepare('COMMIT');
      this.#saveSession = database.prepare(
        `INSERT INTO sessions (${SESSION_COLUMNS.join(', ')}) VALUES (${SESSION_COLUMNS.map(() => '?').join(', ')})
         ON CONFLICT (tenant_id, session_id) DO UPDATE SET agent_id = excluded.agent_id, severity = excluded.severity,
           ended = excluded.ended, last_seen_ms = excluded.last_seen_ms, search = excluded.search, view = excluded.view`,
      );
      this.#forgetRelease = database.prepare('DELETE FROM unfolded_releases WHERE seq = ?');
      this.#saveCounter = database.prepare(SAVE_COUNTER);
      this.#reserve = reserveOf(settings);
      this.#keepReserve();
    } catch (error) {
      this.#connection.close();
      throw cannotOpen(settings.path, error);
    }
  }

  /**
   * Commits the operations in order.
   *
   * @returns one result per operation, in order; a faulty one is told in its own result
   * @throws StoreFullError if the disk took nothing of it, or a file is no longer where it was opened
   */
  write(operations: WriteOperation[]): OperationResult[] {
    this.#connection.requireInPlace();
    const room = roomAskedByAll(operations);
    if (room === 'ordinary') this.#keepReserve();
    try {
      return this.#write(operations, room);
    } catch (error) {
      if (room !== 'command' || !(error instanceof StoreFullError) || !this.#reserve.release()) throw error;
      this.#onEvent({ kind: 'reserve_released', bytes: this.#reserve.bytes });
      return this.#write(operations, room);
    }
  }

  #write(operations: WriteOperation[], room: RoomAsked): OperationResult[] {
    this.#requireFreeSpace(room);
    const nextSeq = this.#steps.nextSeq;
    try {
      const results = this.#transact(() => operations.map((operation) => this.#apply(operation)));
      if (operations.some(shrinksFile)) checkpoint(this.#database, 'PASSIVE');
      return results;
    } catch (error) {
      this.#steps.nextSeq = nextSeq;
      if (isLocked(error)) throw error;
      refuseIfFull(error);
    }
    try {
      return this.#transact(() => operations.map((operation) => this.#applyApart(operation)));
    } catch (error) {
      this.#steps.nextSeq = nextSeq;
      refuseIfFull(error);
      throw error;
    }
  }

  /** Between two batches, while no reader of ours is at work. */
  beginLogAnew(): void {
    beginLogAnew(this.#database);
  }

  /** Indexes what is left, folds the write-ahead log into the database and lets the file go. */
  close(): void {
    try {
      this.#settle();
      checkpoint(this.#database, 'TRUNCATE');
    } finally {
      this.#connection.close();
    }
  }

  get #database(): Database {
    return this.#connection.database;
  }

  #settle(): void {
    try {
      this.#steps.settle();
    } catch (error) {
      // On a full disk it waits for the next start.
      if (diskFullDetail(error) === null) throw error;
    }
  }

  #transact<T>(work: () => T): T {
    this.#steps.begin();
    this.#begin.run();
    try {
      const { nextSeq } = this.#steps;
      const result = work();
      this.#steps.indexFor(this.#steps.nextSeq - nextSeq);
      this.#commit.run();
      this.#steps.committed();
      return result;
    } catch (error) {
      // SQLite rolls back by itself on some errors, such as a full disk.
      if (this.#database.inTransaction) this.#database.exec('ROLLBACK');
      throw error;
    }
  }

  #apply(operation: WriteOperation): OperationResult {
    switch (operation.kind) {
      case 'steps': {
        const firstSeq = this.#steps.nextSeq;
        const rowCount = operation.rowCounts.reduce((sum, count) => sum + count, 0);
        const duplicates = this.#steps.append(operation.values, 0, rowCount);
        this.#retention.noteWritten(rowCount);
        return { kind: 'steps', steps: { firstSeq, duplicates, failures: null } };
      }
      case 'sessions':
        this.#saveSessions(operation);
        return { kind: 'done', value: null };
      case 'calls':
        this.#retention.noteWritten(operation.batch.rowCount);
        return { kind: 'done', value: this.#llmCalls.append(operation.batch) };
      case 'call':
        this.#retention.noteWritten(1);
        return { kind: 'done', value: this.#calls.run(operation.name, operation.args) };
    }
  }

  #applyApart(operation: WriteOperation): OperationResult {
    if (operation.kind === 'steps') return { kind: 'steps', steps: this.#appendApart(operation) };
    const result = this.#inSavepoint(() => this.#apply(operation));
    return result.ok ? result.value : { kind: 'failed', failure: result.failure };
  }

  /** Steps with a savepoint per call that brought them. */
  #appendApart({ values, rowCounts }: WriteOperation & { kind: 'steps' }): StepsResult {
    const firstSeq = this.#steps.nextSeq;
    const duplicates: number[] = [];
    let from = 0;
    const failures = rowCounts.map((count) => {
      const to = from + count;
      const result = this.#inSavepoint(() => this.#steps.append(values, from, to));
      from = to;
      if (!result.ok) return result.failure;
      if (result.value !== null) duplicates.push(...result.value);
      return null;
    });
    return { firstSeq, duplicates: duplicates.length > 0 ? duplicates : null, failures };
  }

  #inSavepoint<T>(work: () => T): { ok: true; value: T } | { ok: false; failure: ThreadFailure } {
    const undo = this.#steps.mark();
    this.#database.exec('SAVEPOINT apart');
    try {
      const value = work();
      this.#database.exec('RELEASE apart');
      return { ok: true, value };
    } catch (error) {
      if (diskFullDetail(error) !== null || !this.#database.inTransaction) throw error;
      this.#database.exec('ROLLBACK TO apart; RELEASE apart');
      undo();
      return { ok: false, failure: toFailure(this.#settings.path, error) };
    }
  }

  #saveSessions({ values, checkpointSeq, releasedSeqs }: WriteOperation & { kind: 'sessions' }): void {
    for (let start = 0; start < values.length; start += sessionWidth) {
      this.#saveSession.run(values.slice(start, start + sessionWidth));
    }
    for (const seq of releasedSeqs) this.#forgetRelease.run(seq);
    this.#saveCounter.run(SESSION_CHECKPOINT, checkpointSeq);
  }

  #requireFreeSpace(room: RoomAsked): void {
    const freeBytesMin = this.#settings.freeBytesMin * FREE_SHARE[room];
    if (freeBytesMin === 0 || this.#hasFree(freeBytesMin)) return;
    // What its log takes is the store's own, and may be folded in already.
    this.beginLogAnew();
    if (this.#hasFree(freeBytesMin)) return;
    throw new StoreFullError(`${this.#readFreeBytes()} bytes are free; ${freeBytesMin} are kept free`);
  }

  /** Only where nothing would be refused for it. */
  #keepReserve(): void {
    const { isMissing, bytes } = this.#reserve;
    if (isMissing) this.#reserve.keep(this.#readFreeBytes() >= this.#settings.freeBytesMin + bytes);
  }

  #hasFree(bytes: number): boolean {
    const freeBytes = this.#readFreeBytes();
    // Free pages within the file are as good: they are filled before it grows.
    return freeBytes >= bytes || freeBytes + this.#freePageBytes() >= bytes;
  }

  #freePageBytes(): number {
    const pragma = (name: string) => this.#database.pragma(name, { simple: true }) as number;
    return pragma('freelist_count') * pragma('page_size');
  }
}

/** Of the space to be kept free. */
const FREE_SHARE: Record<RoomAsked, number> = { ordinary: 1, command: COMMAND_SHARE, freeing: 0 };

/** The most that one of them asks for. */
function roomAskedByAll(operations: WriteOperation[]): RoomAsked {
  const rooms = new Set(operations.map(roomAsked));
  return rooms.has('ordinary') ? 'ordinary' : rooms.has('command') ? 'command' : 'freeing';
}

/** The file becomes shorter only once the log is folded into it. */
const shrinksFile = (operation: WriteOperation) => operation.kind === 'call' && operation.name === 'shrink';

function freeBytesAt(path: string): number {
  const { bavail, bsize } = statfsSync(dirname(path));
  return bavail * bsize;
}

function refuseIfFull(error: unknown): void {
  const detail = diskFullDetail(error);
  if (detail !== null) throw new StoreFullError(detail);
}
