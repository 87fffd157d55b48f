/** Text in, unit vector out. */
import type { Cosine, LoopSimilarity } from '../similarity.js';

export interface EmbedderDescription {
  /** Names the vectors: those of two models are never compared. */
  model_id: string;
  dimension: number;
  /** Longer text is cut, as its model card says. */
  tokens_max: number;
  /** Exclusive. What this model needs to call two prompts the same. */
  loopWhenSimilarityAbove: LoopSimilarity;
  /** Inclusive. What this model needs to answer one question with another's answer. */
  hitWhenCosineAtLeast: Cosine;
  /** It sees words rather than meaning: likeness counts only past the strict lexical gate. */
  needsStrictGate: boolean;
}

export type Fitness = 'fit' | 'empty' | 'unknown_tokens';

export type Embedding =
  /** Unit length, `dimension` numbers. Not to be written to: it may be shared. */
  | { fitness: 'fit'; vector: Float32Array }
  /** `empty`: nothing the model has a feature for. `unknown_tokens`: mostly words it does not know. */
  | { fitness: 'empty' | 'unknown_tokens'; vector: null };

/** `busy`: the queue is full. `expired`: the caller's time was up. `unavailable`: closed, or not to be reached. */
export type EmbeddingFailureReason = 'busy' | 'expired' | 'failed' | 'unavailable';

/** Never holds the text. */
export class EmbeddingFailure extends Error {
  override readonly name = 'EmbeddingFailure';

  constructor(
    readonly reason: EmbeddingFailureReason,
    message: string,
  ) {
    super(message);
  }
}

export interface EmbedOptions {
  /** Past it the text is not computed any more, and the promise rejects as `expired`. Absent: no bound. */
  timeoutMs?: number | undefined;
}

export interface Embedder {
  /** Fixed once the embedder has been opened. */
  readonly description: EmbedderDescription;
  /** Texts accepted and not yet computed. */
  readonly queuedCount: number;
  /** @throws EmbeddingFailure */
  embed(text: string, options?: EmbedOptions): Promise<Embedding>;
  close(): Promise<void>;
}
