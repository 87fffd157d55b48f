/**
 * The steps that came out of a hold and are in no saved session row yet: their numbers lie below the checkpoint of the rows,
 * which says nothing of them. Database version 11.
 */
import type { Database } from 'better-sqlite3';

export function unfoldedReleases(database: Database): void {
  database.exec(
    'CREATE TABLE unfolded_releases (seq INTEGER PRIMARY KEY REFERENCES steps ON DELETE CASCADE) STRICT',
  );
}
