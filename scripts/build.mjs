/**
 * Builds everything that runs: gateway, embedding sidecar and libraries with Rolldown (see bundle.mjs), the
 * dashboard with vite, side by side. Neither looks at types; `npm run typecheck` does.
 * Afterwards dist/.sources holds the fingerprint of what was built, taken before the build, so that an edit made
 * while it ran makes the result stale (see build-if-stale.mjs).
 */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join, sep } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { lockBuild } from './lib/build-lock.mjs';

const repository = fileURLToPath(new URL('..', import.meta.url));
const fingerprintFile = join(repository, 'dist', '.sources');
/** Not in dist, which a build removes. */
const lockFile = join(repository, '.cache', 'build.lock');

/** What a build reads; everything below a folder counts, except specs and their fixtures. */
const sources = [
  'apps',
  'libs',
  'package.json',
  'package-lock.json',
  'tsconfig.base.json',
  'scripts/build.mjs',
  'scripts/bundle.mjs',
];

/** What a finished build has left behind. */
const results = [
  'dist/apps/gateway/src/main.js',
  'dist/apps/embedding-sidecar/src/main.js',
  'dist/dashboard/index.html',
];

/**
 * One hash over path, size and modification time of every source file; about a millisecond per hundred files.
 *
 * @returns {string} 64 hex digits
 */
function fingerprintSources() {
  const hash = createHash('sha256');
  for (const source of sources) {
    const stat = statSync(join(repository, source), { throwIfNoEntry: false });
    if (!stat) continue;
    const files = stat.isDirectory()
      ? readdirSync(join(repository, source), { recursive: true, withFileTypes: true })
          .filter((entry) => entry.isFile() && !/\.(spec|fixture)\.tsx?$/.test(entry.name))
          .map((entry) => join(entry.parentPath, entry.name))
          .sort()
      : [join(repository, source)];
    for (const file of files) {
      const { size, mtimeMs } = statSync(file);
      hash.update(`${file.slice(repository.length).split(sep).join('/')} ${size} ${mtimeMs}\n`);
    }
  }
  return hash.digest('hex');
}

/**
 * True where dist lacks a result or was built from other sources than those of now.
 *
 * @returns {boolean}
 */
export function isStale() {
  if (!results.every((result) => existsSync(join(repository, result)))) return true;
  if (!existsSync(fingerprintFile)) return true;
  return readFileSync(fingerprintFile, 'utf8') !== fingerprintSources();
}

/**
 * @param {string[]} command node script and its arguments, relative to the repository
 * @param {boolean} quiet holds the output back unless the step fails
 * @returns {Promise<void>}
 */
function runStep(command, quiet) {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, command, {
      cwd: repository,
      stdio: ['ignore', quiet ? 'pipe' : 'inherit', quiet ? 'pipe' : 'inherit'],
      env: { ...process.env, NODE_ENV: 'production' },
    });
    /** @type {Buffer[]} */
    const output = [];
    child.stdout?.on('data', (chunk) => output.push(chunk));
    child.stderr?.on('data', (chunk) => output.push(chunk));
    child.on('error', reject);
    child.on('close', (code) => {
      if (code === 0) return resolve();
      process.stderr.write(Buffer.concat(output));
      reject(new Error(`build step failed (${code}): node ${command.join(' ')}`));
    });
  });
}

/**
 * Two builds at once would take away what the other has written: a second one waits, and says so.
 *
 * @returns {ReturnType<typeof lockBuild>}
 */
export function lockDist() {
  return lockBuild(lockFile, () =>
    process.stderr.write('Observatory: another build of this checkout is under way; waiting for it ...\n'),
  );
}

/**
 * Builds gateway, sidecar, libraries and dashboard into dist. For who holds `lockDist`.
 *
 * @param {{ quiet?: boolean }} [options]
 * @returns {Promise<void>} rejects after printing the compiler's output when a step fails
 */
export async function build({ quiet = false } = {}) {
  const fingerprint = fingerprintSources();
  // Old files of removed sources would stay importable: only a fresh folder is known to hold what was built.
  rmSync(join(repository, 'dist'), { recursive: true, force: true });
  const steps = await Promise.allSettled([
    runStep(['scripts/bundle.mjs'], quiet),
    runStep(['node_modules/vite/bin/vite.js', 'build', 'apps/dashboard', '--logLevel', 'warn'], quiet),
  ]);
  const failed = steps.find((step) => step.status === 'rejected');
  if (failed) throw failed.reason;
  mkdirSync(join(repository, 'dist'), { recursive: true });
  writeFileSync(fingerprintFile, fingerprint);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const startedAt = performance.now();
  try {
    const { hasWaited, release } = await lockDist();
    // Whoever started the other build may run from it by now.
    if (!hasWaited || isStale()) await build();
    release();
    process.stdout.write(`Built dist in ${((performance.now() - startedAt) / 1000).toFixed(1)} s\n`);
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : error}\n`);
    process.exitCode = 1;
  }
}
