/**
 * Opens the database file: private to its owner, owned by one process at a time, migrated, in write-ahead mode.
 * Every reason not to is told in words for the person who started the server.
 */
import {
  chmodSync,
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  lstatSync,
  openSync,
  realpathSync,
  statSync,
} from 'node:fs';
import { dirname } from 'node:path';
import type { Database } from 'better-sqlite3';
import { diskFullDetail, StoreFullError } from './disk-full.js';
import { makeFolder } from './make-folder.js';
import type { Durability, ThreadSettings } from './protocol.js';
import { MIGRATIONS, migrate } from './schema.js';
import { SQLite } from './sqlite-library.js';
import type { StoreEvent } from './store-event.js';

/** Only who runs the server may read what agents wrote. */
const FILE_MODE = 0o600;
/** Waiting for a foreign reader or writer, such as the sqlite3 shell, before giving up. */
const FOREIGN_LOCK_WAIT_MS = 5_000;
const PAGE_BYTES = 4_096;
/**
 * Pages in the write-ahead log before the writer itself folds it into the database, which is what makes the log begin
 * anew: under load the checkpointer never catches up, but leaves little to do.
 */
const CHECKPOINT_PAGES = 8_000;
/** The log goes on for as long as somebody reads from it. Beyond this many pages reads are made to wait until it begins anew. */
export const LOG_PAGES_MAX = CHECKPOINT_PAGES * 2;
const CACHE_KIB = 64 * 1024;
const SYNCHRONOUS: Record<Durability, string> = { power_loss: 'FULL', process: 'NORMAL' };

export interface WriterConnection {
  database: Database;
  /**
   * What is written to a file that has lost its name, be it the log, is lost when the process dies; and without the lock by its name
   * another process takes the database for its own.
   *
   * @throws StoreFullError if one of the three was moved away, deleted or replaced since it was opened; costs some microseconds
   */
  requireInPlace(): void;
  /** Lets the database and the hold on its folder go. */
  close(): void;
}

/**
 * The one connection that writes.
 *
 * @param onEvent told before a database of an older version is brought up to date
 * @throws Error if the path cannot be used, another process has it, or the file is not one this version can read
 */
export function openWriterConnection(
  settings: ThreadSettings,
  onEvent: (event: StoreEvent) => void = () => {},
): WriterConnection {
  const { path } = settings;
  return explained(path, () => {
    makeFolder(dirname(path));
    createPrivately(path);
    // Beside the file itself, as SQLite's log is: a link in another folder leads to the same database.
    const realPath = realpathSync(path);
    const lockPath = `${realPath}.lock`;
    const hold = holdExclusively(lockPath);
    try {
      makeLogsPrivate(realPath);
      const database = new SQLite(path, { timeout: FOREIGN_LOCK_WAIT_MS });
      try {
        prepareWriter(database, settings, onEvent);
      } catch (error) {
        database.close();
        throw error;
      }
      const opened = [path, `${realPath}-wal`, lockPath].map((file) => ({
        file,
        identity: identityOf(file),
      }));
      return {
        database,
        requireInPlace: () => {
          const lost = opened.find(({ file, identity }) => identityOf(file) !== identity);
          if (lost === undefined) return;
          throw new StoreFullError(
            `the store cannot go on: ${lost.file} was moved away, deleted or replaced while it is in use: nothing is ` +
              'stored; put it back, or start anew with what is there',
          );
        },
        close: () => {
          try {
            database.close();
          } finally {
            hold.close();
          }
        },
      };
    } catch (error) {
      hold.close();
      throw error;
    }
  });
}

/** A connection that only reads, beside the writer or without one. */
export function openReaderConnection(path: string): Database {
  return explained(path, () => {
    const database = new SQLite(path, { readonly: true, fileMustExist: true, timeout: FOREIGN_LOCK_WAIT_MS });
    database.pragma(`cache_size = -${CACHE_KIB}`);
    return database;
  });
}

/** A connection that does nothing but `checkpoint`, beside the writer. */
export function openCheckpointConnection({ path, durability }: ThreadSettings): Database {
  return explained(path, () => {
    const database = new SQLite(path, { fileMustExist: true });
    database.pragma(`synchronous = ${SYNCHRONOUS[durability]}`);
    return database;
  });
}

/**
 * Folds the write-ahead log into the database. `PASSIVE` waits for nobody: as far as it gets beside who reads, writes or
 * does the same. `TRUNCATE` takes all of it and empties the log.
 *
 * @returns pages in the log, folded in or not; 0 on a full disk, where it cannot be folded in
 */
export function checkpoint(database: Database, mode: 'PASSIVE' | 'TRUNCATE'): number {
  try {
    const [{ log }] = database.pragma(`wal_checkpoint(${mode})`) as [{ log: number }];
    return log;
  } catch (error) {
    // The log stays as it is, nothing of it is lost, and the next checkpoint takes it along.
    if (diskFullDetail(error) === null) throw error;
    return 0;
  }
}

/** Empties the log, unless somebody reads from it: every write would wait for who does, for hours if it is a backup. */
export function beginLogAnew(writer: Database): void {
  writer.pragma('busy_timeout = 0');
  try {
    checkpoint(writer, 'TRUNCATE');
  } finally {
    writer.pragma(`busy_timeout = ${FOREIGN_LOCK_WAIT_MS}`);
  }
}

