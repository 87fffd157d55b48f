export {
  type ConnectRedisOptions,
  connectRedis,
  connectRedisAt,
  connectRedisCluster,
  type RedisConnection,
} from './connect-redis.js';
export {
  RedisLlmCache,
  type RedisLlmCacheOptions,
} from './llm-cache/redis-llm-cache.js';
export {
  RedisPromptHistory,
  type RedisPromptHistoryOptions,
} from './prompt-history/redis-prompt-history.js';
export { RedisAgentHomes, type RedisAgentHomesOptions } from './redis-agent-homes.js';
export { RedisControlLog } from './redis-control-log.js';
export { RedisFailure, type RedisFailureReason } from './redis-failure.js';
export { RedisRateLimiter, type RedisRateLimiterOptions } from './redis-rate-limiter.js';
