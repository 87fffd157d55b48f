/**
 * One build of a checkout at a time: an exclusive transaction on an empty database, as a gateway holds its data folder.
 * The lock is the kernel's and dies with the process, so that a killed build leaves nothing to clean up.
 */
import { mkdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const lookEveryMs = 200;
/** As sqlite-library.ts chooses it, which is not built yet. */
const sqlitePackage = Number(process.versions.napi) >= 10 ? 'better-sqlite3-13' : 'better-sqlite3';

/** As sqlite-library.ts loads it, and says the same where it is missing. */
function loadSqlite() {
  try {
    return createRequire(import.meta.url)(sqlitePackage);
  } catch (error) {
    if (/** @type {{ code?: string }} */ (error).code !== 'MODULE_NOT_FOUND') throw error;
    throw new Error(
      `the package ${sqlitePackage} is missing: run "npm ci" without leaving out optional packages, ` +
        'with Node 22.14 or newer, or with python3, make and g++ at hand to compile it',
      { cause: error },
    );
  }
}

/**
 * Waits as long as another process has it.
 *
 * @param {string} file made if need be
 * @param {() => void} onWait called once, where there is something to wait for
 * @returns {Promise<{ hasWaited: boolean, release: () => void }>}
 */
export async function lockBuild(file, onWait) {
  const SQLite = loadSqlite();
  mkdirSync(dirname(file), { recursive: true });
  const hold = new SQLite(file, { timeout: 0 });
  for (let hasWaited = false; ; hasWaited = true) {
    try {
      hold.exec('BEGIN EXCLUSIVE');
      return { hasWaited, release: () => hold.close() };
    } catch (error) {
      if (/** @type {{ code?: string }} */ (error).code !== 'SQLITE_BUSY') throw error;
    }
    if (!hasWaited) onWait();
    await sleep(lookEveryMs);
  }
}
