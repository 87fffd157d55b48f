/** `npm run audit:verify` as a person runs it: another process, on the data directory or an export. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';

import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { SQLite, SqliteStore } from '#adapters/sqlite';
import type { AuditEntry } from '#contracts';
import { systemClock } from '#kernel';
import { buildAuditDraft } from '#testing';
import { temporaryFolder } from '#testing/temporary-folder';

const SCRIPT = fileURLToPath(new URL('../../scripts/audit-verify.mjs', import.meta.url));

async function verify(...args: string[]) {
  const child = spawn(process.execPath, [SCRIPT, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  const [out, err, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')]);
  return { code, out, err };
}

describe('audit:verify', () => {
  let folder: string;
  let store: SqliteStore;
  let entries: AuditEntry[];

  beforeEach(async () => {
    folder = temporaryFolder();
    store = new SqliteStore({ path: join(folder, 'observatory.db'), clock: systemClock, workerUrl: null });
    await store.open();
    await store.commitControl({ audit: [1, 2, 3].map(() => buildAuditDraft()) });
    await store.commitControl({ audit: [buildAuditDraft({ tenant_id: 'other' })] });
    entries = (await store.audit({ tenant_id: 'default', limit: 9, order: 'asc' })).items;
  });
  afterEach(() => store.close());

  it('ends with 0 for a whole audit, while the store is open and when it is closed', async () => {
    const whole = {
      code: 0,
      err: '',
      out: expect.stringMatching(
        /whole {3}default: 3 entries, ends at entry 3 with hash [0-9a-f]{64}\nwhole {3}other: 1 /,
      ),
    };
    expect(await verify('--data-dir', folder)).toEqual(whole);
    await store.close();
    expect(await verify('--data-dir', folder)).toEqual(whole);
    expect((await verify('--data-dir', folder, '--tenant', 'other')).out).not.toContain('default');
  });

  it('ends with 1 for a broken one and names the entry', async () => {
    const database = new SQLite(join(folder, 'observatory.db'));
    database.exec(`DROP TRIGGER audit_keeps_words; UPDATE audit SET operator_id = 'eve' WHERE seq = 2`);
    database.close();
    expect(await verify('--data-dir', folder)).toMatchObject({
      code: 1,
      out: expect.stringContaining('BROKEN  default: at entry 2, after 1 good ones'),
    });
  });

  it('checks an export in the same way', async () => {
    const file = join(folder, 'export.jsonl');
    const write = (lines: AuditEntry[]) =>
      writeFile(file, lines.map((entry) => `${JSON.stringify(entry)}\n`).join(''));
    await write(entries);
    expect(await verify('--file', file)).toMatchObject({
      code: 0,
      out: expect.stringContaining('default: 3 entries'),
    });
    await write(entries.toSpliced(1, 1));
    expect(await verify('--file', file)).toMatchObject({
      code: 1,
      out: expect.stringContaining('at entry 2'),
    });
    await writeFile(file, `${JSON.stringify(entries[0])}\n{"seq":2,`);
    expect(await verify('--file', file)).toMatchObject({ code: 1, out: expect.stringContaining('line 2') });
  });

  it('says what it says though the file it checks would have it say something else', async () => {
    const file = join(folder, 'export.jsonl');
    const tenant_id = `\r\u001b[2Kwhole   default: 3 entries\nwhole   other: 1 entries\u202e`;
    await writeFile(file, entries.map((entry) => `${JSON.stringify({ ...entry, tenant_id })}\n`).join(''));
    const { code, out } = await verify('--file', file);
    expect(code).toBe(1);
    expect(out).toMatch(
      /^BROKEN {2}\\u\{d\}\\u\{1b\}\[2Kwhole [^\p{Cc}\p{Cf}]*: at entry 1, after 0 good ones\n$/u,
    );
  });

  it.each([
    ['an unknown option', ['--nonsense']],
    ['two sources', ['--file', 'a', '--data-dir', 'b']],
    ['a directory without a database', ['--data-dir', tmpdir()]],
    ['a file that is not there', ['--file', '/nowhere/export.jsonl']],
  ])('ends with 2 for %s', async (_what, args) => {
    expect(await verify(...args)).toMatchObject({
      code: 2,
      out: '',
      err: expect.stringContaining('audit:verify: '),
    });
  });

  it('ends with 2 for a tenant that has no audit', async () => {
    expect((await verify('--data-dir', folder, '--tenant', 'absent')).code).toBe(2);
  });
});
