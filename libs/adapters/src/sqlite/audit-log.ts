/**
 * The append-only audit in SQLite: each entry is chained to its tenant's latest within the transaction that wrote
 * what it tells of. Updates and deletes are refused by triggers; verification reads what is stored, not a memory.
 */
import type { Database, Statement } from 'better-sqlite3';
import type { AuditDraft, AuditEntry } from '#contracts';
import { AUDIT_READ_CHARS_MAX } from '#contracts/store';
import { AUDIT_GENESIS, type AuditHead, hashAuditEntry, verifyAuditChain } from '#domain/hitl/audit-chain';
import type { AuditPiece, RawAudit } from './protocol.js';
import { toAuditEntry } from './rows.js';
import { countWithin, takeWithin } from './rows-within.js';

const COLUMNS_BEFORE_DETAIL =
  'seq, tenant_id, at_ms, operator_id, role, action, session_id, before_state, after_state, outcome';

export const AUDIT_ROWS = `SELECT ${COLUMNS_BEFORE_DETAIL}, detail AS body, prev_hash, hash FROM audit`;

/** Below any entry: nothing stands before the first one, and whatever is slipped in there is found. */
const BEFORE_ALL = Number.MIN_SAFE_INTEGER;

/** Entries checked in one go: about 10 ms of the reading thread. */
const VERIFY_COUNT = 1_000;

export class AuditLog {
  readonly #head: Statement;
  readonly #insert: Statement;
  readonly #moveHead: Statement;

  constructor(database: Database) {
    this.#head = database.prepare('SELECT seq, hash FROM audit_heads WHERE tenant_id = ?');
    this.#insert = database.prepare(
      `INSERT INTO audit (${COLUMNS_BEFORE_DETAIL}, detail, prev_hash, hash)
       VALUES (@seq, @tenant_id, @at_ms, @operator_id, @role, @action, @session_id, @before_state, @after_state, @outcome,
       @detail, @prev_hash, @hash)`,
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
   * Checks up to VERIFY_COUNT entries after `from`, fewer for AUDIT_READ_CHARS_MAX, and at the chain's end that it is as
   * long as it is known to be: a chain whose last entries were cut off is consistent in itself.
   */
  verifyPiece(tenantId: string, from: AuditHead): AuditPiece {
    // One snapshot for both questions, or an entry written between them would look like a missing one.
    return this.#database.transaction(() => this.#verifyPiece(tenantId, from))();
  }

  #verifyPiece(tenantId: string, from: AuditHead): AuditPiece {
    const after = from.seq === AUDIT_GENESIS.seq ? BEFORE_ALL : from.seq;
    const limit = VERIFY_COUNT + 1;
    const rows = takeWithin(
      this.#database
        .prepare(`${AUDIT_ROWS} WHERE tenant_id = ? AND seq > ? ORDER BY seq LIMIT ?`)
        .iterate(tenantId, after, limit) as IterableIterator<RawAudit>,
      limit,
      AUDIT_READ_CHARS_MAX,
    );
    const piece = rows.slice(0, Math.min(VERIFY_COUNT, countWithin(rows, AUDIT_READ_CHARS_MAX)));
    const checked = verifyAuditChain(readable(piece), from);
    if (!checked.ok) return { ...checked, isLast: true };
    if (rows.length > piece.length) return { ...checked, isLast: false };
    const { head } = checked;
    const known = (this.#database
      .prepare('SELECT seq, hash FROM audit_heads WHERE tenant_id = ?')
      .get(tenantId) ?? AUDIT_GENESIS) as AuditHead;
    if (known.seq === head.seq && known.hash === head.hash) return { ...checked, isLast: true };
    // As long as it should be: its end is another one.
    const brokenAtSeq = known.seq === head.seq ? head.seq : Math.min(known.seq, head.seq) + 1;
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
function* readable(rows: Iterable<RawAudit>): Generator<AuditEntry> {
  for (const row of rows) {
    try {
      yield toAuditEntry(row);
    } catch {
      yield { ...row, detail: { unreadable: row.body }, hash: '' };
    }
  }
}

/** SQLite keeps UTF-8, which has no lone surrogates: what is hashed must be what will be read back. */
function wellFormed<T extends string | null>(text: T): T {
  return (text === null ? null : Buffer.from(text).toString()) as T;
}
