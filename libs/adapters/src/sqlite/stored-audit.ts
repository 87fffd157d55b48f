/** The audit of a database at rest or in use, for the command-line verifier: read-only, without threads or locks. */
import type { Database } from 'better-sqlite3';
import type { AuditVerification } from '#contracts';
import { AUDIT_GENESIS, type AuditHead } from '#domain/hitl/audit-chain';
import { AuditReader } from './audit-log.js';
import { openReaderConnection } from './database-file.js';

export class StoredAudit {
  readonly #database: Database;
  readonly #reader: AuditReader;

  /** @throws Error with a reason, if there is no readable database at `path` */
  constructor(path: string) {
    this.#database = openReaderConnection(path);
    this.#reader = new AuditReader(this.#database);
  }

  /** Tenants that have an audit, in alphabetical order. */
  tenants(): string[] {
    return this.#reader.tenants();
  }

  /** @returns `head` is where a whole chain ends, or the last good entry of a broken one */
  verify(tenantId: string): AuditVerification & { head: AuditHead } {
    let from: AuditHead = AUDIT_GENESIS;
    let entryCount = 0;
    while (true) {
      const { isLast, ...piece } = this.#reader.verifyPiece(tenantId, from);
      entryCount += piece.entry_count;
      if (isLast) return { ...piece, entry_count: entryCount };
      from = piece.head;
    }
  }

  close(): void {
    this.#database.close();
  }
}
