/** One module of the sources as a file that plain Node runs: for tests that start a part of a program as a process. */
import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { build } from 'rolldown';
import { temporaryFolder } from '#testing/temporary-folder';
import { bundle } from '../../scripts/bundle.mjs';

const repository = resolve(import.meta.dirname, '../..');
/** Inside the repository: what is built finds its packages. A fresh clone has none yet. */
const CACHE = join(repository, '.cache');

/**
 * @param source relative to the repository
 * @returns path of the built module, in a folder that is removed after the test
 */
export async function buildModule(source: string): Promise<string> {
  mkdirSync(CACHE, { recursive: true });
  const dir = temporaryFolder(CACHE);
  await build({ ...bundle, input: { module: source }, output: { ...bundle.output, dir } });
  return join(dir, 'module.js');
}
