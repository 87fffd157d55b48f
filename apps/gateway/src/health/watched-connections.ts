/**
 * Two kinds of connections that Node keeps for ever: those whose client reads nothing of what waits for it, and, while the server
 * closes, those on which nothing has come yet. Browsers and pools open these ahead; Node counts them as busy, so that a server
 * that closes would wait for them as long as for a request that never ends (Node 20).
 */
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { takenBytes } from '../taken-bytes.js';

/** So often a connection is found as it was before it is closed: who knows more of it, as the proxy does of its calls, is first. */
const STALLS_MAX = 2;

interface Watched {
  taken: number | null;
  stallCount: number;
}

/**
 * To be called before the server listens.
 *
 * @param stallMs a connection that carries nothing for twice as long, though something waits to leave on it, is closed
 * @returns closes those on which nothing has come
 */
export function watchConnections(server: Server, stallMs: number): () => void {
  const open = new Map<Socket, Watched>();
  server.on('connection', (socket) => {
    // One that begins anew: see ignore-upgrades.ts.
    if (open.has(socket)) return;
    open.set(socket, { taken: null, stallCount: 0 });
    socket.once('close', () => open.delete(socket));
  });
  const look = () => {
    for (const [socket, watched] of open) {
      const taken = takenBytes(socket);
      watched.stallCount = taken !== null && taken === watched.taken ? watched.stallCount + 1 : 0;
      watched.taken = taken;
      if (watched.stallCount === STALLS_MAX) socket.destroy();
    }
  };
  const timer = setInterval(look, stallMs).unref();
  server.once('close', () => clearInterval(timer));
  return () => {
    for (const socket of open.keys()) if (socket.bytesRead === 0) socket.destroy();
  };
}
