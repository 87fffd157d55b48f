/**
 * The file of a Unix socket: what may stand in its place before it is bound. A socket nobody answers on is what a
 * killed process left behind and is removed; one that answers belongs to somebody; anything else is not ours to touch.
 */
import { lstatSync, type Stats, unlinkSync } from 'node:fs';
import { connect } from 'node:net';
import { dirname } from 'node:path';

/** `sun_path` less its closing NUL. */
export const SOCKET_PATH_BYTES_MAX = process.platform === 'linux' ? 107 : 103;

const PROBE_TIMEOUT_MS = 1_000;

/** The message says what stands in the way and what to do. */
export class SocketPathFailure extends Error {
  override readonly name = 'SocketPathFailure';
}

/** Makes way for a bind to `path`. @throws SocketPathFailure */
export async function claimSocketPath(path: string): Promise<void> {
  const bytes = Buffer.byteLength(path);
  if (bytes > SOCKET_PATH_BYTES_MAX) {
    throw new SocketPathFailure(
      `the socket path ${path} has ${bytes} bytes, and a Unix socket's may have ${SOCKET_PATH_BYTES_MAX}: choose a shorter one.`,
    );
  }
  const found = lookAt(path);
  if (found === undefined) {
    if (lstatSync(dirname(path), { throwIfNoEntry: false }) !== undefined) return;
    throw new SocketPathFailure(`the folder of the socket path ${path} does not exist: create it first.`);
  }
  if (!found.isSocket()) {
    throw new SocketPathFailure(`${path} exists and is no socket: remove it, or choose another socket path.`);
  }
  const code = await probe(path);
  if (code === 'ENOENT') return;
  if (code !== 'ECONNREFUSED') {
    throw new SocketPathFailure(
      code === null
        ? `another process is serving on ${path}: stop it, or choose another socket path.`
        : `the socket ${path} may be in use (${code}): stop its process, remove it, or choose another path.`,
    );
  }
  // Nobody listens. Unless somebody replaced it in this very moment.
  if (lstatSync(path, { throwIfNoEntry: false })?.ino === found.ino) unlinkSync(path);
}

/** @param error of the bind, or of a look at the path @returns what to do about it where that is known; else the error itself */
export function cannotBind(error: Error, path: string): Error {
  const code = /\b(EACCES|EPERM|EROFS)\b/.exec(error.message)?.[0];
  if (code === undefined) return error;
  return new SocketPathFailure(
    `this user may make no socket at ${path} (${code}): give it that folder to write to, or choose another socket path.`,
  );
}

/** Undefined: nothing is there. */
function lookAt(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch (error) {
    throw cannotBind(error as Error, path);
  }
}

/** Null when somebody answers, else the system's word for why not. */
function probe(path: string): Promise<string | null> {
  return new Promise((resolve) => {
    const socket = connect({ path });
    const settle = (code: string | null): void => {
      socket.destroy();
      resolve(code);
    };
    socket.setTimeout(PROBE_TIMEOUT_MS, () => settle('ETIMEDOUT'));
    socket.once('connect', () => settle(null));
    socket.on('error', (error: NodeJS.ErrnoException) => settle(error.code ?? 'UNKNOWN'));
  });
}
