/** Documents in SQLite, by kind, tenant and id. Runs inside the writer's transaction. */
import type { Database } from 'better-sqlite3';
import { PreparedStatements } from '../prepared-statements.js';
import type { RawDocumentChange } from './proxy-protocol.js';

export class DocumentTable {
  readonly #sql: PreparedStatements;

  constructor(database: Database) {
    this.#sql = new PreparedStatements(database);
  }

  /** What is both saved and deleted is gone. */
  change({ saved, deleted }: RawDocumentChange): void {
    const save = this.#sql.prepare(
      `INSERT INTO documents (kind, tenant_id, id, body, updated_at_ms) VALUES (@kind, @tenant_id, @id, @body, @updated_at_ms)
       ON CONFLICT (kind, tenant_id, id) DO UPDATE SET body = excluded.body, updated_at_ms = excluded.updated_at_ms`,
    );
    const drop = this.#sql.prepare(
      'DELETE FROM documents WHERE kind = @kind AND tenant_id = @tenant_id AND id = @id',
    );
    for (const row of saved) save.run(row);
    for (const key of deleted) drop.run(key);
  }
}
