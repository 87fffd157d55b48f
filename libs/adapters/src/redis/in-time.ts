/** How long anybody waits for a reply. What comes later is thrown away. */
import { RedisFailure, toRedisFailure } from './redis-failure.js';

/** @throws RedisFailure, and nothing else */
export function inTime<T>(reply: Promise<T>, timeoutMs: number): Promise<T> {
  return new Promise((resolve, reject) => {
    // After one look at the socket: if this process was busy for that long, the reply may lie there already.
    const timer = setTimeout(() => setImmediate(() => reject(new RedisFailure('timeout'))), timeoutMs);
    reply.then(
      (value) => {
        clearTimeout(timer);
        resolve(value);
      },
      (error: unknown) => {
        clearTimeout(timer);
        reject(toRedisFailure(error));
      },
    );
  });
}
