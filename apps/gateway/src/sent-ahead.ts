/**
 * Requests that a client sends ahead of the answers to those before. Node hands each over as soon as it is read, keeps the answers
 * until it is their turn, and tells none of these when the connection ends: a page of requests, of strangers even, would be answered
 * at once into memory, and the files behind the answers stay open for good.
 */
import type { RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Of one connection. Node reads on for as long as the answers are small. */
export const SENT_AHEAD_MAX = 100;

/** By connection: how many requests wait behind others. */
const waitingCounts = new WeakMap<Socket, number>();

/** It is behind another request of its connection. */
export const isSentAhead = (response: ServerResponse): boolean => response.socket === null;

/** False: more are sent ahead than may be, and the connection is closed. */
export function mayWait(response: ServerResponse): boolean {
  const { socket } = response.req;
  const count = (waitingCounts.get(socket) ?? 0) + 1;
  if (count > SENT_AHEAD_MAX) socket.destroy();
  if (socket.destroyed) return false;
  waitingCounts.set(socket, count);
  response.once('socket', () => waitingCounts.set(socket, (waitingCounts.get(socket) as number) - 1));
  return true;
}

/** Each request when its turn has come; never, if its connection ends before. */
export const inTurn =
  (listener: RequestListener): RequestListener =>
  (request, response) => {
    if (isSentAhead(response)) response.once('socket', () => listener(request, response));
    else listener(request, response);
  };
