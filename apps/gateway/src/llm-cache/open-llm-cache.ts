/** Where answers are kept, as the environment says; null: nowhere. */
import type { Logger } from 'pino';
import type { LlmCache } from '#contracts';
import { MemoryLlmCache } from '#domain/llm-cache';
import type { Clock } from '#kernel';
import type { LlmCacheConfig } from '../config/llm-cache-config.js';

export function openLlmCache(
  config: LlmCacheConfig,
  _redisUrl: string | null,
  { clock }: { clock: Clock; logger: Logger },
): LlmCache | null {
  if (config.backend === 'off') return null;
  return new MemoryLlmCache({ clock, ...config });
}
