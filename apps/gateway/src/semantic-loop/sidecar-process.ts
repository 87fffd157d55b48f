/**
 * The embedding sidecar as a child of this gateway: started, watched, started again with growing pauses, ended with
 * the gateway however that ends (the child watches its stdin). What calls do meanwhile is the client's affair.
 *
 *     stopped --start--> starting --"ready"--> serving
 *                           ^  \                  |
 *                 restart   |   \----- exit ------+
 *                           +------- down <-------/
 *
 * One that serves and is not reached any more hangs, as does one that goes on starting: it is killed, and so started again.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import type { Logger } from 'pino';
import type { Clock } from '#kernel';
import { mergeSidecarLog } from './sidecar-log.js';
import { placeSidecarSocket, type SidecarSocket } from './sidecar-socket.js';

const SIDECAR_MAIN_FILE = fileURLToPath(import.meta.resolve('#built/apps/embedding-sidecar/src/main.js'));

const RESTART_FIRST_MS = 50;
const RESTART_MAX_MS = 30_000;
/** For one that served before it died, however often: loops are to be found again within two seconds. */
const RESTART_SERVED_MAX_MS = 200;
/** One that served this long failed anew, not again. */
const STEADY_MS = 10_000;
const STOP_TIMEOUT_MS = 5_000;
/** Longer than any burst of work keeps a living one from answering. */
const HUNG_MS = 10_000;
/** Longer than the child itself waits for its model to be opened, and for its first vector. */
const STARTING_MS = 180_000;

export interface SidecarProcessOptions {
  /** Holds the socket, unless its path is too long for one. */
  dataDir: string;
  /** All the child sees; see `sidecarEnvironment`. */
  environment: Readonly<Record<string, string>>;
  /** The child's lines go here, with `source: embedding-sidecar`. */
  logger: Logger;
  clock: Clock;
  /** Told of every change, after it. */
  onState?: (state: SidecarState) => void;
  /** Compiled; another one in tests. */
  mainFile?: string;
  /** A serving process that is not reached for so long is taken for hung. */
  hungMs?: number;
  /** One that does not serve after so long is taken for hung, too. */
  startingMs?: number;
}

/** For the System page. */
export interface SidecarState {
  state: 'starting' | 'serving' | 'down';
  restart_count: number;
  /** Of the present state. */
  since_ms: number;
  /** Why it last ended; null while it serves. */
  detail: string | null;
  /** Null while there is no process. */
  pid: number | null;
}

export class SidecarProcess {
  readonly #options: SidecarProcessOptions;
  readonly #socket: SidecarSocket;
  #child: ChildProcess | null = null;
  #state: SidecarState;
  #isStopped = false;
  /** Of the latest start but the first. */
  #restartTimer: NodeJS.Timeout | null = null;
  #hungTimer: NodeJS.Timeout | null = null;
  /** Null: nobody has told yet. */
  #isReached: boolean | null = null;
  #failuresInRow = 0;
  /** The child's own words, from its last line of the kind. */
  #lastReason: string | null = null;

  constructor(options: SidecarProcessOptions) {
    this.#options = options;
    this.#socket = placeSidecarSocket(options.dataDir);
    const since_ms = options.clock.nowMs();
    this.#state = { state: 'down', restart_count: 0, since_ms, detail: null, pid: null };
  }

  get state(): SidecarState {
    return this.#state;
  }

  /** Absolute. Clients may connect before anybody is there. */
  get socketPath(): string {
    return this.#socket.path;
  }

  /** Returns at once; `onState` tells the rest. Without effect once it was started. Never throws. */
  start(): void {
    if (this.#child !== null || this.#restartTimer !== null || this.#isStopped) return;
    const { problem } = this.#socket;
    if (problem === null) {
      this.#spawn();
      return;
    }
    this.#set({ detail: problem });
    this.#options.logger.warn(
      { event: 'sidecar_not_started', detail: problem },
      'the embedding sidecar has no place for its socket; calls go on without it',
    );
  }

