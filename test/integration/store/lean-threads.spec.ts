/** Each thread of the store loads its modules anew: what it does not need costs memory four times, and time at the start. */
import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { temporaryFolder } from '#testing/temporary-folder';

const WORKER_FILE = new URL('../../../dist/libs/adapters/src/sqlite/sqlite-worker.js', import.meta.url);

/** Of all files that one loads, itself included; Node lists them for its coverage. */
async function loadedBy(file: URL): Promise<string[]> {
  const folder = temporaryFolder();
  // Outside a thread the entry refuses to run, once all that it imports is loaded.
  await promisify(execFile)(process.execPath, ['--eval', `import('${file}').catch(() => {})`], {
    env: { ...process.env, NODE_V8_COVERAGE: folder },
  });
  const [name] = await readdir(folder);
  const { result } = JSON.parse(await readFile(join(folder, name as string), 'utf8'));
  return result.map(({ url }: { url: string }) => url);
}

test('a thread of the store loads SQLite, and not the schemas of the API', async () => {
  const urls = await loadedBy(WORKER_FILE);
  expect(urls).toContain(WORKER_FILE.href);
  expect(urls).toContainEqual(expect.stringContaining('/better-sqlite3'));
  const built = urls.filter((url) => url.includes('/dist/'));
  const texts = await Promise.all(built.map((url) => readFile(new URL(url), 'utf8')));
  const packages = texts.flatMap((text) => text.match(/(?<=^\/\/#region node_modules\/)\S+/gm) ?? []);
  expect(packages).toEqual([]);
});
