/**
 * Connections that send plain requests to a hot path, answered from their own bytes: of what a single DecisionLog cost, a
 * third was Node's way from a socket to a request and from an answer back to the socket.
 *
 *     waiting --a plain request, whole--> answering --answered--> waiting
 *        \                                    |
 *         \-- anything else comes ------------/-----> handed over to Node's server, from the first byte not answered
 *                                                     on, and for good
 *
 * A connection is asked one thing at a time: what comes while it is answered is Node's, which knows how to queue.
 */
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { LaneConnection, type LaneOptions } from './lane-connection.js';

/** How often connections are looked at that nothing happens on. */
const LOOK_INTERVAL_MS = 5_000;

export class FastLane {
  readonly #options: LaneOptions;
  readonly #connections = new Set<LaneConnection>();
  #timer: NodeJS.Timeout | null = null;
  #isClosed = false;

  constructor(options: LaneOptions) {
    this.#options = options;
  }

  /** A connection on which nothing has been read. */
  take(socket: Socket): void {
    if (this.#isClosed) {
      this.#options.handOver(socket);
      return;
    }
    this.#timer ??= setInterval(() => this.#look(), LOOK_INTERVAL_MS).unref();
    this.#connections.add(
      new LaneConnection(socket, this.#options, (connection) => this.#connections.delete(connection)),
    );
  }

  /** Those that wait for a request end now, those being answered with their answer; what still comes is Node's. */
  close(): void {
    this.#isClosed = true;
    if (this.#timer !== null) clearInterval(this.#timer);
    for (const connection of this.#connections) connection.close();
  }

  #look(): void {
    const nowMs = performance.now();
    for (const connection of this.#connections) connection.look(nowMs);
  }
}

/** By its code, whoever answers what is no request knows it for Node's own. */
class LateRequest extends Error {
  readonly code = 'ERR_HTTP_REQUEST_TIMEOUT';
}

/** In front of Node's own handling of a connection: who listens for connections hears of each as before. */
export function openFastLane(
  server: Server,
  options: Pick<LaneOptions, 'routes' | 'idleMs' | 'firstRequestMs'>,
): FastLane {
  const [toNode] = server.listeners('connection') as [(socket: Socket) => void];
  const lane = new FastLane({
    ...options,
    handOver: (socket) => toNode.call(server, socket),
    tellLate: (socket) => server.emit('clientError', new LateRequest(), socket),
    isListening: () => server.listening,
  });
  server.off('connection', toNode).on('connection', (socket) => lane.take(socket));
  return lane;
}