  /** What its client sees of it, whenever that changes. */
  noteReached(isReached: boolean): void {
    this.#isReached = isReached;
    // One that starts is reached by nobody, and has its time from the start.
    if (this.#state.state === 'serving') this.#watch();
  }

  /** Lets it answer what has begun; kills it if that takes too long. Never rejects. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    if (this.#restartTimer !== null) clearTimeout(this.#restartTimer);
    this.#watch();
    // Without a process there is nothing to end.
    if (this.#child?.pid !== undefined) await this.#end(this.#child);
    this.#socket.release();
  }

  async #end(child: ChildProcess): Promise<void> {
    const gone = new Promise<void>((resolve) => child.once('close', () => resolve()));
    child.kill('SIGTERM');
    const timer = setTimeout(() => child.kill('SIGKILL'), STOP_TIMEOUT_MS);
    await gone;
    clearTimeout(timer);
  }

  #spawn(): void {
    const { environment, logger, mainFile = SIDECAR_MAIN_FILE } = this.#options;
    this.#lastReason = null;
    let child: ChildProcess;
    try {
      child = spawn(process.execPath, [mainFile, '--exit-with-stdin'], {
        env: { ...environment, UDS_PATH: this.#socket.path, LOG_LEVEL: childLogLevel(environment.LOG_LEVEL) },
        // Nobody writes to its stdin: the pipe breaks when this process is gone.
        stdio: ['pipe', 'pipe', 'ignore'],
      });
    } catch (error) {
      this.#restartLater((error as NodeJS.ErrnoException).code ?? 'not started');
      return;
    }
    this.#child = child;
    this.#set({ state: 'starting', pid: child.pid ?? null });
    // Out of file descriptors there is neither a process nor a pipe, and an `error` is on its way.
    child.stdin?.on('error', () => {});
    if (child.stdout !== null && child.stdout !== undefined) this.#readLog(child, child.stdout, logger);
    // After its last line has been read.
    child.once('close', (code, signal) => this.#ended(child, signal ?? `status ${code}`));
    child.once('error', (error: NodeJS.ErrnoException) => {
      // Without a process no other event may come.
      if (child.pid === undefined) this.#ended(child, error.code ?? 'not started');
    });
  }

  #readLog(child: ChildProcess, lines: Readable, logger: Logger): void {
    mergeSidecarLog(lines, logger, ({ event, reason }) => {
      if (this.#child !== child) return;
      if (event === 'ready') this.#set({ state: 'serving', detail: null });
      if (event === 'not_started' || event === 'model_died') this.#lastReason = reason;
    });
  }

  #ended(child: ChildProcess, how: string): void {
    if (this.#child !== child) return;
    this.#child = null;
    this.#restartLater(how);
  }

  #restartLater(how: string): void {
    const { state, since_ms } = this.#state;
    const hasServed = state === 'serving';
    const wasSteady = hasServed && this.#options.clock.nowMs() - since_ms >= STEADY_MS;
    this.#failuresInRow = wasSteady ? 1 : this.#failuresInRow + 1;
    const detail = this.#lastReason ?? `ended with ${how}`;
    this.#set({ state: 'down', detail: this.#isStopped ? 'stopped' : detail, pid: null });
    if (this.#isStopped) return;
    const delayMs = Math.min(
      RESTART_FIRST_MS * 2 ** Math.min(this.#failuresInRow - 1, 20),
      hasServed ? RESTART_SERVED_MAX_MS : RESTART_MAX_MS,
    );
    this.#options.logger.warn(
      { event: 'sidecar_ended', detail, how, restart_in_ms: delayMs },
      'the embedding sidecar ended; calls go on without it, and it is started again',
    );
    this.#restartTimer = setTimeout(() => {
      this.#set({ restart_count: this.#state.restart_count + 1 });
      this.#spawn();
    }, delayMs);
    this.#restartTimer.unref();
  }

  #watch(): void {
    const { hungMs = HUNG_MS, startingMs = STARTING_MS } = this.#options;
    const { state } = this.#state;
    if (this.#hungTimer !== null) clearTimeout(this.#hungTimer);
    this.#hungTimer = null;
    if (this.#isStopped) return;
    if (state === 'starting') this.#killAfter(startingMs, `it did not start within ${startingMs / 1_000} s`);
    if (state === 'serving' && this.#isReached === false)
      this.#killAfter(hungMs, `it did not answer for ${hungMs / 1_000} s`);
  }

  #killAfter(ms: number, reason: string): void {
    this.#hungTimer = setTimeout(() => {
      this.#lastReason = reason;
      this.#child?.kill('SIGKILL');
    }, ms);
    this.#hungTimer.unref();
  }

  #set(change: Partial<Omit<SidecarState, 'since_ms'>>): void {
    const isChange = change.state !== undefined && change.state !== this.#state.state;
    const since_ms = isChange ? this.#options.clock.nowMs() : this.#state.since_ms;
    this.#state = { ...this.#state, ...change, since_ms };
    if (isChange) this.#watch();
    this.#options.onState?.(this.#state);
  }
}

/** Its line `ready` must come; what this gateway shows of the child's log is its own logger's level to decide. */
const childLogLevel = (level: string | undefined): string =>
  level !== undefined && /^(trace|debug)$/i.test(level) ? level : 'info';
