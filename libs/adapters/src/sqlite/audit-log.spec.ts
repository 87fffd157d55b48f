import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { AuditEntry } from '#contracts';
import { hashAuditEntry } from '#domain/hitl/audit-chain';
import { systemClock } from '#kernel';
import { buildAuditDraft } from '#testing';
import { temporaryFolder } from '#testing/temporary-folder';
import { SQLite } from './sqlite-library.js';
import { SqliteStore } from './sqlite-store.js';
import { StoredAudit } from './stored-audit.js';

let folder: string;
let path: string;
let store: SqliteStore;

beforeEach(async () => {
  folder = temporaryFolder();
  path = join(folder, 'o.db');
  store = new SqliteStore({ path, clock: systemClock, workerUrl: null, durability: 'process' });
  await store.open();
});
afterEach(() => store.close());

const write = (count: number, tenant_id = 'default') =>
  store.commitControl({ audit: Array.from({ length: count }, () => buildAuditDraft({ tenant_id })) });

/** As someone with the file and the sqlite3 shell would. */
function tamper(sql: string, { asForger = true } = {}): void {
  const database = new SQLite(path);
  if (asForger) database.exec('DROP TRIGGER audit_keeps_entries; DROP TRIGGER audit_keeps_words');
  try {
    database.exec(sql);
  } finally {
    database.close();
  }
}

describe('the stored audit', () => {
  it('cannot be changed or shortened by an ordinary statement', async () => {
    await write(2);
    for (const sql of ['DELETE FROM audit', `UPDATE audit SET operator_id = 'eve'`]) {
      expect(() => tamper(sql, { asForger: false })).toThrow('the audit is append-only');
    }
    expect(await store.verifyAudit('default')).toEqual({ ok: true, entry_count: 2, broken_at_seq: null });
  });

  it.each([
    ['a changed word', `UPDATE audit SET operator_id = 'eve' WHERE tenant_id = 'default' AND seq = 2`, 2],
    [
      'a changed detail',
      `UPDATE audit SET detail = '{"reason":"nicer"}' WHERE tenant_id = 'default' AND seq = 2`,
      2,
    ],
    ['a detail that is no JSON', `UPDATE audit SET detail = '{' WHERE tenant_id = 'default' AND seq = 2`, 2],
    [
      'an entry moved to another tenant',
      `UPDATE audit SET tenant_id = 'elsewhere' WHERE tenant_id = 'default' AND seq = 2`,
      2,
    ],
    ['a removed entry', `DELETE FROM audit WHERE tenant_id = 'default' AND seq = 2`, 2],
    ['a removed beginning', `DELETE FROM audit WHERE tenant_id = 'default' AND seq <= 2`, 1],
    ['a removed end', `DELETE FROM audit WHERE tenant_id = 'default' AND seq > 2`, 3],
    ['everything removed', `DELETE FROM audit WHERE tenant_id = 'default'`, 1],
    [
      'an entry slipped in before the first',
      `INSERT INTO audit SELECT tenant_id, 0, at_ms, 'eve', role, action, session_id, before_state, after_state, outcome,
         detail, prev_hash, hash FROM audit WHERE tenant_id = 'default' AND seq = 1`,
      1,
    ],
    ['a removed head', `DELETE FROM audit_heads WHERE tenant_id = 'default'`, 1],
  ])('gives away %s, in one tenant only', async (_what, sql, brokenAtSeq) => {
    await write(4);
    await write(3, 'other');
    tamper(sql);
    expect(await store.verifyAudit('default')).toMatchObject({ ok: false, broken_at_seq: brokenAtSeq });
    expect(await store.verifyAudit('other')).toEqual({ ok: true, entry_count: 3, broken_at_seq: null });
    const offline = new StoredAudit(path);
    expect(offline.verify('default')).toMatchObject({ ok: false, broken_at_seq: brokenAtSeq });
    expect(offline.tenants()).toContain('other');
    offline.close();
  });

  it('gives away an end that was written anew with a hash of its own', async () => {
    const { audit } = await write(3);
    const { hash: _, ...entry } = audit.at(-1) as AuditEntry;
    const forged = { ...entry, operator_id: 'eve' };
    tamper(`UPDATE audit SET operator_id = 'eve', hash = '${hashAuditEntry(forged)}' WHERE seq = 3`);
    expect(await store.verifyAudit('default')).toMatchObject({ ok: false, broken_at_seq: 3 });
  });

  it('is verified over more entries than one piece holds', async () => {
    await write(2_500);
    expect(await store.verifyAudit('default')).toEqual({ ok: true, entry_count: 2_500, broken_at_seq: null });
    tamper(`UPDATE audit SET outcome = 'forbidden' WHERE seq = 2001`);
    expect(await store.verifyAudit('default')).toEqual({
      ok: false,
      entry_count: 2_000,
      broken_at_seq: 2_001,
    });
  });
});
