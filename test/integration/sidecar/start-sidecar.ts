/** The built sidecar in a process of its own, on a socket of its own. */
import { type ChildProcess, spawn } from 'node:child_process';
import { resolve } from 'node:path';

export const SIDECAR_MAIN = resolve(import.meta.dirname, '../../../dist/apps/embedding-sidecar/src/main.js');
export const HEALTH_CHECK = resolve(
  import.meta.dirname,
  '../../../dist/apps/embedding-sidecar/src/health-check.js',
);
/** Of a machine that has far more to do than it can. */
const START_TIMEOUT_MS = 90_000;

export interface StartedSidecar {
  process: ChildProcess;
  /** Everything it wrote so far. */
  output(): string;
  /** The JSON lines of its log so far. */
  lines(): any[];
  /** Resolves when the log says so; rejects when the process ends first. */
  ready: Promise<void>;
  exited: Promise<number | null>;
  /** SIGKILL, and waits. */
  kill(): Promise<void>;
}

export function startSidecar(
  socketPath: string,
  env: Record<string, string> = {},
  args: string[] = [],
): StartedSidecar {
  const child = spawn(process.execPath, [SIDECAR_MAIN, ...args], {
    env: { PATH: process.env.PATH, UDS_PATH: socketPath, ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  let output = '';
  let log = '';
  const exited = new Promise<number | null>((settle) => child.once('close', (code) => settle(code)));
  const ready = new Promise<void>((settle, fail) => {
    const timer = setTimeout(() => fail(new Error(`not ready in time:\n${output}`)), START_TIMEOUT_MS);
    child.stdout.on('data', (chunk) => {
      output += chunk;
      log += chunk;
      if (!log.includes('"event":"ready"')) return;
      clearTimeout(timer);
      settle();
    });
    child.stderr.on('data', (chunk) => (output += chunk));
    void exited.then((code) => {
      clearTimeout(timer);
      fail(new Error(`the sidecar ended with ${code}:\n${output}`));
    });
  });
  ready.catch(() => {});
  return {
    process: child,
    output: () => output,
    lines: () =>
      log
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line)),
    ready,
    exited,
    kill: async () => {
      child.kill('SIGKILL');
      await exited;
    },
  };
}
