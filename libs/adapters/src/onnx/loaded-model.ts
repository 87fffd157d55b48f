/** What both models are to the thread that serves them. */
import type { EmbedderDescription, Fitness } from '#contracts/embedding';

export interface ModelVector {
  fitness: Fitness;
  /** Unit length when fit, else null. */
  vector: Float32Array | null;
  tokensCount: number;
}

/** Before it has been proven: `dimension` may not be what is described. */
export interface LoadedModel {
  description: EmbedderDescription;
  /** For the text of an error: what was loaded, and what to do if it is wrong. */
  file: string;
  remedy: string;
  /** One at a time. @throws Error that names no text */
  embed(text: string): Promise<ModelVector>;
  release(): Promise<void>;
}
