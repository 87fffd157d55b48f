/**
 * Calls on their way to the store and to those who watch. Many calls share one write; a store that refuses keeps no
 * caller waiting: what does not fit any more is dropped and counted.
 */
import { type CallRow, type LivePublisher, type LlmCall, type ProxyStore, TOPICS } from '#contracts';

const FLUSH_INTERVAL_MS = 100;
/** Written in one go. */
const BATCH_COUNT_MAX = 1_000;
/** Waiting for the store; more are dropped. */
const WAITING_COUNT_MAX = 20_000;
/** Of one batch, shown live: a page that shows hundreds a second shows nothing. The list reads the rest. */
const LIVE_COUNT_MAX = 20;

export interface CallLogParts {
  store: Pick<ProxyStore, 'appendCalls'>;
  live: LivePublisher;
  onDropped: (count: number, error: unknown) => void;
}

export class CallLog {
  readonly #parts: CallLogParts;
  #waiting: CallRow[] = [];
  #timer: NodeJS.Timeout | null = null;
  /** Ends with what is written at the moment, and what is to be written after it. */
  #writing: Promise<void> = Promise.resolve();

  constructor(parts: CallLogParts) {
    this.#parts = parts;
  }

  get waitingCount(): number {
    return this.#waiting.length;
  }

  add(tenantId: string, call: LlmCall): void {
    if (this.#waiting.length >= WAITING_COUNT_MAX) {
      this.#parts.onDropped(1, null);
      return;
    }
    this.#waiting.push({ tenant_id: tenantId, call });
    if (this.#timer === null) {
      this.#timer = setTimeout(() => {
        this.#timer = null;
        void this.flush();
      }, FLUSH_INTERVAL_MS);
      this.#timer.unref();
    }
  }

  /** Resolves when what waits now is written or given up, whatever comes meanwhile. Never rejects. */
  flush(): Promise<void> {
    const count = this.#waiting.length;
    this.#writing = this.#writing.then(() => this.#writeOldest(count));
    return this.#writing;
  }

  async #writeOldest(count: number): Promise<void> {
    for (let left = count; left > 0 && this.#waiting.length > 0; left -= BATCH_COUNT_MAX)
      await this.#write(this.#waiting.splice(0, BATCH_COUNT_MAX));
  }

  async #write(rows: CallRow[]): Promise<void> {
    try {
      const seqs = await this.#parts.store.appendCalls(rows);
      rows.forEach(({ call }, at) => {
        call.seq = seqs[at] ?? 0;
      });
      for (const { tenant_id, call } of rows.slice(-LIVE_COUNT_MAX))
        this.#parts.live.publish(tenant_id, TOPICS.calls, call);
    } catch (error) {
      this.#parts.onDropped(rows.length, error);
    }
  }
}
