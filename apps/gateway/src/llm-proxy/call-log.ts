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
  #writing: Promise<void> | null = null;

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

  /** Resolves when what waited at the time is written or given up. Never rejects. */
  async flush(): Promise<void> {
    await this.#writing;
    if (this.#waiting.length === 0) return;
    const rows = this.#waiting.splice(0, BATCH_COUNT_MAX);
    this.#writing = this.#write(rows);
    await this.#writing;
    this.#writing = null;
    if (this.#waiting.length > 0) await this.flush();
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
