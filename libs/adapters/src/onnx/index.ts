export type { OnnxModel } from './loaded-model.js';
export { type OnnxEmbedderOptions, openOnnxEmbedder } from './open-onnx-embedder.js';
