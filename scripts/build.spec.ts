/** Two builds of one checkout, with compilers that write what is looked for and end when they are told to. */
import { type ChildProcess, spawn } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';

/** Ends well if nobody took away what it wrote. */
const compiler = (...files: string[]) => `
  const [fs, path] = ['node:fs', 'node:path'].map((name) => process.getBuiltinModule(name));
  const files = ${JSON.stringify(files)};
  fs.appendFileSync('compilations', 'one\\n');
  for (const file of files) {
    fs.mkdirSync(path.dirname(file), { recursive: true });
    fs.writeFileSync(file, '');
  }
  setInterval(() => {
    if (fs.existsSync('finish')) process.exit(files.every((file) => fs.existsSync(file)) ? 0 : 1);
  }, 20);
`;

let checkout: string;
const inCheckout = (path: string) => join(checkout, path);
const running = new Set<ChildProcess>();

beforeEach(() => {
  checkout = mkdtempSync(join(tmpdir(), 'observatory-build-'));
  cpSync(import.meta.dirname, inCheckout('scripts'), { recursive: true });
  writeFileSync(inCheckout('package.json'), '{ "type": "module" }');
  const place = (path: string, text: string) => {
    mkdirSync(dirname(inCheckout(path)), { recursive: true });
    writeFileSync(inCheckout(path), text);
  };
  const [gateway, sidecar] = ['gateway', 'embedding-sidecar'].map((app) => `dist/apps/${app}/src/main.js`);
  place('scripts/bundle.mjs', compiler(gateway as string, sidecar as string));
  place('node_modules/vite/bin/vite.js', compiler('dist/dashboard/index.html'));
  for (const name of ['better-sqlite3', 'better-sqlite3-13']) {
    const real = resolve('node_modules', name);
    if (existsSync(real)) symlinkSync(real, inCheckout(`node_modules/${name}`));
  }
});

afterEach(async () => {
  for (const child of running) kill(child);
  rmSync(checkout, { recursive: true, force: true, maxRetries: 5 });
});

/** With its compilers, as the end of a terminal does it. */
const kill = ({ pid }: ChildProcess) => process.kill(-(pid as number), 'SIGKILL');

function build(script: 'build' | 'build-if-stale') {
  const child = spawn(process.execPath, [inCheckout(`scripts/${script}.mjs`)], { detached: true });
  running.add(child);
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk));
  const exited = new Promise<number | null>((settle) => {
    child.once('exit', (code) => {
      running.delete(child);
      settle(code);
    });
  });
  return { child, exited, output: () => output };
}

const compilations = () =>
  existsSync(inCheckout('compilations'))
    ? readFileSync(inCheckout('compilations'), 'utf8').split('\n').length - 1
    : 0;

it.each(['build-if-stale', 'build'] as const)(
  'waits, as %s, for a build that is under way, and takes what that has made',
  async (script) => {
    const first = build('build-if-stale');
    await expect.poll(compilations).toBe(2);
    const second = build(script);
    await expect.poll(second.output).toContain('another build of this checkout is under way');
    writeFileSync(inCheckout('finish'), '');
    expect(await first.exited).toBe(0);
    expect(await second.exited).toBe(0);
    expect(compilations()).toBe(2);
    expect(existsSync(inCheckout('dist/dashboard/index.html'))).toBe(true);
  },
);

it('goes on where the build that it waits for is killed', async () => {
  const first = build('build');
  await expect.poll(compilations).toBe(2);
  const second = build('build-if-stale');
  await expect.poll(second.output).toContain('another build of this checkout is under way');
  kill(first.child);
  await expect.poll(compilations).toBe(4);
  writeFileSync(inCheckout('finish'), '');
  expect(await second.exited).toBe(0);
});

it.each(['build-if-stale', 'build'] as const)(
  'says, as %s, what to do where npm left SQLite out',
  async (script) => {
    for (const name of ['better-sqlite3', 'better-sqlite3-13'])
      rmSync(inCheckout(`node_modules/${name}`), { force: true });
    const { exited, output } = build(script);
    expect(await exited).toBe(1);
    expect(output()).toMatch(
      /^the package better-sqlite3\S* is missing: run "npm ci" .* Node 22\.14 or newer, or with python3/,
    );
  },
);
