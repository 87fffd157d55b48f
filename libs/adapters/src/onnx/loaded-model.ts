/** What both models are to the queue in front of them. */
import type { EmbedderDescription, Fitness } from '#contracts/embedding';

export type OnnxModel =
  /** The bundled one. @param directory another copy of it; absent: models/observatory-static-384 */
  | { kind: 'static'; directory?: string | undefined }
  /** @param path folder with model and tokenizer.json, or the .onnx file in such a folder */
  | { kind: 'minilm'; path: string };

export interface ModelVector {
  fitness: Fitness;
  /** Unit length when fit, else null. */
  vector: Float32Array | null;
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
