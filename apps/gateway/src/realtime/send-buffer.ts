/**
 * Bytes handed to one connection that its transport has not yet taken. A reader that stops reading makes
 * its transport stop taking, and everything after that would pile up here: so it has a cap, and beyond it is cut.
 *
 * A packet is let through while the buffer is below the cap, whatever its own size, and the largest one does not count: a
 * large snapshot must reach a healthy client, and what comes behind it while it is on its way. A frozen one costs at most the
 * cap, two packets and one flush in flight.
 */
import type { Socket } from 'socket.io';
import { LIVE_EVENTS } from '#contracts';
import type { Connection, PartialMessages } from './partial-messages.js';

export interface SendBufferOptions {
  /** Of a connection that a namespace let in. */
  bytesMax: number;
  /** Of one that none let in: it is told no more than that it is refused. */
  strangerBytesMax: number;
  socketOf: PartialMessages['socketOf'];
  onCut: (socket: Socket | undefined, pendingBytes: number) => void;
}

/** For each connection of Engine.IO. */
export function cutSlowReader(connection: Connection, options: SendBufferOptions): void {
  const { bytesMax, strangerBytesMax, socketOf, onCut } = options;
  let pendingBytes = 0;
  let largestBytes = 0;
  let isCut = false;
  connection.on('packetCreate', (packet: { data?: unknown }) => {
    const socket = socketOf(connection);
    if (!isCut && pendingBytes - largestBytes > (socket ? bytesMax : strangerBytesMax)) {
      isCut = true;
      onCut(socket, pendingBytes);
      // Not from inside the packet being written.
      queueMicrotask(() => {
        socket?.emit(LIVE_EVENTS.cut, { reason: 'consumer_too_slow' });
        drop(connection);
      });
    }
    const { data } = packet;
    const bytes = typeof data === 'string' ? data.length : ((data as Buffer | undefined)?.byteLength ?? 0);
    pendingBytes += bytes;
    largestBytes = Math.max(largestBytes, bytes);
  });
  connection.on('drain', () => {
    pendingBytes = 0;
    largestBytes = 0;
  });
}

/** With all it has not read. A polite close would wait, buffers and all, for a reader that reads nothing. */
export function drop(connection: Connection): void {
  const transport = connection.transport as unknown as { socket?: { terminate?: () => void } };
  connection.close(true);
  transport.socket?.terminate?.();
}
