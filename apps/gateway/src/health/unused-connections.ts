/**
 * Connections on which nothing has come yet. Browsers and pools open them ahead; Node counts them as busy, so that a
 * server that closes would wait for them as long as for a request that never ends (Node 20).
 */
import type { Server } from 'node:http';
import type { Socket } from 'node:net';

/** To be called before the server listens. @returns closes those there are */
export function watchUnusedConnections(server: Server): () => void {
  const open = new Set<Socket>();
  server.on('connection', (socket) => {
    // One that begins anew: see ignore-upgrades.ts.
    if (open.has(socket)) return;
    open.add(socket);
    socket.once('close', () => open.delete(socket));
  });
  return () => {
    for (const socket of open) if (socket.bytesRead === 0) socket.destroy();
  };
}
