/** Which cache a gateway has, as its settings say. */
import type { CacheBackend, LlmCache } from '#contracts';
import { MemoryLlmCache } from '#domain/llm-cache';
import type { Clock } from '#kernel';
import { type ConnectRedisOptions, connectRedisAt } from '../connect-redis.js';
import { RedisLlmCache } from './redis-llm-cache.js';

export interface LlmCacheSettings {
  /** `auto`: Redis when there is a URL of one, else memory. */
  backend: CacheBackend;
  /** @see connectRedisAt */
  redisUrls: readonly string[];
  entriesMax: number;
  bytesMax: number;
  exactTtlMs: number;
  semanticTtlMs: number;
  keyPrefix?: string;
  /** Shared by all gateways; see RedisLlmCache. */
  secret?: string;
}

/**
 * Null: there is to be none. Connects to nothing yet.
 * @param onError of the connection to Redis, and of each request of it; safe to log
 * @throws Error when `redis` is asked for without a URL, or with a malformed one, which it does not repeat
 */
export function createLlmCache(
  { backend, redisUrls, ...settings }: LlmCacheSettings,
  { clock, onError }: { clock: Clock; onError: ConnectRedisOptions['onError'] },
): LlmCache | null {
  if (backend === 'off') return null;
  if (backend === 'memory' || (backend === 'auto' && redisUrls.length === 0))
    return new MemoryLlmCache({ ...settings, clock });
  if (redisUrls.length === 0) throw new Error('The LLM cache is to be in Redis, and REDIS_URL is not set');
  const connection = connectRedisAt(redisUrls, { onError, connectionName: 'observatory-llm-cache' });
  return new RedisLlmCache({ ...settings, clock, connection, onFailure: onError });
}
