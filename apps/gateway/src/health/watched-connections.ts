/**
 * Connections that Node keeps for longer than anybody gains by: those whose client reads nothing of what waits for it, and, while the
 * server closes, those on which no request has come. Browsers and pools open some ahead, and others have sent a part of a head; Node
 * counts both as busy, so that a server that closes would wait for them as long as for a request that never ends (Node 20).
 */
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { answerAhead } from '../realtime/ignore-upgrades.js';
import { takenBytes } from '../taken-bytes.js';

/** So often a connection is found as it was before it is closed: who knows more of it, as the proxy does of its calls, is first. */
const STALLS_MAX = 2;

/** For the rest of a head that is on its way: its sender is told that the server is leaving. */
export const HEAD_WAIT_MS = 1_000;

interface Watched {
  taken: number | null;
  stallCount: number;
}

/**
 * To be called before the server listens.
 *
 * @param stallMs a connection that carries nothing for twice as long, though something waits to leave on it, is closed
 * @returns closes those on which nothing has come, and a moment later those on which no request has
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
    setTimeout(() => {
      for (const socket of open.keys()) if (asksNothing(socket)) socket.destroy();
    }, HEAD_WAIT_MS).unref();
  };
}

/** Node reads requests from it, has none to answer, and nothing of an answer waits to leave. */
const asksNothing = (socket: Socket): boolean =>
  Boolean((socket as { parser?: object | null }).parser) &&
  answerAhead(socket) === null &&
  socket.writableLength === 0;
