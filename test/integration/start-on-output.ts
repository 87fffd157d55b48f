/** A built program whose stdout is a place of the test's choice: a full disk, a reader that stands still or leaves. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, constants, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { endWithFile } from './end-with-file.js';

export interface OnOutput {
  process: ChildProcess;
  /** Exit status and signal. */
  ended: Promise<unknown[]>;
}

/** @param output a descriptor, which is closed here; 'pipe': the test reads */
export function startOnOutput(
  main: string,
  output: number | 'pipe',
  env: Record<string, string>,
  args: string[] = [],
): OnOutput {
  const child = spawn(process.execPath, [main, ...args], {
    env: { PATH: process.env.PATH, ...env },
    stdio: ['ignore', output, 'ignore'],
  });
  if (typeof output === 'number') closeSync(output);
  const ended = once(child, 'exit');
  endWithFile(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  return { process: child, ended };
}

/** Removed with the file. */
export function makeFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'observatory-output-'));
  endWithFile(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** A pipe that is full, and that nobody reads until the file ends: as under a pager that waits for a key. */
export function openStalledPipe(): number {
  const path = join(makeFolder(), 'pipe');
  execFileSync('mkfifo', [path]);
  const reader = openSync(path, 'r+');
  endWithFile(() => closeSync(reader));
  const filler = openSync(path, constants.O_WRONLY | constants.O_NONBLOCK);
  try {
    for (;;) writeSync(filler, 'x');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error;
  }
  closeSync(filler);
  return openSync(path, 'w');
}
