/**
 * An embedder that remembers: one text asked for by the loop check and by the cache costs once, at the same moment or
 * soon after. Texts are known by their hash only; failures are not remembered.
 */
import { hash } from 'node:crypto';
import {
  type Embedder,
  type EmbedderDescription,
  type Embedding,
  EmbeddingFailure,
  type EmbedOptions,
} from '#contracts/embedding';
import { type Clock, TtlLru } from '#kernel';

export interface MemoEmbedderOptions {
  clock: Clock;
  /** Vectors remembered; 1.5 kB each at 384 dimensions. */
  countMax: number;
  /** A vector not asked for in this long is forgotten. Absent: kept until others need its room. */
  idleMs?: number | undefined;
  /** Longer texts are neither hashed nor remembered, since that would cost more than it saves. */
  textCharsMax?: number | undefined;
  /** One call a text: `remembered`, `shared` with a computation under way, `computed`, or `too_long` to remember. */
  onText?: ((outcome: MemoOutcome) => void) | undefined;
}

export type MemoOutcome = 'remembered' | 'shared' | 'computed' | 'too_long';

const TEXT_CHARS_MAX = 65_536;

/** Decorates; `close` closes the embedder behind it. */
export const memoEmbedder = (embedder: Embedder, options: MemoEmbedderOptions): Embedder =>
  new MemoEmbedder(embedder, options);

interface Flight {
  embedding: Promise<Embedding>;
  /** On the monotonic clock; Infinity without a bound. */
  deadlineMs: number;
}

class MemoEmbedder implements Embedder {
  readonly #embedder: Embedder;
  readonly #remembered: TtlLru<string, Embedding>;
  /** By hash; bounded by the queue of the embedder behind. */
  readonly #flights = new Map<string, Flight>();
  readonly #textCharsMax: number;
  readonly #onText: (outcome: MemoOutcome) => void;

  constructor(embedder: Embedder, options: MemoEmbedderOptions) {
    this.#embedder = embedder;
    this.#textCharsMax = options.textCharsMax ?? TEXT_CHARS_MAX;
    this.#onText = options.onText ?? (() => {});
    const { clock, countMax, idleMs = Number.POSITIVE_INFINITY } = options;
    this.#remembered = new TtlLru({ clock, countMax, idleMs });
  }

  get description(): EmbedderDescription {
    return this.#embedder.description;
  }

  get queuedCount(): number {
    return this.#embedder.queuedCount;
  }

  async embed(text: string, options: EmbedOptions = {}): Promise<Embedding> {
    if (text.length > this.#textCharsMax) {
      this.#onText('too_long');
      return this.#embedder.embed(text, options);
    }
    const key = hash('sha256', text, 'base64');
    const remembered = this.#remembered.get(key);
    if (remembered !== undefined) {
      this.#onText('remembered');
      return remembered;
    }
    const flight = this.#flights.get(key);
    this.#onText(flight === undefined ? 'computed' : 'shared');
    const deadlineMs = performance.now() + (options.timeoutMs ?? Number.POSITIVE_INFINITY);
    return flight === undefined
      ? this.#start(key, text, deadlineMs)
      : this.#join(flight, key, text, deadlineMs);
  }

  async close(): Promise<void> {
    this.#remembered.clear();
    await this.#embedder.close();
  }

  #start(key: string, text: string, deadlineMs: number): Promise<Embedding> {
    const timeoutMs = Number.isFinite(deadlineMs) ? deadlineMs - performance.now() : undefined;
    const embedding = this.#embedder.embed(text, { timeoutMs }).then(
      (found) => {
        this.#flights.delete(key);
        this.#remembered.set(key, found);
        return found;
      },
      (error: unknown) => {
        this.#flights.delete(key);
        throw error;
      },
    );
    this.#flights.set(key, { embedding, deadlineMs });
    return embedding;
  }

  /** Waits for another's computation, in the joiner's own time: the other's may be shorter or longer. */
  async #join(flight: Flight, key: string, text: string, deadlineMs: number): Promise<Embedding> {
    try {
      return deadlineMs < flight.deadlineMs
        ? await withinDeadline(flight.embedding, deadlineMs)
        : await flight.embedding;
    } catch (error) {
      const isOthersTime = error instanceof EmbeddingFailure && error.reason === 'expired';
      if (!isOthersTime || performance.now() >= deadlineMs) throw error;
    }
    const next = this.#flights.get(key);
    return next === undefined ? this.#start(key, text, deadlineMs) : this.#join(next, key, text, deadlineMs);
  }
}

function withinDeadline(embedding: Promise<Embedding>, deadlineMs: number): Promise<Embedding> {
  return new Promise((resolve, reject) => {
    const expire = () => reject(new EmbeddingFailure('expired', 'the text was not embedded in time'));
    const timer = setTimeout(expire, Math.max(0, deadlineMs - performance.now()));
    embedding.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
