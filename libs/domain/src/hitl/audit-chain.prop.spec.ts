import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { AuditEntry } from '#contracts';
import { AUDIT_GENESIS, hashAuditEntry, verifyAuditChain } from './audit-chain.js';

function chain(count: number): AuditEntry[] {
  const entries: AuditEntry[] = [];
  for (let seq = 1; seq <= count; seq += 1) {
    const unsigned = {
      seq,
      tenant_id: 'default',
      at_ms: seq * 1_000,
      operator_id: 'ada',
      role: 'operator',
      action: 'pause',
      session_id: `session-${seq}`,
      before_state: 'active',
      after_state: 'pause_requested',
      outcome: 'ok',
      detail: { reason: `reason ${seq}` },
      prev_hash: entries.at(-1)?.hash ?? AUDIT_GENESIS.hash,
    };
    entries.push({ ...unsigned, hash: hashAuditEntry(unsigned) });
  }
  return entries;
}

const someChain = fc.integer({ min: 1, max: 12 }).map(chain);
const position = fc.nat(11);

describe('verifyAuditChain', () => {
  it('accepts every chain it was given whole, and says where it ends', () => {
    fc.assert(
      fc.property(someChain, (entries) => {
        const last = entries.at(-1);
        expect(verifyAuditChain(entries)).toEqual({
          ok: true,
          entry_count: entries.length,
          broken_at_seq: null,
          head: { seq: last?.seq, hash: last?.hash },
        });
      }),
    );
  });

  it('does not depend on the order in which the members of an entry are stored', () => {
    const entries = chain(3).map(
      (entry) => Object.fromEntries(Object.entries(entry).reverse()) as AuditEntry,
    );
    expect(verifyAuditChain(entries).ok).toBe(true);
  });

  it('goes on from where a part of the chain ended', () => {
    fc.assert(
      fc.property(someChain, position, (entries, at) => {
        const { head } = verifyAuditChain(entries.slice(0, at));
        expect(verifyAuditChain(entries.slice(at), head).ok).toBe(true);
      }),
    );
  });

  it('names the first entry in which any member was changed', () => {
    const members = Object.keys(chain(1)[0] ?? {}) as (keyof AuditEntry)[];
    fc.assert(
      fc.property(someChain, position, fc.constantFrom(...members), (entries, at, member) => {
        const index = at % entries.length;
        const target = entries[index] as AuditEntry;
        const changed = {
          ...target,
          [member]: member === 'detail' ? { reason: 'nicer' } : 'changed',
        } as AuditEntry;
        const last = entries[index - 1];
        expect(verifyAuditChain(entries.with(index, changed))).toEqual({
          ok: false,
          entry_count: index,
          broken_at_seq: index + 1,
          head: last ? { seq: last.seq, hash: last.hash } : AUDIT_GENESIS,
        });
      }),
    );
  });

  it('notices an entry that was removed, moved or slipped in', () => {
    fc.assert(
      fc.property(fc.integer({ min: 2, max: 12 }).map(chain), position, (entries, at) => {
        const index = at % (entries.length - 1);
        expect(verifyAuditChain(entries.toSpliced(index, 1))).toMatchObject({
          ok: false,
          broken_at_seq: index + 1,
        });
        expect(verifyAuditChain(entries.toSpliced(index, 0, entries[index] as AuditEntry)).ok).toBe(false);
        expect(verifyAuditChain(entries.toReversed()).ok).toBe(false);
      }),
    );
  });

  it('is not satisfied by a changed entry with a hash of its own', () => {
    const entries = chain(3);
    const forged = { ...(entries[1] as AuditEntry), operator_id: 'eve' };
    const signed = { ...forged, hash: hashAuditEntry(forged) };
    expect(verifyAuditChain(entries.with(1, signed))).toMatchObject({ ok: false, broken_at_seq: 3 });
  });

  it('misses a number in a chain that was hashed anew without one of its entries', () => {
    const [first, , third] = chain(3) as [AuditEntry, AuditEntry, AuditEntry];
    const linked = { ...third, prev_hash: first.hash };
    const forged = [first, { ...linked, hash: hashAuditEntry(linked) }];
    expect(verifyAuditChain(forged)).toMatchObject({ ok: false, broken_at_seq: 2 });
  });

  it('refuses entries of another tenant in the chain', () => {
    const entries = chain(2);
    const foreign = { ...(entries[1] as AuditEntry), tenant_id: 'other' };
    expect(
      verifyAuditChain([entries[0] as AuditEntry, { ...foreign, hash: hashAuditEntry(foreign) }]).ok,
    ).toBe(false);
  });
});
