/** Where a supervised sidecar's socket goes: into the data folder, or, where that lies too deep, into a temporary one. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { SOCKET_PATH_BYTES_MAX } from '#adapters/grpc';

const SOCKET_NAME = 'embedding.sock';

export interface SidecarSocket {
  /** Absolute. */
  readonly path: string;
  /** Removes the temporary folder, if there is one. Never throws. */
  release(): void;
}

/** @param temporaryRoot must be short itself */
export function placeSidecarSocket(dataDir: string, temporaryRoot = tmpdir()): SidecarSocket {
  const path = join(resolve(dataDir), SOCKET_NAME);
  if (Buffer.byteLength(path) <= SOCKET_PATH_BYTES_MAX) return { path, release: () => {} };
  // Open to its owner alone.
  const folder = mkdtempSync(join(temporaryRoot, 'obs-'));
  return {
    path: join(folder, SOCKET_NAME),
    release: () => {
      try {
        rmSync(folder, { recursive: true, force: true });
      } catch {
        // Somebody else's business by now.
      }
    },
  };
}
