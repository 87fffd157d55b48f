/**
 * Writes deliveries down, at once and in as many writes as it takes: none waits for an attempt to end. What the store
 * refuses is written again until it is taken; each is published once it is on disk.
 */
import { type AlertDelivery, type LivePublisher, type ProxyStore, TOPICS } from '#contracts';
import { BackgroundWork, type Timer } from '#kernel';
import { lastAttempts } from '../last-attempts.js';
import type { AlertTelemetry } from './alert-telemetry.js';
import type { Entry } from './delivery-lane.js';

/** The store refused a write: it is tried again after this. */
const WRITE_AGAIN_MS = 5_000;

export interface DeliveryWriterOptions {
  store: Pick<ProxyStore, 'saveDelivery'>;
  live: LivePublisher;
  timer: Timer;
  telemetry: AlertTelemetry;
  /** The store holds what the delivery says. */
  onWritten(entry: Entry): void;
}

export class DeliveryWriter {
  readonly #options: DeliveryWriterOptions;
  readonly #writing = new BackgroundWork();
  /** What the store does not hold yet: being written, or refused. */
  readonly #unwritten = new Set<Entry>();
  #cancelAgain: (() => void) | null = null;
  /** The store refused the latest write. */
  #isRefused = false;
  #isStopped = false;

  constructor(options: DeliveryWriterOptions) {
    this.#options = options;
  }

  get isRefused(): boolean {
    return this.#isRefused;
  }

  /** Resolves once it is written or refused for now. Never rejects. The delivery must not change meanwhile. */
  write(entry: Entry): Promise<void> {
    entry.isSaved = false;
    entry.isWriting = true;
    this.#unwritten.add(entry);
    return this.#writing.add(this.#write(entry));
  }

  /** The deliveries that would be lost if the process ended now. */
  *neverWritten(): Generator<AlertDelivery> {
    for (const { delivery } of this.#unwritten) if (delivery.seq === 0) yield delivery;
  }

  /** What was refused is tried a few times more; resolves when no write is under way. Never rejects. */
  finish(): Promise<void> {
    return lastAttempts(this.#options.timer, async () => {
      this.#writeRefused();
      while (this.#writing.size > 0) await this.#writing.settled();
      return this.#unwritten.size === 0;
    });
  }

  /** From now on nothing is written again by itself. */
  stop(): void {
    this.#isStopped = true;
    this.#cancelAgain?.();
  }

  async #write(entry: Entry): Promise<void> {
    const { store, live, telemetry, onWritten } = this.#options;
    const { delivery } = entry;
    try {
      delivery.seq = await store.saveDelivery(delivery);
    } catch (error) {
      entry.isWriting = false;
      this.#isRefused = true;
      telemetry.storeFailed('delivery', error);
      this.#armAgain();
      return;
    }
    Object.assign(entry, { isWriting: false, isSaved: true });
    this.#isRefused = false;
    this.#unwritten.delete(entry);
    live.publish(delivery.notice.tenant_id, TOPICS.deliveries, structuredClone(delivery));
    onWritten(entry);
  }

  #armAgain(): void {
    if (this.#cancelAgain !== null || this.#isStopped) return;
    this.#cancelAgain = this.#options.timer.after(WRITE_AGAIN_MS, () => {
      this.#cancelAgain = null;
      this.#writeRefused();
    });
  }

  #writeRefused(): void {
    for (const entry of [...this.#unwritten]) if (!entry.isWriting) void this.write(entry);
  }
}
