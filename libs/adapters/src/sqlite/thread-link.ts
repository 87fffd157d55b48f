/**
 * The client's end of one database thread: requests out, answers back, each matched by its id. A thread that dies
 * rejects all that it still owed and everything asked of it later.
 */
import { Worker } from 'node:worker_threads';
import { type DatabaseThread, openDatabaseThread } from './database-thread.js';
import {
  OPENED_ID,
  type ThreadAnswer,
  type ThreadNotice,
  type ThreadRequest,
  type ThreadSettings,
} from './protocol.js';
import type { StoreEvent } from './store-event.js';
import { ThreadError } from './thread-failure.js';

/** Request without its id, which the link gives. */
export type ThreadQuestion = ThreadRequest extends infer Request
  ? Request extends { id: number }
    ? Omit<Request, 'id'>
    : never
  : never;

interface Waiter {
  resolve(answer: { result: unknown; durationMs: number }): void;
  reject(error: Error): void;
}

export interface ThreadHooks {
  /** Called once, if the thread ends unasked after it was opened. */
  onDeath: (reason: string) => void;
  /** What the thread says unasked. Must not throw. */
  onEvent: (event: StoreEvent) => void;
}

/** Where requests go: a worker, or this very thread. */
interface ThreadHost {
  post(request: ThreadRequest): void;
  /** Resolves when nothing of it is left. */
  end(): Promise<void>;
}

export class ThreadLink {
  readonly #host: ThreadHost;
  readonly #waiters = new Map<number, Waiter>();
  readonly #onDeath: (reason: string) => void;
  #nextId = OPENED_ID + 1;
  #closing = false;
  #deathReason: string | null = null;

  private constructor(
    makeHost: (onAnswer: (answer: ThreadAnswer) => void, onDeath: (reason: string) => void) => ThreadHost,
    onDeath: (reason: string) => void,
  ) {
    this.#onDeath = onDeath;
    this.#host = makeHost(
      (answer) => this.#settle(answer),
      (reason) => this.#die(reason),
    );
  }

  /**
   * @param workerUrl the built sqlite-worker.js; null = in this thread
   * @throws Error with a reason, if the database cannot be opened
   */
  static async open(
    workerUrl: URL | null,
    settings: ThreadSettings,
    { onDeath, onEvent }: ThreadHooks,
  ): Promise<ThreadLink> {
    if (workerUrl === null) {
      const thread = openDatabaseThread(settings, onEvent);
      return new ThreadLink((onAnswer) => hostHere(thread, onAnswer), onDeath);
    }
    let link: ThreadLink | undefined;
    await new Promise<void>((resolve, reject) => {
      link = new ThreadLink((onAnswer, onEnd) => {
        const onMessage = (message: ThreadAnswer | ThreadNotice) =>
          'event' in message ? onEvent(message.event) : onAnswer(message);
        return hostInWorker(workerUrl, settings, onMessage, onEnd);
      }, onDeath);
      const opening = link;
      opening.#waiters.set(OPENED_ID, {
        resolve: () => resolve(),
        reject(error) {
          // In this very turn: its end may be told in the same one.
          opening.#closing = true;
          reject(error);
        },
      });
    }).catch(async (error) => {
      if (link) await link.#abandon();
      throw new Error(error instanceof Error ? error.message : String(error));
    });
    return link as ThreadLink;
  }

  /** @throws ThreadError with the thread's reason; Error if the thread is gone */
  ask(question: ThreadQuestion): Promise<{ result: unknown; durationMs: number }> {
    if (this.#deathReason !== null) return Promise.reject(new Error(this.#deathReason));
    const id = this.#nextId;
    this.#nextId += 1;
    return new Promise((resolve, reject) => {
      this.#waiters.set(id, { resolve, reject });
      // The other way round each request would get a hidden class of its own, which takes microseconds.
      this.#host.post({ id, ...question } as ThreadRequest);
    });
  }

  /** After everything asked before; resolves when the thread is gone. */
  async close(): Promise<void> {
    if (this.#deathReason !== null) return;
    this.#closing = true;
    try {
      await this.ask({ kind: 'close' });
    } finally {
      await this.#abandon();
    }
  }

  async #abandon(): Promise<void> {
    this.#closing = true;
    await this.#host.end();
    this.#deathReason ??= 'the store is closed';
  }

  #settle(answer: ThreadAnswer): void {
    const waiter = this.#waiters.get(answer.id);
    this.#waiters.delete(answer.id);
    if (answer.ok) waiter?.resolve(answer);
    else waiter?.reject(new ThreadError(answer.failure));
  }

  #die(reason: string): void {
    if (this.#deathReason !== null) return;
    this.#deathReason = reason;
    for (const waiter of this.#waiters.values()) waiter.reject(new Error(reason));
    this.#waiters.clear();
    if (!this.#closing) this.#onDeath(reason);
  }
}

function hostInWorker(
  workerUrl: URL,
  settings: ThreadSettings,
  onMessage: (message: ThreadAnswer | ThreadNotice) => void,
  onDeath: (reason: string) => void,
): ThreadHost {
  const worker = startWorker(workerUrl, settings);
  worker.on('message', onMessage);
  worker.on('error', (error) => onDeath(`the store's ${settings.role} thread failed: ${error.message}`));
  worker.on('exit', (code) => onDeath(`the store's ${settings.role} thread ended (${code})`));
  return {
    post: (request) => worker.postMessage(request),
    end: async () => {
      await worker.terminate();
    },
  };
}

/** @throws Error with what to do, where the user or the container may have no more threads */
function startWorker(workerUrl: URL, settings: ThreadSettings): Worker {
  try {
    return new Worker(workerUrl, {
      workerData: settings,
      name: `sqlite-${settings.role}`,
      // The worker is built, also where its caller runs from the sources under another loader.
      execArgv: [],
    });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_WORKER_INIT_FAILED') throw error;
    throw new Error(
      `the system gives the store no ${settings.role} thread (${(error as Error).message}): ` +
        'raise the number of processes that this user or container may have',
    );
  }
}

/** Answers later, as a thread would, and clones, so that what cannot cross a thread fails here too. */
function hostHere(thread: DatabaseThread, onAnswer: (answer: ThreadAnswer) => void): ThreadHost {
  return {
    post: (request) => {
      const cloned = structuredClone(request);
      setImmediate(() => onAnswer(structuredClone(thread(cloned))));
    },
    end: async () => {},
  };
}
