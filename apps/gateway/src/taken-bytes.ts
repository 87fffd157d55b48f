import type { Socket } from 'node:net';

/** Bytes that left for the client; null: none wait, so that it is not the client who keeps anybody waiting. */
export const takenBytes = (socket: Socket): number | null =>
  socket.writableLength === 0 ? null : socket.bytesWritten - socket.writableLength;
