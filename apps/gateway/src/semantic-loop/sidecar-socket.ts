/**
 * Where a supervised sidecar's socket goes: into the data folder, or, where that lies too deep, into a temporary one. A
 * gateway that has neither serves without its sidecar.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { SOCKET_PATH_BYTES_MAX } from '#adapters/grpc';

const SOCKET_NAME = 'embedding.sock';

export interface SidecarSocket {
  /** Absolute. */
  readonly path: string;
  /** Why nobody can serve at `path`, and what to do; null: somebody can. */
  readonly problem: string | null;
  /** Removes the temporary folder, if there is one. Never throws. */
  release(): void;
}

/** Never throws. */
export function placeSidecarSocket(dataDir: string, temporaryRoot = tmpdir()): SidecarSocket {
  const path = join(resolve(dataDir), SOCKET_NAME);
  if (Buffer.byteLength(path) <= SOCKET_PATH_BYTES_MAX) return nobodys(path, null);
  const start = join(temporaryRoot, 'obs-');
  if (Buffer.byteLength(join(`${start}XXXXXX`, SOCKET_NAME)) > SOCKET_PATH_BYTES_MAX)
    return nobodys(path, tooDeep(`so has that of ${temporaryRoot}`));
  let folder: string;
  try {
    // Open to its owner alone.
    folder = mkdtempSync(start);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'unknown error';
    return nobodys(path, tooDeep(`${temporaryRoot} takes no folder for it (${code})`));
  }
  return {
    path: join(folder, SOCKET_NAME),
    problem: null,
    release: () => {
      try {
        rmSync(folder, { recursive: true, force: true });
      } catch {
        // Somebody else's business by now.
      }
    },
  };
}

const nobodys = (path: string, problem: string | null): SidecarSocket => ({
  path,
  problem,
  release: () => {},
});

const tooDeep = (andElsewhere: string): string =>
  `the data folder's path has too many bytes for a socket in it, and ${andElsewhere}: ` +
  'choose a shorter OBSERVATORY_DATA_DIR, or a TMPDIR that can be written to.';
