/** One connection of the fast lane, as long as it sends what is plain. @see fast-lane.ts for its states */
import type { Socket } from 'node:net';
import { withThisTurn } from '#kernel';
import { type PlainHead, PlainHeads } from './plain-head.js';
import { type PlainAnswer, plainMessage } from './plain-message.js';

export interface LaneRoute {
  path: string;
  /** Larger bodies are Node's to refuse. */
  bodyBytesMax: number;
  /**
   * Answers whatever happens: neither throws nor rejects.
   *
   * @param head the same object where its connection says the same again
   * @param body whole; nobody else keeps it
   */
  answer(head: PlainHead, body: Buffer): Promise<PlainAnswer>;
}

export interface LaneOptions {
  routes: readonly LaneRoute[];
  /** To Node's server, with nothing read of what is not answered. */
  handOver(socket: Socket): void;
  /** A connection that waits for so long for its next request is closed. */
  idleMs: number;
  /** A new one gets this long for its first. */
  firstRequestMs: number;
  /** Answers a new one for which that was not enough, and closes it. */
  tellLate(socket: Socket): void;
  /** False once the server closes: then every answer is its connection's last. */
  isListening(): boolean;
}

export class LaneConnection {
  readonly #socket: Socket;
  readonly #options: LaneOptions;
  readonly #onLeft: (connection: LaneConnection) => void;
  /** Null while a request is answered; then counted from the answer, though its client may not have taken it. */
  #waitsSinceMs: number | null = performance.now();
  #hasAnswered = false;
  /** Its client sends no more, or the lane closes: the answer under way is the last. */
  #isLast = false;
  /** What came while a request was answered. */
  #early: Buffer[] = [];
  readonly #heads = new PlainHeads();

  /** @param onLeft called once, when the connection is over or Node's */
  constructor(socket: Socket, options: LaneOptions, onLeft: (connection: LaneConnection) => void) {
    this.#socket = socket;
    this.#options = options;
    this.#onLeft = onLeft;
    socket
      .on('data', this.#onData)
      .on('end', this.#onEnd)
      .on('error', this.#onError)
      .on('close', this.#onClose);
  }

  /** Ends a wait that has lasted too long. */
  look(nowMs: number): void {
    if (this.#waitsSinceMs === null) return;
    const { idleMs, firstRequestMs, tellLate } = this.#options;
    const waitedMs = nowMs - this.#waitsSinceMs;
    if (!this.#hasAnswered && waitedMs > firstRequestMs) tellLate(this.#socket);
    else if (waitedMs > idleMs) this.#socket.destroy();
  }

  close(): void {
    this.#isLast = true;
    if (this.#waitsSinceMs !== null) this.#socket.destroy();
  }

  readonly #onData = (bytes: Buffer): void => {
    if (this.#waitsSinceMs !== null) this.#begin(bytes);
    else {
      this.#early.push(bytes);
      this.#socket.pause();
    }
  };

  readonly #onEnd = (): void => {
    this.#isLast = true;
    if (this.#waitsSinceMs !== null) this.#socket.end();
  };

  readonly #onError = (): void => {
    this.#socket.destroy();
  };

  readonly #onClose = (): void => {
    this.#onLeft(this);
  };

  /** @param bytes of a request, from its first on */
  #begin(bytes: Buffer): void {
    const read = this.#heads.read(bytes);
    const route = read && this.#options.routes.find(({ path }) => path === read.head.path);
    // Whole and alone: who sends its body later may be slow, or be refused by its head.
    const isPlain = read && route && bytes.length === read.bodyAt + read.byteCount;
    if (!isPlain || read.byteCount > route.bodyBytesMax) {
      this.#handOver(bytes);
      return;
    }
    this.#waitsSinceMs = null;
    withThisTurn(() => route.answer(read.head, bytes.subarray(read.bodyAt)).then(this.#onAnswer));
  }

  readonly #onAnswer = (answer: PlainAnswer): void => {
    const socket = this.#socket;
    if (socket.destroyed) return;
    const { idleMs, isListening } = this.#options;
    const isLast = this.#isLast || !isListening();
    const isTaken = socket.write(plainMessage(answer, isLast ? null : idleMs));
    this.#hasAnswered = true;
    // Its client may keep its own half open for ever.
    if (isLast) socket.end(() => socket.destroy());
    else if (this.#early.length > 0) this.#handOver(...this.#early);
    else {
      this.#waitsSinceMs = performance.now();
      if (!isTaken) this.#awaitDrain();
    }
  };

  /** Who does not read its answers is asked nothing more. */
  #awaitDrain(): void {
    this.#socket.pause().once('drain', () => this.#socket.resume());
  }

  /** For good. @param bytes that were read and not answered */
  #handOver(...bytes: Buffer[]): void {
    const socket = this.#socket;
    socket
      .off('data', this.#onData)
      .off('end', this.#onEnd)
      .off('error', this.#onError)
      .off('close', this.#onClose);
    this.#onLeft(this);
    // What is put back into a stream that flows would wait for bytes after it.
    socket.pause();
    socket.unshift(Buffer.concat(bytes));
    this.#options.handOver(socket);
    socket.resume();
  }
}
