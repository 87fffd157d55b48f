/**
 * Has the write-ahead log folded into the database by a thread of its own, piece by piece as it grows: the writer would
 * stop for the copying and for an fsync of the database, and every commit would wait for both. The log begins anew only where
 * nobody reads from it. Where reads follow each other without a gap it would grow for ever, so they are made to leave one.
 */
import { LOG_PAGES_MAX } from './database-file.js';
import type { ThreadLink } from './thread-link.js';

/** Of the log, about. Each piece costs an fsync, and pages that are written again meanwhile are copied once more. */
const PIECE_BYTES = 4 * 1024 * 1024;
/** What a commit writes beside its rows: a page of each table, and the ways to them. */
const COMMIT_BYTES = 16 * 1024;

export class Checkpoints {
  readonly #link: Pick<ThreadLink, 'ask' | 'close'>;
  readonly #beginLogAnew: () => Promise<void>;
  #bytes = 0;
  #isUnderWay = false;

  /** @param beginLogAnew called where the log is longer than it should ever be */
  constructor(link: Pick<ThreadLink, 'ask' | 'close'>, beginLogAnew: () => Promise<void>) {
    this.#link = link;
    this.#beginLogAnew = beginLogAnew;
  }

  /** To be called after every commit. @param bytes of its rows, about */
  committed(bytes: number): void {
    this.#bytes += bytes + COMMIT_BYTES;
    if (this.#bytes >= PIECE_BYTES && !this.#isUnderWay) void this.#fold();
  }

  /** Resolves when the thread is gone. */
  close(): Promise<void> {
    return this.#link.close();
  }

  async #fold(): Promise<void> {
    this.#bytes = 0;
    this.#isUnderWay = true;
    try {
      const { result: logPages } = await this.#link.ask({ kind: 'checkpoint' });
      if ((logPages as number) > LOG_PAGES_MAX) await this.#beginLogAnew();
    } catch {
      // What stays in the log is folded in by the writer, which also tells what is wrong with the file.
    } finally {
      this.#isUnderWay = false;
    }
  }
}
