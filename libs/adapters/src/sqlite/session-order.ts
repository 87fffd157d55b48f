/**
 * The index that gives a tenant's list of sessions its order holds what the list is filtered by. Database version 5.
 *
 * @see session-finder.ts
 */
import type { Database } from 'better-sqlite3';

export function sessionOrder(database: Database): void {
  database.exec(`
    DROP INDEX sessions_of_tenant;
    CREATE INDEX sessions_of_tenant
      ON sessions (tenant_id, last_seen_ms, session_id, agent_id, severity, ended, search);
  `);
}
