/** What npm runs when somebody installs from the lock file, which it reads instead of the packages' own files. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, it } from 'vitest';

interface Locked {
  gypfile?: boolean;
  hasInstallScript?: boolean;
}

const read = (file: string) => JSON.parse(readFileSync(resolve(import.meta.dirname, '..', file), 'utf8'));
const packages: Record<string, Locked> = read('package-lock.json').packages;

// `npm install` drops the line `"gypfile": false`: put it back. Without it npm runs node-gyp, whatever the package says, and
// where that fails (no Python, no make, no Xcode, no Visual Studio), leaves the package out.
it('compiles nothing of the edition of better-sqlite3 that brings its binaries', () => {
  expect(packages['node_modules/better-sqlite3-13']).toMatchObject({ gypfile: false });
});

const scripted = Object.keys(packages)
  .filter((path) => packages[path]?.hasInstallScript)
  .map((path) => path.replace(/.*node_modules\//, ''));

it('has decided about every script, of which npm would otherwise warn each user', () => {
  expect(Object.keys(read('package.json').allowScripts)).toEqual(expect.arrayContaining(scripted));
});

// It fetches GPU libraries from elsewhere; the CPU library is in the package. An npm that knows no `allowScripts` runs what the
// lock file tells it of. An upgrade of the package brings `"hasInstallScript": true` back: remove it.
it('tells npm of no script of ONNX Runtime', () => {
  expect(scripted).not.toContain('onnxruntime-node');
});

it('configures nothing that npm does not know and would warn of at every command', () => {
  const { stderr } = spawnSync('npm', ['config', 'get', 'save-exact'], {
    cwd: resolve(import.meta.dirname, '..'),
    encoding: 'utf8',
    shell: process.platform === 'win32',
  });
  expect(stderr).not.toContain('Unknown project config');
});
