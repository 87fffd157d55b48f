/** A copy of a database as it is at one moment, also while a gateway writes to it. */
import { closeSync, fsyncSync, openSync } from 'node:fs';
import { createPrivately, openReaderConnection, reasonOf } from './database-file.js';
import { SQLite } from './sqlite-library.js';

/** Copied at a time; the process does nothing else. */
const PIECE_PAGES = 4_096;

/**
 * Page by page, then checked; the copy is one file. No writer waits for it, but while it lasts the log of the original grows by
 * all that is written.
 *
 * @param target a file that does not exist; on disk when this resolves
 * @param onProgress told the part of it that is done, 0 to 1
 * @throws Error with a reason, if there is no readable database at `path`, no room for another, or damage in it
 */
export async function copyDatabase(
  path: string,
  target: string,
  onProgress: (part: number) => void = () => {},
): Promise<void> {
  const original = openReaderConnection(path);
  try {
    // Seen from one transaction, no page changes meanwhile. Without it each commit would have the copy begin anew.
    original.exec('BEGIN');
    original.prepare('SELECT count(*) FROM sqlite_schema').get();
    createPrivately(target);
    await original.backup(target, {
      progress: ({ totalPages, remainingPages }) => {
        onProgress(1 - remainingPages / totalPages);
        return PIECE_PAGES;
      },
    });
    requireSound(target);
  } catch (error) {
    throw new Error(`cannot copy the store to ${target}: ${reasonOf(error)}`, { cause: error });
  } finally {
    original.close();
  }
  const file = openSync(target, 'r');
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

function requireSound(path: string): void {
  const copy = new SQLite(path, { fileMustExist: true });
  try {
    copy.pragma('journal_mode = DELETE');
    const [found] = copy.pragma('quick_check(1)') as { quick_check: string }[];
    if (found?.quick_check !== 'ok')
      throw new Error(`the database is damaged, and so is its copy: ${found?.quick_check}`);
  } finally {
    copy.close();
  }
}
