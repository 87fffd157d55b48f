/** Where the cache gets its vectors: the sidecar that the semantic loop shares, or an embeddings API of one's own. */
import { DimensionChanged } from '#adapters/embeddings-http';
import type { CacheVector, Cosine, Embedder, EmbeddingService } from '#contracts';
import { circuitEmbedder, LeftAlone } from '#domain/embedding';
import type { Clock } from '#kernel';
import type { ProxyCall } from '../llm-proxy/proxy-call.js';

/** A sidecar that is asked what it is may take this much longer than for a text. */
const DESCRIBE_PATIENCE = 10;

export interface EmbeddingModel {
  model_id: string;
  hitWhenCosineAtLeast: Cosine;
}

export interface CacheEmbedder {
  /** Null: not known yet, or not any more. */
  readonly model: EmbeddingModel | null;
  /** For who looks before the first text came: asks now where it is not known. Null: nobody answers. Never rejects. */
  describe(): Promise<EmbeddingModel | null>;
  /**
   * Null: the text has none, or nobody answers in time. Never rejects.
   *
   * @param call which waits for it; null: none does
   */
  embed(text: string, call: WaitingCall | null): Promise<CacheVector | null>;
  close(): Promise<void>;
}

type WaitingCall = Pick<ProxyCall, 'traceParent' | 'isSidecarLate'>;

/** The sidecar's model may change when it is started anew: what it is, is asked whenever a vector names another. */
export class SidecarCacheEmbedder implements CacheEmbedder {
  model: EmbeddingModel | null = null;
  readonly #service: EmbeddingService;
  readonly #timeoutMs: number;
  readonly #onFailed: (error: unknown) => void;
  #asking: Promise<void> | null = null;

  /** @param timeoutMs past it a look-up goes on without a semantic match */
  constructor(service: EmbeddingService, timeoutMs: number, onFailed: (error: unknown) => void) {
    this.#service = service;
    this.#timeoutMs = timeoutMs;
    this.#onFailed = onFailed;
  }

  async describe(): Promise<EmbeddingModel | null> {
    if (!this.#service.isReady) return null;
    if (this.model === null) await this.#learn().catch(() => {});
    return this.model;
  }

  async embed(text: string, call: WaitingCall | null): Promise<CacheVector | null> {
    // The loop check of this call has waited for it in vain, and counted that.
    if (call?.isSidecarLate) return null;
    if (!this.#service.isReady) {
      this.#onFailed(new Error('the embedding sidecar is away'));
      return null;
    }
    try {
      const traceParent = call?.traceParent ?? null;
      const embedding = await this.#service.embed(text, { timeoutMs: this.#timeoutMs, traceParent });
      if (embedding.vector === null) return null;
      if (this.model?.model_id !== embedding.model_id) {
        await this.#learn();
        // `learn` changes it; a vector of yet another model is nobody's.
        if ((this.model as EmbeddingModel | null)?.model_id !== embedding.model_id) return null;
      }
      return { model_id: embedding.model_id, values: embedding.vector };
    } catch (error) {
      this.#onFailed(error);
      return null;
    }
  }

  /** The service is its owner's to close. */
  async close(): Promise<void> {}

  #learn(): Promise<void> {
    this.#asking ??= this.#service
      .describe({ timeoutMs: DESCRIBE_PATIENCE * this.#timeoutMs, traceParent: null })
      .then(({ model_id, hitWhenCosineAtLeast }) => {
        this.model = { model_id, hitWhenCosineAtLeast };
      })
      .finally(() => {
        this.#asking = null;
      });
    return this.#asking;
  }
}

/**
 * An embedder of this process. It is opened behind the gateway's back, since it may be slow or away at the start, and
 * tried again when it is next needed; also when its server has another model by now, whose vectors meet no older ones. A
 * server that hangs is left alone for a while, since each miss would wait for it.
 */
export class OwnCacheEmbedder implements CacheEmbedder {
  #embedder: Embedder | null = null;
  #opening: Promise<void> | null = null;
  #triedMs = Number.NEGATIVE_INFINITY;
  readonly #open: () => Promise<Embedder>;
  readonly #clock: Clock;
  readonly #told: OwnEmbedderEvents;

  constructor(open: () => Promise<Embedder>, clock: Clock, told: OwnEmbedderEvents) {
    this.#open = open;
    this.#clock = clock;
    this.#told = told;
    this.#tryToOpen();
  }

  get model(): EmbeddingModel | null {
    return this.#embedder?.description ?? null;
  }

  async describe(): Promise<EmbeddingModel | null> {
    if (this.#embedder === null) this.#tryToOpen();
    return this.model;
  }

  async embed(text: string): Promise<CacheVector | null> {
    const embedder = this.#embedder;
    if (embedder === null) {
      this.#tryToOpen();
      return null;
    }
    try {
      const { vector } = await embedder.embed(text, { timeoutMs: OWN_EMBED_WAIT_MS });
      return vector === null ? null : { model_id: embedder.description.model_id, values: vector };
    } catch (error) {
      if (error instanceof LeftAlone) this.#told.onLeftAlone();
      else this.#told.onFailed(error);
      if (error instanceof DimensionChanged && embedder === this.#embedder) this.#tryToOpen();
      return null;
    }
  }

  /** An API that is still being opened is left to itself: it may take its time. */
  async close(): Promise<void> {
    await this.#embedder?.close();
  }

  #tryToOpen(): void {
    const nowMs = performance.now();
    if (this.#opening !== null || nowMs - this.#triedMs < OPEN_AGAIN_MS) return;
    this.#triedMs = nowMs;
    this.#opening = this.#open()
      .then((embedder) => {
        const before = this.#embedder;
        this.#embedder = circuitEmbedder(embedder, this.#clock);
        return before?.close();
      })
      .catch(this.#told.onFailed)
      .finally(() => {
        this.#opening = null;
      });
  }
}

export interface OwnEmbedderEvents {
  onFailed: (error: unknown) => void;
  /** A text has no vector because the server failed several times in a row. */
  onLeftAlone: () => void;
}

/** An API over the network takes longer than a socket beside us, and still less than an answer. */
const OWN_EMBED_WAIT_MS = 250;
const OPEN_AGAIN_MS = 10_000;
