/** Where answers are kept, as the environment says; null: nowhere. */
import type { Logger } from 'pino';
import { createLlmCache } from '#adapters/redis';
import type { LlmCache } from '#contracts';
import { type Clock, ConfigError, steadyClock } from '#kernel';
import { LLM_CACHE_VARIABLES, type LlmCacheConfig } from '../config/llm-cache-config.js';
import type { GatewaySecrets } from '../config/secrets.js';

/** Redis that is away, hangs or has no room says so with every attempt; the log needs it once a minute. */
const LOG_INTERVAL_MS = 60_000;

/** @throws ConfigError when Redis is asked for and nobody said where it is */
export function openLlmCache(
  { backend, redisPrefix: keyPrefix, ...bounds }: LlmCacheConfig,
  { redisUrls, secretKey }: Pick<GatewaySecrets, 'redisUrls' | 'secretKey'>,
  { clock, logger }: { clock: Clock; logger: Logger },
): LlmCache | null {
  if (backend === 'redis' && redisUrls.length === 0)
    throw new ConfigError(LLM_CACHE_VARIABLES.backend, backend, 'set REDIS_URL as well, or unset it.');
  let loggedMs = Number.NEGATIVE_INFINITY;
  return createLlmCache(
    { backend, redisUrls, keyPrefix, ...bounds, ...(secretKey !== null && { secret: secretKey }) },
    {
      clock,
      onError: (failure) => {
        if (steadyClock.steadyMs() - loggedMs < LOG_INTERVAL_MS) return;
        loggedMs = steadyClock.steadyMs();
        logger.warn(
          { event: 'cache_redis_failed', err: failure },
          'Redis fails; the cache misses what it does not give or keep',
        );
      },
    },
  );
}
