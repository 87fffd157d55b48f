/** Builds dist when it is missing or older than its sources; says one line when it does, nothing when it need not. */
import { pathToFileURL } from 'node:url';
import { build, isStale, lockDist } from './build.mjs';

/**
 * @returns {Promise<void>} rejects after printing the compiler's output when the build fails
 */
export async function buildIfStale() {
  if (!isStale()) return;
  const { release } = await lockDist();
  try {
    // Another build may have made it meanwhile.
    if (isStale()) await buildNow();
  } finally {
    release();
  }
}

async function buildNow() {
  const startedAt = performance.now();
  const note = (/** @type {string} */ text) => process.stderr.write(text);
  note('Observatory: building (only when sources changed) ...');
  try {
    await build({ quiet: true });
  } catch (error) {
    note(' failed\n');
    throw error;
  }
  note(` done in ${((performance.now() - startedAt) / 1000).toFixed(1)} s\n`);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  try {
    await buildIfStale();
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : error}\n`);
    process.exitCode = 1;
  }
}
