/** Telling a disk that takes no more from a defect: the one is waited out, the other is reported. */

/** Nothing of the batch was written; it may be once there is room, or the store's file is back in its place. */
export class StoreFullError extends Error {
  override readonly name = 'StoreFullError';
}

/** What SQLite or the system said, if it says that the disk (or the database's own bound) takes no more; else null. */
export function diskFullDetail(error: unknown): string | null {
  if (!(error instanceof Error)) return null;
  if (error instanceof StoreFullError) return error.message;
  const code = String((error as { code?: unknown }).code ?? '');
  // Opening the write-ahead log or its index can fail too where not one block is left.
  const full = code === 'SQLITE_FULL' || code === 'ENOSPC' || /^SQLITE_(IOERR|CANTOPEN)/.test(code);
  return full ? `${code}: ${error.message}` : null;
}

/** Another program, such as a backup or the sqlite3 shell, holds the database. */
export function isLocked(error: unknown): boolean {
  return String((error as { code?: unknown } | null)?.code ?? '').startsWith('SQLITE_BUSY');
}
