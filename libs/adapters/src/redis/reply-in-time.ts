/** How long anybody waits for a reply. What comes later is thrown away. */
import { inTime } from '#kernel';
import { RedisFailure, toRedisFailure } from './redis-failure.js';

/** Rejects with a RedisFailure, and nothing else. */
export const replyInTime = <T>(reply: Promise<T>, timeoutMs: number): Promise<T> =>
  inTime(reply, timeoutMs, () => new RedisFailure('timeout')).catch((error: unknown) => {
    throw toRedisFailure(error);
  });
