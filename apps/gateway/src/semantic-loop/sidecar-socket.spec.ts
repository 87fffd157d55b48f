import { existsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { expect, it } from 'vitest';
import { SOCKET_PATH_BYTES_MAX } from '#adapters/grpc';
import { temporaryFolder } from '#testing/temporary-folder';
import { placeSidecarSocket } from './sidecar-socket.js';

it('puts the socket into the data folder', () => {
  expect(placeSidecarSocket('/var/lib/observatory').path).toBe('/var/lib/observatory/embedding.sock');
});

it('puts it into a private temporary folder where its path would be too long, and removes that', () => {
  const root = temporaryFolder();
  const socket = placeSidecarSocket(`/srv/${'deep/'.repeat(30)}`, root);
  const folder = dirname(socket.path);
  expect(Buffer.byteLength(socket.path)).toBeLessThanOrEqual(SOCKET_PATH_BYTES_MAX);
  expect(statSync(folder).mode & 0o777).toBe(0o700);
  socket.release();
  socket.release();
  expect(existsSync(folder)).toBe(false);
});

it('says what to do where neither will do, instead of keeping the gateway from its start', () => {
  const deep = `/srv/${'deep/'.repeat(30)}`;
  for (const root of ['/nonexistent', `/${'long'.repeat(30)}`]) {
    const socket = placeSidecarSocket(deep, root);
    expect(socket.problem).toContain(root);
    expect(socket.problem).toMatch(/OBSERVATORY_DATA_DIR.*TMPDIR/);
    socket.release();
  }
});

it('counts bytes, as the system does, and not characters', () => {
  const folder = `/${'ü'.repeat(48)}`;
  const socket = placeSidecarSocket(folder);
  try {
    expect(`${folder}/embedding.sock`.length).toBeLessThan(SOCKET_PATH_BYTES_MAX);
    expect(socket.path.startsWith(folder)).toBe(false);
  } finally {
    socket.release();
  }
});
