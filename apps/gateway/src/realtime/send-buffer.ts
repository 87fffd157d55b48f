/**
 * Bytes handed to one connection that its transport has not yet taken. A reader that stops reading makes
 * its transport stop taking, and everything after that would pile up here: so it has a cap.
 *
 * A packet is let through while the buffer is below the cap, whatever its own size: one large snapshot
 * must reach a healthy client. A frozen one costs at most the cap, one packet and one flush in flight.
 */
import type { Socket } from 'socket.io';

export function watchSendBuffer(
  connection: Socket['conn'],
  capBytes: number,
  onOverflow: (bytes: number) => void,
): void {
  let pendingBytes = 0;
  let overflowed = false;
  connection.on('packetCreate', (packet: { data?: unknown }) => {
    if (pendingBytes > capBytes && !overflowed) {
      overflowed = true;
      onOverflow(pendingBytes);
    }
    const { data } = packet;
    pendingBytes += typeof data === 'string' ? data.length : ((data as Buffer | undefined)?.byteLength ?? 0);
  });
  connection.on('drain', () => {
    pendingBytes = 0;
  });
}
