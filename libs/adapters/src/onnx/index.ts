export type { EmbedderEvent, OnnxEmbedder } from './onnx-embedder.js';
export { type OnnxEmbedderOptions, type OnnxModel, openOnnxEmbedder } from './open-onnx-embedder.js';
