/**
 * Calls on their way to the store and to those who watch. Many calls share one write; a store that refuses keeps no
 * caller waiting: calls wait for it to have room again, and what does not fit any more is dropped and counted.
 */
import {
  type CallRow,
  type DocumentChange,
  type LivePublisher,
  type LlmCall,
  type ProxyStore,
  TOPICS,
} from '#contracts';
import { systemTimer } from '#kernel';
import { FairShare } from '../../fair-share.js';
import { hasNoRoomYet } from '../../has-no-room-yet.js';
import { lastAttempts } from '../../last-attempts.js';

const FLUSH_INTERVAL_MS = 100;
/** After a refusal. */
const RETRY_INTERVAL_MS = 1_000;
/** Written in one go. */
const BATCH_COUNT_MAX = 1_000;
/** Waiting for the store, half of them of one tenant; more are dropped. */
const WAITING_COUNT_MAX = 20_000;
/** Of one batch and tenant, shown live: a page that shows hundreds a second shows nothing. The list reads the rest. */
const LIVE_COUNT_MAX = 20;

export interface CallLogParts {
  store: Pick<ProxyStore, 'appendCalls'>;
  live: LivePublisher;
  onDropped: (count: number, error: unknown) => void;
}

export class CallLog {
  readonly #parts: CallLogParts;
  #waiting: CallRow[] = [];
  /** Taken until a call is written, or given up. */
  readonly #room = new FairShare({ max: WAITING_COUNT_MAX, onFull: () => (this.#untoldCount += 1) });
  /** Dropped since it was last told: told once a write, for there may be hundreds a second. */
  #untoldCount = 0;
  #timer: NodeJS.Timeout | null = null;
  /** Ends with what is written at the moment, and what is to be written after it. */
  #writing: Promise<void> = Promise.resolve();

  constructor(parts: CallLogParts) {
    this.#parts = parts;
  }

  get waitingCount(): number {
    return this.#waiting.length;
  }

  /** @param spentAtMs as `CallRow.spent_at_ms`; and `documents` as there */
  add(tenantId: string, call: LlmCall, spentAtMs?: number, documents: DocumentChange | null = null): void {
    if (this.#room.take(tenantId, 1))
      this.#waiting.push({
        tenant_id: tenantId,
        call,
        spent_at_ms: spentAtMs,
        documents: documents ?? undefined,
      });
    this.#flushIn(FLUSH_INTERVAL_MS);
  }

  /** Resolves when what waits now is written, given up, or refused for the moment, whatever comes meanwhile. Never rejects. */
  flush(): Promise<void> {
    const count = this.#waiting.length;
    this.#writing = this.#writing.then(() => this.#writeOldest(count));
    return this.#writing;
  }

  /** After the last call: what waits is written, or given up. Never rejects. */
  async close(): Promise<void> {
    await lastAttempts(systemTimer, async () => {
      await this.flush();
      return this.#waiting.length === 0;
    });
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#untoldCount += this.#waiting.splice(0).length;
    this.#tellDropped(null);
  }

  #flushIn(ms: number): void {
    if (this.#timer !== null) return;
    this.#timer = setTimeout(() => {
      this.#timer = null;
      void this.flush();
    }, ms);
    this.#timer.unref();
  }

  async #writeOldest(count: number): Promise<void> {
    this.#tellDropped(null);
    for (let left = count; left > 0 && this.#waiting.length > 0; left -= BATCH_COUNT_MAX)
      if (!(await this.#write(this.#waiting.splice(0, BATCH_COUNT_MAX)))) return;
  }

  /** @returns false if the store has no room for the moment: they wait on, before what came since */
  async #write(rows: CallRow[]): Promise<boolean> {
    try {
      const seqs = await this.#parts.store.appendCalls(rows);
      rows.forEach(({ call }, at) => {
        call.seq = seqs[at] ?? 0;
      });
      this.#leave(rows);
      for (const { tenant_id, call } of latestOfEach(rows))
        this.#parts.live.publish(tenant_id, TOPICS.calls, call);
      return true;
    } catch (error) {
      const waits = hasNoRoomYet(error);
      if (waits) {
        this.#waiting = [...rows, ...this.#waiting];
        this.#flushIn(RETRY_INTERVAL_MS);
      } else {
        this.#leave(rows);
        this.#untoldCount += rows.length;
      }
      this.#tellDropped(error);
      return !waits;
    }
  }

  #leave(rows: readonly CallRow[]): void {
    for (const { tenant_id } of rows) this.#room.giveBack(tenant_id, 1);
  }

  #tellDropped(error: unknown): void {
    if (this.#untoldCount > 0) this.#parts.onDropped(this.#untoldCount, error);
    this.#untoldCount = 0;
  }
}

/** Of every tenant the latest that are shown, in their order. */
function latestOfEach(rows: readonly CallRow[]): CallRow[] {
  const counts = new Map<string, number>();
  const isLatest = ({ tenant_id }: CallRow) => {
    const count = (counts.get(tenant_id) ?? 0) + 1;
    counts.set(tenant_id, count);
    return count <= LIVE_COUNT_MAX;
  };
  return rows.toReversed().filter(isLatest).reverse();
}