function prepareWriter(
  database: Database,
  settings: ThreadSettings,
  onEvent: (event: StoreEvent) => void,
): void {
  // Both must precede the first table; on a database that has tables they change nothing.
  database.pragma(`page_size = ${PAGE_BYTES}`);
  database.pragma('auto_vacuum = INCREMENTAL');
  database.pragma('journal_mode = WAL');
  database.pragma(`synchronous = ${SYNCHRONOUS[settings.durability]}`);
  database.pragma(`wal_autocheckpoint = ${CHECKPOINT_PAGES}`);
  database.pragma(`journal_size_limit = ${LOG_PAGES_MAX * PAGE_BYTES}`);
  database.pragma(`cache_size = -${CACHE_KIB}`);
  database.pragma('temp_store = MEMORY');
  database.pragma('foreign_keys = ON');
  migrate(database, MIGRATIONS, onEvent);
  if (settings.pageCountMax !== null) database.pragma(`max_page_count = ${settings.pageCountMax}`);
}

/**
 * An exclusive transaction on an empty database beside ours, for as long as we live. The lock is the kernel's and
 * dies with the process, so that a killed server leaves nothing to clean up; SQLite also keeps two opens within one
 * process apart, which plain file locks do not.
 */
function holdExclusively(lockPath: string): Database {
  requireNoLink(lockPath);
  createPrivately(lockPath);
  const hold = new SQLite(lockPath, { timeout: 0 });
  try {
    hold.pragma('journal_mode = MEMORY');
    hold.exec('BEGIN EXCLUSIVE');
    return hold;
  } catch (error) {
    hold.close();
    if (codeOf(error).startsWith('SQLITE_BUSY')) {
      throw new Error(
        'another Observatory process is using it; stop that one or choose another data directory',
      );
    }
    if (isDamage(error)) throw new Error(`${lockPath} is not the lock it should be; remove that file`);
    throw error;
  }
}

/** SQLite gives its -wal and -shm files the mode of the database. A pipe in its place is not waited for. */
export function createPrivately(path: string): void {
  const { O_WRONLY, O_APPEND, O_CREAT, O_NONBLOCK } = constants;
  const file = openSync(path, O_WRONLY | O_APPEND | O_CREAT | O_NONBLOCK, FILE_MODE);
  try {
    if (!fstatSync(file).isFile()) throw new Error(`${path} is not a file; move it away`);
    fchmodSync(file, FILE_MODE);
  } finally {
    closeSync(file);
  }
}

/** Beside the database nobody has a use for one, and what it leads to would be made private. */
function requireNoLink(path: string): void {
  if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink())
    throw new Error(`a link stands in the place of ${path}; remove it`);
}

/**
 * What lies there as a log SQLite takes for pages of the database, whoever wrote it: in a folder that others may write to, an operator
 * of their own making. Theirs cannot be made private, and is not read.
 */
function makeLogsPrivate(path: string): void {
  for (const name of ['-wal', '-shm', '-journal']) {
    const log = path + name;
    requireNoLink(log);
    if (statSync(log, { throwIfNoEntry: false }) !== undefined) chmodSync(log, FILE_MODE);
  }
}

/** Null where there is none. */
function identityOf(path: string): string | null {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false });
  return found === undefined ? null : `${found.dev} ${found.ino}`;
}

const codeOf = (error: unknown): string => String((error as { code?: unknown } | null)?.code ?? '');

function explained<T>(path: string, open: () => T): T {
  try {
    return open();
  } catch (error) {
    throw cannotOpen(path, error);
  }
}

/** For the person who started the server. */
export const cannotOpen = (path: string, error: unknown): Error =>
  new Error(`cannot open the store ${path}: ${reasonOf(error)}`, { cause: error });

/** Of a database that is open: what is wrong with the file, if that is what the error says; else null. */
export const damageDetail = (path: string, error: unknown): string | null =>
  isDamage(error) ? `the store ${path} cannot be read: ${reasonOf(error)}` : null;

const isDamage = (error: unknown): boolean => /^SQLITE_(NOTADB|CORRUPT)/.test(codeOf(error));

/** SQLite would read another database's log into the backup without a word. */
const HOW_TO_REPLACE = 'move it away together with its -wal file, then restore a backup or start anew';

export function reasonOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  const code = codeOf(error);
  if (code.startsWith('SQLITE_NOTADB')) return `it is not an SQLite database; ${HOW_TO_REPLACE}`;
  if (code.startsWith('SQLITE_CORRUPT')) return `it is damaged (${text}); ${HOW_TO_REPLACE}`;
  if (code.startsWith('SQLITE_BUSY')) return 'another program has locked it; end that program';
  if (code === 'SQLITE_FULL' || code === 'ENOSPC')
    return 'the disk is full; make room, or choose another place';
  if (code.startsWith('SQLITE_IOERR'))
    return `the disk is full or fails (${code}: ${text}); make room, or choose another place`;
  if (code === 'EROFS') return `the disk is read-only (${text}); mount it otherwise, or choose another place`;
  if (code.startsWith('SQLITE_READONLY')) return 'it is not writable; give it to the user who runs this';
  if (code === 'EACCES' || code === 'EPERM')
    return `no permission to write there (${text}); give it to the user who runs this, or choose another place`;
  if (code === 'SQLITE_CANTOPEN')
    return `no such file, no permission to read it, or no room for another (${text})`;
  if (['ENOENT', 'ENOTDIR', 'ELOOP', 'ENAMETOOLONG', 'EINVAL'].includes(code))
    return `no folder can be made there (${text}); choose another place`;
  if (code === 'EISDIR') return `a folder stands in its place (${text}); move it away`;
  return text;
}
