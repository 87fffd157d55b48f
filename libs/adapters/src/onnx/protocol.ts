/** What crosses between the embedder and its thread: plain values only. Texts go in, never out. */
import type { EmbedderDescription, Fitness } from '#contracts/embedding';
import type { GateWord } from './run-gate.js';

export interface StaticModelSettings {
  kind: 'static';
  /** Folder with the model and its manifest.json. */
  directory: string;
}

export interface MinilmModelSettings {
  kind: 'minilm';
  /** Folder with the model's file and tokenizer.json, or the path of the .onnx file in such a folder. */
  path: string;
}

export type ModelSettings = StaticModelSettings | MinilmModelSettings;

/** What the thread is started with. */
export interface WorkerData {
  settings: ModelSettings;
  gate: GateWord;
}

export interface InferenceText {
  /** Its answer comes under this. */
  id: number;
  text: string;
}

export type InferenceRequest = ({ kind: 'embed' } & InferenceText) | { kind: 'close' };

export interface InferenceFigures {
  /** Tokens or features that the model was given. */
  tokensCount: number;
  /** Of tokenising and the model together. */
  computeMs: number;
}

export type InferenceAnswer =
  | { kind: 'opened'; description: EmbedderDescription }
  /** The model cannot be used; `detail` is for the person who started the process. */
  | { kind: 'unopened'; detail: string }
  | TextAnswer;

export type TextAnswer =
  | ({ kind: 'embedded'; id: number; fitness: Fitness; vector: Float32Array | null } & InferenceFigures)
  /** `detail` never holds the text. */
  | { kind: 'failed'; id: number; detail: string };
