/** Which cache a gateway has, as its settings say. */
import type { CacheBackend, LlmCache } from '#contracts';
import { MemoryLlmCache } from '#domain/llm-cache';
import type { Clock } from '#kernel';
import { type ConnectRedisOptions, connectRedis, connectRedisCluster } from '../connect-redis.js';
import { RedisLlmCache } from './redis-llm-cache.js';

export interface LlmCacheSettings {
  /** `auto`: Redis when there is a URL of one, else memory. */
  backend: CacheBackend;
  /** One URL, or those of a cluster's nodes with commas between them. */
  redisUrl: string | null;
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
  { backend, redisUrl, ...settings }: LlmCacheSettings,
  { clock, onError }: { clock: Clock; onError: ConnectRedisOptions['onError'] },
): LlmCache | null {
  if (backend === 'off') return null;
  const urls = (redisUrl ?? '').split(',').flatMap((url) => (url.trim() === '' ? [] : [url.trim()]));
  const [first] = urls;
  if (backend === 'memory' || (backend === 'auto' && first === undefined))
    return new MemoryLlmCache({ ...settings, clock });
  if (first === undefined) throw new Error('The LLM cache is to be in Redis, and REDIS_URL is not set');
  const options = { onError, connectionName: 'observatory-llm-cache' };
  const connection = urls.length > 1 ? connectRedisCluster(urls, options) : connectRedis(first, options);
  return new RedisLlmCache({ ...settings, clock, connection, onFailure: onError });
}
