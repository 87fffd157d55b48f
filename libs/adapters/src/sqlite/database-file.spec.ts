import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { temporaryFolder } from '#testing/temporary-folder';
import { openReaderConnection, openWriterConnection } from './database-file.js';
import type { ThreadSettings } from './protocol.js';
import { MIGRATIONS } from './schema.js';
import { SQLite } from './sqlite-library.js';

let folder: string;

const settings = (path = join(folder, 'data', 'o.db')): ThreadSettings => ({
  role: 'writer',
  path,
  durability: 'power_loss',
  freeBytesMin: 0,
  pageCountMax: null,
});

beforeEach(() => {
  folder = temporaryFolder();
});

describe('the database file', () => {
  it('is readable by its owner only, with everything beside it', () => {
    const { database, close } = openWriterConnection(settings());
    database.exec(`INSERT INTO settings VALUES ('a', '1')`);
    const data = join(folder, 'data');
    expect(statSync(data).mode & 0o777).toBe(0o700);
    expect(readdirSync(data).sort()).toEqual(['o.db', 'o.db-shm', 'o.db-wal', 'o.db.lock']);
    for (const name of readdirSync(data)) expect(statSync(join(data, name)).mode & 0o777).toBe(0o600);
    close();
  });

  it('is made private when it was not', () => {
    openWriterConnection(settings()).close();
    chmodSync(settings().path, 0o644);
    openWriterConnection(settings()).close();
    expect(statSync(settings().path).mode & 0o777).toBe(0o600);
  });

  it("makes a log private that lies there already, so that it reads nobody else's", () => {
    openWriterConnection(settings()).close();
    const log = `${settings().path}-wal`;
    writeFileSync(log, 'not empty');
    chmodSync(log, 0o666);
    const { close } = openWriterConnection(settings());
    expect(statSync(log).mode & 0o777).toBe(0o600);
    close();
  });

  it.each(['.lock', '-wal'])(
    'reads no link in the place of %s, and leaves alone what it leads to',
    (name) => {
      openWriterConnection(settings()).close();
      const other = join(folder, 'passwd');
      writeFileSync(other, '', { mode: 0o644 });
      rmSync(settings().path + name, { force: true });
      symlinkSync(other, settings().path + name);
      expect(() => openWriterConnection(settings())).toThrow(/a link stands in the place of .*; remove it/);
      expect(statSync(other).mode & 0o777).toBe(0o644);
    },
  );

  it('stops at a pipe in its place instead of waiting for the other end', () => {
    execFileSync('mkfifo', [join(folder, 'pipe')]);
    expect(() => openWriterConnection(settings(join(folder, 'pipe')))).toThrow(/cannot open the store/);
  });

  it('takes one writer at a time, and the next one as soon as that has gone', () => {
    const first = openWriterConnection(settings());
    expect(() => openWriterConnection(settings())).toThrow(/o\.db: another Observatory process is using it/);
    first.close();
    openWriterConnection(settings()).close();
  });

  it('takes one writer however many folders lead to it by a link', () => {
    const first = openWriterConnection(settings());
    const link = join(folder, 'link.db');
    symlinkSync(settings().path, link);
    expect(() => openWriterConnection(settings(link))).toThrow(/another Observatory process is using it/);
    first.close();
    openWriterConnection(settings(link)).close();
  });

  it('writes to disk on every commit only where power loss is to be survived', () => {
    const level = (durability: ThreadSettings['durability']) => {
      const { database, close } = openWriterConnection({ ...settings(), durability });
      const found = database.pragma('synchronous', { simple: true });
      close();
      return found;
    };
    expect(level('power_loss')).toBe(2);
    expect(level('process')).toBe(1);
  });

  it.each([
    [
      'is not a database',
      (path: string) => writeFileSync(path, 'x'.repeat(5_000)),
      'it is not an SQLite database',
    ],
    [
      'belongs to another program',
      (path: string) => new SQLite(path).exec('CREATE TABLE theirs (a)').close(),
      'it is an SQLite database of another program',
    ],
    [
      'was written by a newer version',
      (path: string) => {
        const { database, close } = openWriterConnection(settings(path));
        database.pragma(`user_version = ${MIGRATIONS.length + 1}`);
        close();
      },
      'it was written by a newer Observatory',
    ],
    ['is a folder', (path: string) => mkdirSync(path), 'a folder stands in its place'],
  ])('is refused with a reason when it %s, and let go of', (_kind, prepare, reason) => {
    const path = join(folder, 'o.db');
    prepare(path);
    expect(() => openWriterConnection(settings(path))).toThrow(`cannot open the store ${path}: ${reason}`);
    rmSync(path, { recursive: true });
    openWriterConnection(settings(path)).close();
  });

  it('is refused with a reason where it cannot be made', () => {
    writeFileSync(join(folder, 'file'), '');
    expect(() => openWriterConnection(settings(join(folder, 'file', 'o.db')))).toThrow(
      /cannot open the store .*file is a file, where a folder is needed/,
    );
    // Where Node's own recursive mkdir never comes back.
    expect(() => openWriterConnection(settings('/proc/observatory/o.db'))).toThrow(
      /no folder can be made there/,
    );
    expect(() => openReaderConnection(join(folder, 'absent.db'))).toThrow(/absent\.db: no such file/);
  });

  it('is refused as damaged when its first page is', () => {
    openWriterConnection(settings()).close();
    const damaged = Buffer.alloc(8_192, 0xff);
    damaged.write('SQLite format 3\0', 'latin1');
    writeFileSync(settings().path, damaged);
    expect(() => openWriterConnection(settings())).toThrow(/cannot open the store/);
  });
});
