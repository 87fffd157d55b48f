/**
 * An embedder that leaves a server alone which hangs or is away: after a few failures in a row its texts fail at once for a
 * while, where each would have waited for nothing, and then one is let through to look.
 */
import {
  type Embedder,
  type EmbedderDescription,
  type Embedding,
  EmbeddingFailure,
  type EmbedOptions,
} from '#contracts/embedding';
import { Circuit, type SteadyClock } from '#kernel';

const PAUSES = { firstMs: 1_000, maxMs: 30_000 };

/** The server was not asked, because it had failed several times in a row. */
export class LeftAlone extends EmbeddingFailure {
  constructor() {
    super('unavailable', 'the embeddings server failed several times in a row and is left alone for a while');
  }
}

/** Decorates; `close` closes the embedder behind it. */
export const circuitEmbedder = (embedder: Embedder, clock: SteadyClock): Embedder =>
  new CircuitEmbedder(embedder, clock);

class CircuitEmbedder implements Embedder {
  readonly #embedder: Embedder;
  readonly #circuit: Circuit;

  constructor(embedder: Embedder, clock: SteadyClock) {
    this.#embedder = embedder;
    this.#circuit = new Circuit(clock, PAUSES);
  }

  get description(): EmbedderDescription {
    return this.#embedder.description;
  }

  get queuedCount(): number {
    return this.#embedder.queuedCount;
  }

  async embed(text: string, options?: EmbedOptions): Promise<Embedding> {
    if (!this.#circuit.mayAsk()) throw new LeftAlone();
    try {
      const embedding = await this.#embedder.embed(text, options);
      this.#circuit.succeeded();
      return embedding;
    } catch (error) {
      // It answers, if not with a vector.
      if (error instanceof EmbeddingFailure && error.reason === 'failed') this.#circuit.succeeded();
      else this.#circuit.failed();
      throw error;
    }
  }

  close(): Promise<void> {
    return this.#embedder.close();
  }
}
