/**
 * Connections that no namespace has let in, or that have left each that did. One that polls takes no connection of the system's, only
 * memory, for half a minute, and needs no key. The oldest makes room for the newest: whoever has a key is let in a moment later.
 */
import type { Socket } from 'socket.io';
import type { Connection } from './partial-messages.js';
import { drop } from './send-buffer.js';

export class StrangerConnections {
  /** Oldest first. */
  readonly #strangers = new Set<Connection>();
  /** Of those that were let in. */
  readonly #socketCounts = new WeakMap<Connection, number>();
  readonly #countMax: number;
  readonly #onCut: () => void;

  constructor(options: { countMax: number; onCut: () => void }) {
    this.#countMax = options.countMax;
    this.#onCut = options.onCut;
  }

  /** A connection has begun. */
  add(connection: Connection): void {
    connection.once('close', () => this.#strangers.delete(connection));
    this.#note(connection);
  }

  /** A namespace has let this socket in. */
  admit(socket: Socket): void {
    const { conn } = socket;
    this.#strangers.delete(conn);
    this.#socketCounts.set(conn, this.#socketsOf(conn) + 1);
    socket.once('disconnect', () => {
      this.#socketCounts.set(conn, this.#socketsOf(conn) - 1);
      if (this.#socketsOf(conn) === 0 && conn.readyState !== 'closed') this.#note(conn);
    });
  }

  #note(connection: Connection): void {
    this.#strangers.add(connection);
    const [oldest] = this.#strangers;
    if (oldest === undefined || this.#strangers.size <= this.#countMax) return;
    this.#strangers.delete(oldest);
    this.#onCut();
    drop(oldest);
  }

  #socketsOf(connection: Connection): number {
    return this.#socketCounts.get(connection) ?? 0;
  }
}
