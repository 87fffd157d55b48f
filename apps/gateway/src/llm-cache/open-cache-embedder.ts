/** The embeddings API that the environment names for the cache: opened, which asks it for its dimension. */
import { HttpEmbedder } from '#adapters/embeddings-http';
import type { Embedder } from '#contracts';
import type { CacheEmbeddingConfig } from '../config/llm-cache-config.js';

/** @throws EmbeddingFailure when it cannot be reached or refuses */
export const openCacheEmbedder = (
  { model, baseUrl }: CacheEmbeddingConfig,
  apiKey: string | null,
): Promise<Embedder> => HttpEmbedder.open({ baseUrl, model, apiKey });
