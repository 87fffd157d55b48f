/** Where answers are kept, as the environment says; null: nowhere. */
import type { Logger } from 'pino';
import type { LlmCache } from '#contracts';
import { MemoryLlmCache } from '#domain/llm-cache';
import { type Clock, ConfigError, steadyClock } from '#kernel';
import { LLM_CACHE_VARIABLES, type LlmCacheConfig } from '../config/llm-cache-config.js';
import type { GatewaySecrets } from '../config/secrets.js';

/** Redis that is away, hangs or has no room says so with every attempt; the log needs it once a minute. */
const LOG_INTERVAL_MS = 60_000;

/**
 * Connects to nothing yet.
 * @throws ConfigError when Redis is asked for and nobody said where it is
 * @throws Error for a malformed URL of Redis, which it does not repeat
 */
export async function openLlmCache(
  { backend, redisPrefix: keyPrefix, ...bounds }: LlmCacheConfig,
  { redisUrls, secretKey }: Pick<GatewaySecrets, 'redisUrls' | 'secretKey'>,
  { clock, logger }: { clock: Clock; logger: Logger },
): Promise<LlmCache | null> {
  if (backend === 'off') return null;
  if (backend === 'memory' || (backend === 'auto' && redisUrls.length === 0))
    return new MemoryLlmCache({ ...bounds, clock });
  if (redisUrls.length === 0)
    throw new ConfigError(LLM_CACHE_VARIABLES.backend, backend, 'set REDIS_URL as well, or unset it.');
  const { connectRedisAt, RedisLlmCache } = await import('#adapters/redis');
  let loggedMs = Number.NEGATIVE_INFINITY;
  const onFailure = (failure: unknown) => {
    if (steadyClock.steadyMs() - loggedMs < LOG_INTERVAL_MS) return;
    loggedMs = steadyClock.steadyMs();
    logger.warn(
      { event: 'cache_redis_failed', err: failure },
      'Redis fails; the cache misses what it does not give or keep',
    );
  };
  return new RedisLlmCache({
    ...bounds,
    clock,
    keyPrefix,
    ...(secretKey !== null && { secret: secretKey }),
    connection: connectRedisAt(redisUrls, { onError: onFailure, connectionName: 'observatory-llm-cache' }),
    onFailure,
  });
}
