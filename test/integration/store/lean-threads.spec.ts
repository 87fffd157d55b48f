/** Each thread of the store loads its modules anew: what it does not need costs memory four times, and time at the start. */
import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { temporaryFolder } from '#testing/temporary-folder';

const MODULE_FILE = new URL('../../../dist/libs/adapters/src/sqlite/database-thread.js', import.meta.url);

/** Of all modules that one loads, itself included; Node lists them for its coverage. */
async function loadedBy(module: URL): Promise<string[]> {
  const folder = temporaryFolder();
  await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', `import '${module}'`], {
    env: { ...process.env, NODE_V8_COVERAGE: folder },
  });
  const [name] = await readdir(folder);
  const { result } = JSON.parse(await readFile(join(folder, name as string), 'utf8'));
  return result.map(({ url }: { url: string }) => url);
}

test('a thread of the store loads SQLite, and not the schemas of the API', async () => {
  const urls = await loadedBy(MODULE_FILE);
  expect(urls).toContain(MODULE_FILE.href);
  expect(urls).toContainEqual(expect.stringContaining('/better-sqlite3'));
  expect(urls.filter((url) => url.includes('/node_modules/zod/'))).toEqual([]);
});
