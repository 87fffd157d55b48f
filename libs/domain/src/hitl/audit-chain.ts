/**
 * The hash chain that makes the audit tamper-evident: every entry's hash covers the whole entry and the hash
 * before it, so that whoever changes, removes or inserts one must recompute all that follow.
 *
 *     000…0 <- [seq 1 | hash a] <- [seq 2 | prev a | hash b] <- [seq 3 | prev b | hash c]
 *
 * Pure: storage keeps the entries, `scripts/audit-verify.mjs` and the store check them with this.
 */
import { createHash } from 'node:crypto';
import type { AuditEntry, AuditVerification } from '#contracts';
import { canonicalJson } from '#kernel';

/** `prev_hash` of a tenant's first entry. */
const AUDIT_GENESIS_HASH = '0'.repeat(64);

/** Where a chain stands: what the next entry must follow. */
export interface AuditHead {
  /** Seq of the latest entry; 0 before the first. */
  seq: number;
  hash: string;
}

export const AUDIT_GENESIS: Readonly<AuditHead> = { seq: 0, hash: AUDIT_GENESIS_HASH };

/** SHA-256, 64 hex digits, over the canonical JSON of the entry without `hash`; a `hash` already there is ignored. */
export function hashAuditEntry(entry: Omit<AuditEntry, 'hash'>): string {
  return createHash('sha256')
    .update(canonicalJson({ ...entry, hash: undefined }))
    .digest('hex');
}

/**
 * Recomputes entries of one tenant in ascending order, stopping at the first that is out of sequence, not linked to
 * its predecessor, of another tenant, or not what its hash says. About 10 us an entry. Never throws.
 *
 * @param expectedPrev what the first entry must follow; absent: the genesis, so a chain must be given from seq 1
 * @returns `head` is the last good entry, to go on from with the next part of a long chain
 */
export function verifyAuditChain(
  entries: Iterable<AuditEntry>,
  expectedPrev: Readonly<AuditHead> = AUDIT_GENESIS,
): AuditVerification & { head: AuditHead } {
  let head: AuditHead = { ...expectedPrev };
  let tenantId: string | undefined;
  let entryCount = 0;
  for (const entry of entries) {
    tenantId ??= entry.tenant_id;
    const follows =
      entry.seq === head.seq + 1 && entry.prev_hash === head.hash && entry.tenant_id === tenantId;
    if (!follows || hashAuditEntry(entry) !== entry.hash) {
      return { ok: false, entry_count: entryCount, broken_at_seq: head.seq + 1, head };
    }
    head = { seq: entry.seq, hash: entry.hash };
    entryCount += 1;
  }
  return { ok: true, entry_count: entryCount, broken_at_seq: null, head };
}
