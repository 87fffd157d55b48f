/**
 * The open database, from the caller's side: the thread that writes, behind its queue, one that folds its log into the
 * database, one that reads, and one that searches, for which nobody else waits.
 * SqliteStore and SqliteProxyStore say what is written and read; this says that it is, and when it no longer can be.
 *
 * @see docs/decisions/0002-group-commit.md
 */
import { ObservatoryError } from '#contracts';
import type { Clock } from '#kernel';
import { Checkpoints } from './checkpoints.js';
import {
  type Durability,
  isSearch,
  type ReadCallName,
  type ReadCalls,
  type ThreadSettings,
} from './protocol.js';
import { ReadQueue } from './read-queue.js';
import type { StoreEvent } from './store-event.js';
import { ThreadLink } from './thread-link.js';
import { WritePump } from './write-pump.js';

const WORKER_URL = new URL(import.meta.resolve('#built/libs/adapters/src/sqlite/sqlite-worker.js'));

/** Reads that are with their thread at once. They are short: about 50 us each. */
const READS_RUNNING_MAX = 32;
/** A search may take a hundred times as long, and each is one that another tenant's waits for. */
const SEARCHES_RUNNING_MAX = 2;

export interface SqliteDatabaseOptions {
  /** The database file, or a link to it; its folder is made if need be, `<file>.lock` is held while open. */
  path: string;
  clock: Clock;
  /** Must not throw. */
  onEvent?: (event: StoreEvent) => void;
  /** Rows queued before steps of their tenant are refused with `store_busy`; of all tenants twice as many. */
  queueCountMax?: number;
  /** Their size in memory, about; of all tenants twice as much. */
  queueBytesMax?: number;
  /** What an acknowledged write survives; `power_loss` costs an fsync per commit. */
  durability?: Durability;
  /** Writes are refused with `store_full` while the file system has less: room for retention to work in. 0 = any. */
  freeBytesMin?: number;
  /** Bound on the database itself, in pages of 4 KiB; reaching it is a full disk. */
  pageCountMax?: number | null;
  /** The built sqlite-worker.js; null runs all of it in the caller's thread, for tests and small tools. */
  workerUrl?: URL | null;
}

interface OpenThreads {
  writer: ThreadLink;
  reads: ReadQueue;
  searches: ReadQueue;
  checkpoints: Checkpoints;
  pump: WritePump;
}

export class SqliteDatabase {
  readonly #options: Required<SqliteDatabaseOptions>;
  #open: OpenThreads | null = null;
  #closing: Promise<void> | null = null;

  constructor(options: SqliteDatabaseOptions) {
    const { workerUrl = WORKER_URL } = options;
    this.#options = {
      path: options.path,
      clock: options.clock,
      onEvent: options.onEvent ?? (() => {}),
      queueCountMax: options.queueCountMax ?? 20_000,
      queueBytesMax: options.queueBytesMax ?? 64 * 1024 * 1024,
      durability: options.durability ?? 'power_loss',
      freeBytesMin: options.freeBytesMin ?? 32 * 1024 * 1024,
      pageCountMax: options.pageCountMax ?? null,
      workerUrl,
    };
  }

  get clock(): Clock {
    return this.#options.clock;
  }

  /** Makes or migrates the file and starts its threads. Rejects with a clear reason. */
  async open(): Promise<void> {
    if (this.#open !== null) throw new Error('the store is open already');
    const { path, durability, freeBytesMin, pageCountMax, workerUrl, onEvent } = this.#options;
    const settings = { path, durability, freeBytesMin, pageCountMax };
    let pump: WritePump | undefined;
    const onDeath = (detail: string) => {
      pump?.stop();
      onEvent({ kind: 'thread_failed', detail });
    };
    const hooks = { onDeath, onEvent };
    const links: Promise<ThreadLink>[] = [];
    const start = (role: ThreadSettings['role']) => {
      const link = ThreadLink.open(workerUrl, { role, ...settings }, hooks);
      links.unshift(link);
      return link;
    };
    try {
      // It makes or migrates what the others open.
      const writer = await start('writer');
      const [reader, searcher, checkpointer] = await Promise.all([
        start('reader'),
        start('searcher'),
        start('checkpointer'),
      ]);
      const onRefused = () => onEvent({ kind: 'read_refused' });
      const reads = new ReadQueue({ link: reader, runningMax: READS_RUNNING_MAX, onRefused });
      const searches = new ReadQueue({ link: searcher, runningMax: SEARCHES_RUNNING_MAX, onRefused });
      // Searches first: they take longer, and ingest waits for the others.
      const beginLogAnew = () =>
        searches.whileIdle(() => reads.whileIdle(() => writer.ask({ kind: 'checkpoint' })));
      const checkpoints = new Checkpoints(checkpointer, beginLogAnew);
      const onCommitted = (bytes: number) => checkpoints.committed(bytes);
      pump = new WritePump({ link: writer, ...this.#options, onCommitted });
      this.#open = { writer, reads, searches, checkpoints, pump };
    } catch (error) {
      for (const link of await Promise.allSettled(links))
        if (link.status === 'fulfilled') await link.value.close();
      throw error;
    }
  }

  /** Commits what is queued. May be called again meanwhile or later: it is closed once. */
  close(): Promise<void> {
    this.#closing ??= this.#close().finally(() => {
      this.#closing = null;
    });
    return this.#closing;
  }

  async #close(): Promise<void> {
    const open = this.#open;
    if (open === null) return;
    await open.pump.drain();
    this.#open = null;
    // The others first: while one looks at an old page, or folds the log itself, it cannot be folded in whole.
    await Promise.all([open.reads.close(), open.searches.close(), open.checkpoints.close()]);
    await open.writer.close();
  }

  get queuedCount(): number {
    return this.#open?.pump.queuedCount ?? 0;
  }

  refusal(tenantId: string): 'store_busy' | 'store_full' | null {
    return this.#open === null ? 'store_busy' : this.#open.pump.refusal(tenantId);
  }

  /** Where writes go. @throws ObservatoryError draining, if the database is not open */
  get pump(): WritePump {
    return this.#opened().pump;
  }

  /** Sees everything acknowledged before it was asked. Rejects with `draining` or `store_busy`. */
  async read<Name extends ReadCallName>(
    name: Name,
    ...args: Parameters<ReadCalls[Name]>
  ): Promise<ReturnType<ReadCalls[Name]>> {
    const { reads, searches } = this.#opened();
    return (isSearch(name) ? searches : reads).ask(name, args);
  }

  #opened(): OpenThreads {
    if (this.#open === null) throw new ObservatoryError('draining');
    return this.#open;
  }
}
