/**
 * The wait for a client to take what was written for it. Bounded by what the connection carries and not by when this answer
 * moves: one that is queued behind another of its connection cannot move, and a client that reads slowly is still there.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { takenBytes } from '../../taken-bytes.js';

export interface DrainWait {
  incoming: IncomingMessage;
  outgoing: ServerResponse;
  /** The connection carries nothing for so long, though something waits to leave on it: its client reads no more. */
  stallMs: number;
  onDrain: () => void;
  /** Called once, after one or two `stallMs`. */
  onStall: () => void;
}

/** @returns ends the wait; to be called unless it ended by itself */
export function awaitDrain({ incoming, outgoing, stallMs, onDrain, onStall }: DrainWait): () => void {
  const { socket } = incoming;
  let before = takenBytes(socket);
  const look = () => {
    const now = takenBytes(socket);
    if (now === null || now !== before) before = now;
    else {
      stop();
      onStall();
    }
  };
  const timer = setInterval(look, stallMs).unref();
  const drained = () => {
    clearInterval(timer);
    onDrain();
  };
  const stop = () => {
    clearInterval(timer);
    outgoing.off('drain', drained);
  };
  outgoing.once('drain', drained);
  return stop;
}

/**
 * For an answer that ends though its client has not taken all of it, and for which no call waits any more: the connection
 * closes when it carries nothing for `stallMs`, unless all of it has left by then. Not for one that is queued behind another.
 */
export function closeUnlessTaken(outgoing: ServerResponse, stallMs: number): void {
  const { socket } = outgoing;
  if (socket === null) return;
  // Node closes what nobody else does it for.
  socket.setTimeout(stallMs);
  // Ahead of Node's own listener, which sets how long the next request may take to come.
  outgoing.prependOnceListener('finish', () => socket.setTimeout(0));
}
