/** A disk on which the log still grows and the database no more, so that the checkpointing thread alone meets its end. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { SqliteStore } from '#adapters/sqlite';
import { systemClock } from '#kernel';

const FILE_KIB_MAX = 12 * 1024;
const folder = mkdtempSync(join(tmpdir(), 'observatory-file-size-'));
const path = join(folder, 'o.db');

afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** In a process none of whose files may be larger. @returns how many steps the store said it took */
const fill = (): number =>
  Number(
    execFileSync(
      'bash',
      ['-c', `ulimit -f ${FILE_KIB_MAX} && exec "$0" "$1" "$2"`, process.execPath, CHILD, path],
      { encoding: 'utf8' },
    ),
  );
const CHILD = join(import.meta.dirname, 'fill-file.mjs');

test('what was taken after the last checkpoint that found room is there when the database may grow again', async () => {
  const first = fill();
  // The database is about as large as it may be, and the log empty.
  const second = fill();
  expect(second).toBeGreaterThan(0);
  const store = new SqliteStore({ path, clock: systemClock, workerUrl: null });
  await store.open();
  let count = 0;
  for (let seq: number | undefined = 0; seq !== undefined; ) {
    const steps = await store.stepsAfter(seq, first + second);
    count += steps.length;
    seq = steps.at(-1)?.seq;
  }
  await store.close();
  expect(count).toBe(first + second);
});
