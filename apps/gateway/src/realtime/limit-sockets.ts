/**
 * How many sockets of a namespace one key or operator token may hold, so that a leaked one does not take the memory and
 * file descriptors of all. Who is in stays in; who comes beyond it is refused before `connection`.
 */
import type { Namespace, Socket } from 'socket.io';
import { refusedHandshake } from './refused-handshake.js';

export interface SocketLimitOptions {
  perCredentialMax: number;
  /** Asked of sockets that the namespace's own check let in. */
  credentialId: (socket: Socket) => string;
  onRefused: () => void;
}

/** The namespace's last check: whoever passes it has its place until it, or its connection, is gone. */
export function limitSockets(
  namespace: Namespace,
  { perCredentialMax, credentialId, onRefused }: SocketLimitOptions,
): void {
  /** By credential; nothing is kept of one without a socket. */
  const holders = new Map<string, Set<Socket>>();
  namespace.use((socket, next) => {
    // It ended in the breath in which it asked: it is let in nowhere, and of its end nobody would tell any more.
    if (socket.conn.readyState !== 'open') {
      next();
      return;
    }
    const id = credentialId(socket);
    const held = holders.get(id) ?? new Set();
    if (held.size >= perCredentialMax) {
      onRefused();
      next(refusedHandshake('too_many_sockets'));
      return;
    }
    // Taken here and not at `connection`, which comes later: many may be asked for in between.
    holders.set(id, held.add(socket));
    const release = () => {
      socket.conn.off('close', release);
      if (held.delete(socket) && held.size === 0) holders.delete(id);
    };
    socket.once('disconnect', release);
    socket.conn.once('close', release);
    next();
  });
}
