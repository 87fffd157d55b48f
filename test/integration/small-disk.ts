/** A disk of a few megabytes that can really be filled: a tmpfs of its own. Needs the right to mount (root, as in CI). */
import { execFileSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, readdirSync, rmSync, statfsSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { endWithFile } from './end-with-file.js';

const PIECE_BYTES = 64 * 1024;

export interface SmallDisk {
  mountPoint: string;
  /** Until that many bytes are free; 0: to the last one. */
  fill(freeBytes: number): void;
  /** Takes away what `fill` put there. */
  clear(): void;
  /** Takes away everything. */
  empty(): void;
}

/** Where none can be mounted its tests are skipped; in CI they must run. Gone with the file. */
export function mountSmallDisk(bytes: number): SmallDisk | null {
  const mountPoint = mkdtempSync(join(tmpdir(), 'observatory-disk-'));
  const isMounted = isDone('mount', '-t', 'tmpfs', '-o', `size=${bytes}`, 'tmpfs', mountPoint);
  endWithFile(() => {
    if (isMounted) isDone('umount', '-l', mountPoint);
    rmSync(mountPoint, { recursive: true, force: true });
  });
  if (!isMounted) {
    if (process.env.CI === 'true') throw new Error('CI must be able to mount a tmpfs for this test');
    process.stdout.write('skipped: a full disk (mounting a tmpfs needs root)\n');
    return null;
  }
  const ballast = join(mountPoint, 'ballast');
  return {
    mountPoint,
    fill(freeBytes) {
      const file = openSync(ballast, 'a');
      try {
        for (;;) {
          const { bavail, bsize } = statfsSync(mountPoint);
          const leftBytes = bavail * bsize - freeBytes;
          if (leftBytes <= 0) return;
          writeSync(file, Buffer.alloc(Math.min(PIECE_BYTES, leftBytes)));
        }
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOSPC' || freeBytes > 0) throw error;
      } finally {
        closeSync(file);
      }
    },
    clear: () => rmSync(ballast, { force: true }),
    empty: () => {
      for (const name of readdirSync(mountPoint))
        rmSync(join(mountPoint, name), { recursive: true, force: true });
    },
  };
}

function isDone(command: string, ...args: string[]): boolean {
  try {
    execFileSync(command, args, { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
