export { DimensionChanged } from './dimension-changed.js';
export { embeddingsUrl } from './embeddings-url.js';
export * from './http-embedder.js';
export {
  HTTP_EMBEDDER_LIMITS,
  type HttpEmbedderSettings,
} from './settings.js';
