/** What npm runs when somebody installs from the lock file, which it reads instead of the packages' own files. */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, it } from 'vitest';

interface Locked {
  gypfile?: boolean;
}

const read = (file: string) => JSON.parse(readFileSync(resolve(import.meta.dirname, '..', file), 'utf8'));
const packages: Record<string, Locked> = read('package-lock.json').packages;

// `npm install` drops the line `"gypfile": false`: put it back. Without it npm runs node-gyp, whatever the package says, and
// where that fails (no Python, no make, no Xcode, no Visual Studio), leaves the package out.
it('compiles nothing of the edition of better-sqlite3 that brings its binaries', () => {
  expect(packages['node_modules/better-sqlite3-13']).toMatchObject({ gypfile: false });
});
