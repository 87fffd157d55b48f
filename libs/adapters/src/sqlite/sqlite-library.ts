/**
 * better-sqlite3 in the edition that this Node runs. Version 12 ends the process on Node 24.19 and later, whenever a statement
 * is collected while no JavaScript runs; version 13, made for Node-API 10, crashes on the Node that lacks it. Both are optional
 * packages, so that npm leaves out the one that does not fit or cannot be compiled.
 */
import { createRequire } from 'node:module';

const NODE_API_OF_13 = 10;

/** @param nodeApi as `process.versions.napi` */
export const sqlitePackage = (nodeApi: string | undefined): 'better-sqlite3-13' | 'better-sqlite3' =>
  Number(nodeApi) >= NODE_API_OF_13 ? 'better-sqlite3-13' : 'better-sqlite3';

/** @throws Error that says how to come by it, if the package is missing */
export function loadSqlite(
  name: string,
  load: (name: string) => unknown = createRequire(import.meta.url),
): typeof import('better-sqlite3') {
  try {
    return load(name) as typeof import('better-sqlite3');
  } catch (error) {
    if ((error as NodeJS.ErrnoException | null)?.code !== 'MODULE_NOT_FOUND') throw error;
    throw new Error(
      `the package ${name} is missing: run "npm ci" without leaving out optional packages, ` +
        'with Node 22.14 or newer, or with python3, make and g++ at hand to compile it',
      { cause: error },
    );
  }
}

export const SQLite = loadSqlite(sqlitePackage(process.versions.napi));
