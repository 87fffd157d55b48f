/**
 * The append-only audit in SQLite: each entry is chained to its tenant's latest within the transaction that wrote
 * what it tells of. Updates and deletes are refused by triggers; verification reads what is stored, not a memory.
 */
import type { Database, Statement } from 'better-sqlite3';
import type { AuditDraft, AuditEntry } from '#contracts';
import { AUDIT_GENESIS, type AuditHead, hashAuditEntry, verifyAuditChain } from '#domain/hitl/audit-chain';
import type { AuditPiece } from './protocol.js';

/** An entry as its row: `detail` is JSON text. */
export type AuditRow = Omit<AuditEntry, 'detail'> & { detail: string };

const COLUMNS =
  'seq, tenant_id, at_ms, operator_id, role, action, session_id, before_state, after_state, outcome, detail, prev_hash, hash';

/** Below any entry: nothing stands before the first one, and whatever is slipped in there is found. */
const BEFORE_ALL = Number.MIN_SAFE_INTEGER;

/** Entries checked in one go: about 10 ms of the reading thread. */
const VERIFY_COUNT = 1_000;

export const toAuditEntry = (row: AuditRow): AuditEntry => ({ ...row, detail: JSON.parse(row.detail) });

export class AuditLog {
  readonly #head: Statement;
  readonly #insert: Statement;
  readonly #moveHead: Statement;

  constructor(database: Database) {
    this.#head = database.prepare('SELECT seq, hash FROM audit_heads WHERE tenant_id = ?');
    this.#insert = database.prepare(
      `INSERT INTO audit (${COLUMNS}) VALUES (@seq, @tenant_id, @at_ms, @operator_id, @role, @action, @session_id,
       @before_state, @after_state, @outcome, @detail, @prev_hash, @hash)`,
    );
    this.#moveHead = database.prepare(
      `INSERT INTO audit_heads (tenant_id, seq, hash) VALUES (@tenant_id, @seq, @hash)
       ON CONFLICT (tenant_id) DO UPDATE SET seq = excluded.seq, hash = excluded.hash`,
    );
  }

  /** Must run inside the caller's transaction. */
  append(draft: AuditDraft): AuditEntry {
    const tenantId = wellFormed(draft.tenant_id);
    const head = (this.#head.get(tenantId) as AuditHead | undefined) ?? AUDIT_GENESIS;
    const unsigned = {
      seq: head.seq + 1,
      tenant_id: tenantId,
      at_ms: draft.at_ms,
      operator_id: wellFormed(draft.operator_id),
      role: wellFormed(draft.role),
      action: wellFormed(draft.action),
      session_id: wellFormed(draft.session_id),
      before_state: wellFormed(draft.before_state),
      after_state: wellFormed(draft.after_state),
      outcome: wellFormed(draft.outcome),
      detail: draft.detail,
      prev_hash: head.hash,
    };
    const entry: AuditEntry = { ...unsigned, hash: hashAuditEntry(unsigned) };
    this.#insert.run({ ...entry, detail: JSON.stringify(entry.detail) });
    this.#moveHead.run(entry);
    return entry;
  }
}

/** Reads and checks; works on a read-only connection. */
export class AuditReader {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /**
   * Checks up to VERIFY_COUNT entries after `from`, and at the chain's end that it is as long as it is known to be:
   * a chain whose last entries were cut off is consistent in itself.
   */
  verifyPiece(tenantId: string, from: AuditHead): AuditPiece {
    // One snapshot for both questions, or an entry written between them would look like a missing one.
    return this.#database.transaction(() => this.#verifyPiece(tenantId, from))();
  }

  #verifyPiece(tenantId: string, from: AuditHead): AuditPiece {
    const rows = this.#database
      .prepare(`SELECT ${COLUMNS} FROM audit WHERE tenant_id = ? AND seq > ? ORDER BY seq LIMIT ?`)
      .all(tenantId, from.seq === AUDIT_GENESIS.seq ? BEFORE_ALL : from.seq, VERIFY_COUNT) as AuditRow[];
    const checked = verifyAuditChain(readable(rows), from);
    if (!checked.ok) return { ...checked, isLast: true };
    if (rows.length === VERIFY_COUNT) return { ...checked, isLast: false };
    const { head } = checked;
    const known = (this.#database
      .prepare('SELECT seq, hash FROM audit_heads WHERE tenant_id = ?')
      .get(tenantId) ?? AUDIT_GENESIS) as AuditHead;
    if (known.seq === head.seq && known.hash === head.hash) return { ...checked, isLast: true };
    const brokenAtSeq = Math.min(known.seq, head.seq) + 1;
    return { ...checked, ok: false, broken_at_seq: brokenAtSeq, isLast: true };
  }

  tenants(): string[] {
    return this.#database
      .prepare('SELECT tenant_id FROM audit_heads UNION SELECT tenant_id FROM audit ORDER BY 1')
      .pluck()
      .all() as string[];
  }
}

/** A `detail` that no longer is JSON becomes one that no hash fits, so that tampering is reported, not thrown. */
function* readable(rows: Iterable<AuditRow>): Generator<AuditEntry> {
  for (const row of rows) {
    try {
      yield toAuditEntry(row);
    } catch {
      yield { ...row, detail: { unreadable: row.detail }, hash: '' };
    }
  }
}

/** SQLite keeps UTF-8, which has no lone surrogates: what is hashed must be what will be read back. */
function wellFormed<T extends string | null>(text: T): T {
  return (text === null ? null : Buffer.from(text).toString()) as T;
}
