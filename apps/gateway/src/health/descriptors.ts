/**
 * Whether this process may open anything more. With no file descriptor left the runtime closes each new connection unheard, and tells
 * nobody: clients see a broken connection and the log nothing. This says so, and goes on; connections that end give theirs back.
 */
import { closeSync, openSync } from 'node:fs';
import type { Server } from 'node:net';
import { devNull } from 'node:os';
import type { Logger } from 'pino';
import type { SteadyClock } from '#kernel';

const LOOK_MS = 1_000;
const SAID_AGAIN_MS = 60_000;

export class Descriptors {
  readonly #logger: Logger;
  readonly #clock: SteadyClock;
  readonly #open: () => number;
  #saidMs: number | null = null;

  /** @param open gives a descriptor or throws as `openSync` does */
  constructor({
    logger,
    clock,
    open = () => openSync(devNull, 'r'),
  }: {
    logger: Logger;
    clock: SteadyClock;
    open?: () => number;
  }) {
    this.#logger = logger;
    this.#clock = clock;
    this.#open = open;
  }

  /** Looks, which takes some microseconds. Logged once a minute. Never throws. */
  areUsedUp(): boolean {
    try {
      closeSync(this.#open());
      return false;
    } catch (error) {
      this.#say(error as NodeJS.ErrnoException);
      return true;
    }
  }

  /** For as long as the server lives. One that cannot accept, for whatever reason, would else end the process. */
  watch(server: Server): void {
    const timer = setInterval(() => this.areUsedUp(), LOOK_MS).unref();
    server.once('close', () => clearInterval(timer));
    server.on('error', (error) => this.#say(error));
  }

  #say({ code }: NodeJS.ErrnoException): void {
    const nowMs = this.#clock.steadyMs();
    if (this.#saidMs !== null && nowMs - this.#saidMs < SAID_AGAIN_MS) return;
    this.#saidMs = nowMs;
    this.#logger.error(
      { event: 'connections_refused', code },
      'new connections are closed unheard, for want of file descriptors if the code is EMFILE or ENFILE: raise their limit (ulimit -n)',
    );
  }
}
