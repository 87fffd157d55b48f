/** The table of semantic loops: database version 3. */
import type { Database } from 'better-sqlite3';

export function semanticLoopTable(database: Database): void {
  database.exec(`
    CREATE TABLE semantic_loops (
      seq INTEGER PRIMARY KEY AUTOINCREMENT,
      tenant_id TEXT NOT NULL,
      session_id TEXT NOT NULL,
      at_ms REAL NOT NULL,
      body TEXT NOT NULL
    ) STRICT;
    CREATE INDEX semantic_loops_of_tenant ON semantic_loops (tenant_id);
    CREATE INDEX semantic_loops_of_session ON semantic_loops (tenant_id, session_id);
  `);
}
