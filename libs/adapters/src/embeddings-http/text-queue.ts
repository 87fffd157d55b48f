/** Texts on their way: accepted, waiting or sent, each settled exactly once. Bounded by count and bytes. */
import { type Embedding, EmbeddingFailure } from '#contracts/embedding';
import { type SteadyClock, TIMER_MS_MAX } from '#kernel';
import { HTTP_EMBEDDER_LIMITS } from './settings.js';

export class QueuedText {
  readonly answer: Promise<Embedding>;
  /** False: answered, failed or expired; nobody waits for it. */
  isOpen = true;
  /** How often it was shortened. */
  cutCount = 0;
  readonly byteCount: number;
  /** By the clock. */
  readonly acceptedMs: number;
  /** By the clock; null: whenever. */
  readonly #expiresAtMs: number | null;
  readonly #timer: NodeJS.Timeout | null = null;
  readonly #listeners: (() => void)[];
  #resolve!: (embedding: Embedding) => void;
  #reject!: (failure: EmbeddingFailure) => void;

  constructor(
    public text: string,
    { timeoutMs, steadyMs, onSettled }: { timeoutMs: number | null; steadyMs: number; onSettled: () => void },
  ) {
    this.byteCount = Buffer.byteLength(text);
    this.#listeners = [onSettled];
    this.answer = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    this.acceptedMs = steadyMs;
    this.#expiresAtMs = timeoutMs === null ? null : steadyMs + timeoutMs;
    if (timeoutMs !== null && timeoutMs <= TIMER_MS_MAX)
      this.#timer = setTimeout(() => this.expire(), timeoutMs);
  }

  /** A timer may come late when the process is busy; the clock does not. */
  expireIfPast(steadyMs: number): void {
    if (this.#expiresAtMs !== null && steadyMs >= this.#expiresAtMs) this.expire();
  }

  expire(): void {
    this.fail(new EmbeddingFailure('expired', 'the time for this text was up'));
  }

  succeed(embedding: Embedding): void {
    if (this.#settle()) this.#resolve(embedding);
  }

  fail(failure: EmbeddingFailure): void {
    if (this.#settle()) this.#reject(failure);
  }

  whenSettled(listener: () => void): void {
    this.#listeners.push(listener);
  }

  #settle(): boolean {
    if (!this.isOpen) return false;
    this.isOpen = false;
    if (this.#timer !== null) clearTimeout(this.#timer);
    for (const listener of this.#listeners) listener();
    return true;
  }
}

export interface TextQueueOptions {
  clock: SteadyClock;
  /** Texts waiting or sent. */
  countMax: number;
  /** Told of each text that is taken how long it has waited for that. */
  onWaited?: ((ms: number) => void) | undefined;
}

export class TextQueue {
  /** In the order they came. */
  readonly #waiting = new Set<QueuedText>();
  readonly #open = new Set<QueuedText>();
  readonly #clock: SteadyClock;
  readonly #countMax: number;
  readonly #onWaited: (ms: number) => void;
  #byteCount = 0;

  constructor({ clock, countMax, onWaited = () => {} }: TextQueueOptions) {
    this.#clock = clock;
    this.#countMax = countMax;
    this.#onWaited = onWaited;
  }

  /** Waiting or sent. */
  get openCount(): number {
    return this.#open.size;
  }

  get waitingCount(): number {
    return this.#waiting.size;
  }

  /** @returns null: no room */
  add(text: string, timeoutMs: number | null): QueuedText | null {
    const { queuedBytesMax } = HTTP_EMBEDDER_LIMITS;
    const entry = new QueuedText(text, {
      timeoutMs,
      steadyMs: this.#clock.steadyMs(),
      onSettled: () => {
        this.#waiting.delete(entry);
        if (this.#open.delete(entry)) this.#byteCount -= entry.byteCount;
      },
    });
    if (this.#open.size >= this.#countMax || this.#byteCount + entry.byteCount > queuedBytesMax) {
      // Never handed out, so nobody hears of it.
      entry.answer.catch(() => {});
      entry.expire();
      return null;
    }
    this.#open.add(entry);
    this.#waiting.add(entry);
    this.#byteCount += entry.byteCount;
    return entry;
  }

  /** The next texts of one request, oldest first, those whose time is up left out; none: nothing waits. */
  take(textsMax: number): QueuedText[] {
    const batch: QueuedText[] = [];
    const steadyMs = this.#clock.steadyMs();
    let byteCount = 0;
    for (const entry of this.#waiting) {
      entry.expireIfPast(steadyMs);
      if (!entry.isOpen) continue;
      byteCount += entry.byteCount;
      if (batch.length >= textsMax) break;
      if (batch.length > 0 && byteCount > HTTP_EMBEDDER_LIMITS.batchBytesMax) break;
      batch.push(entry);
    }
    for (const entry of batch) {
      this.#waiting.delete(entry);
      this.#onWaited(steadyMs - entry.acceptedMs);
    }
    return batch;
  }

  failAll(failure: EmbeddingFailure): void {
    for (const entry of [...this.#open]) entry.fail(failure);
  }
}
