/**
 * Makes the programs of their sources (decision 0033): each as one file with the packages it needs in it, beside chunks
 * for what several of them share or load later. So a start reads some forty files and not two thousand.
 *
 * The libraries are there as well, where `imports` in package.json says, for scripts and benches.
 *
 * With `--watch` after every edit, until it is ended.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build, watch } from 'rolldown';

const repository = fileURLToPath(new URL('..', import.meta.url));

/** What is started by its path: programs, and the threads of them. */
const started = [
  'apps/gateway/src/main.ts',
  'apps/embedding-sidecar/src/main.ts',
  'apps/embedding-sidecar/src/health-check.ts',
  'libs/adapters/src/sqlite/sqlite-worker.ts',
  'libs/adapters/src/onnx/onnx-worker.ts',
];

/** Packages that look for files beside their own, or are not JavaScript. */
const leftOut = [/^better-sqlite3/, /^onnxruntime-/, /^@grpc\//, /^grpc-health-check$/, /^protobufjs/];

/** @returns {string[]} the sources of what `imports` finds in dist */
function libraries() {
  const { imports } = JSON.parse(readFileSync(join(repository, 'package.json'), 'utf8'));
  return Object.values(imports).flatMap(({ source, default: built }) => {
    if (built === undefined) return [];
    const [folder, file] = source.split('*');
    if (file === undefined) return [source];
    return readdirSync(join(repository, folder))
      .map((name) => `${folder}${name}${file}`)
      .filter((path) => existsSync(join(repository, path)));
  });
}

/** @type {import('rolldown').BuildOptions} */
export const bundle = {
  cwd: repository,
  platform: 'node',
  tsconfig: 'tsconfig.base.json',
  input: Object.fromEntries(
    [...started, ...libraries()].map((path) => [path.replace(/^\.\/|\.ts$/g, ''), join(repository, path)]),
  ),
  external: leftOut,
  resolve: { conditionNames: ['source', 'node'] },
  // Packages written as CommonJS name their folder so; none of those that are left in reads a file there.
  transform: { define: { __dirname: 'import.meta.dirname', __filename: 'import.meta.filename' } },
  onLog(level, log, handle) {
    // Optional parts of Nest that are not installed: asked for when they are used, and not found then, as before.
    if (log.code === 'UNRESOLVED_IMPORT' && log.id?.includes('node_modules')) return;
    handle(level === 'warn' ? 'error' : level, log);
  },
  output: {
    dir: 'dist',
    entryFileNames: '[name].js',
    chunkFileNames: 'chunks/[name].js',
    sourcemap: true,
  },
};

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  if (process.argv.includes('--watch')) {
    watch(bundle).on('event', async (event) => {
      if (event.code === 'ERROR') process.stderr.write(`${event.error.message}\n`);
      if (event.code === 'BUNDLE_END') await event.result.close();
    });
  } else await build(bundle);
}
