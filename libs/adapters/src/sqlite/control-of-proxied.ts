/**
 * Beside each session's control, whether its LLM calls pass the proxy: a start must know for whom guidance waits. Database
 * version 10. Of an older one it is not known before a session's next call.
 */
import type { Database } from 'better-sqlite3';

export function controlOfProxied(database: Database): void {
  database.exec('ALTER TABLE controls ADD COLUMN proxied INTEGER NOT NULL DEFAULT 0');
}
