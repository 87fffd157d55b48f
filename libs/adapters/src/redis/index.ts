export { type ConnectRedisOptions, connectRedis, type RedisConnection } from './connect-redis.js';
export { RedisFailure, type RedisFailureReason } from './redis-failure.js';
export { RedisRateLimiter, type RedisRateLimiterOptions } from './redis-rate-limiter.js';
