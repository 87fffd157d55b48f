/** The store of limits: in this process, or in Redis where several gateways share one. */
import type { Logger } from 'pino';
import type { AgentHomes, ControlLog, RateLimiter } from '#contracts';
import { MemoryRateLimiter } from '#domain/policy';
import { type Clock, LinePace, steadyClock } from '#kernel';

/** In the same store. */
export interface SharedLog {
  log: ControlLog;
  gatewayId: string;
  /** The first attempt to reach it is over. Never rejects. */
  opened: Promise<unknown>;
}

export interface LimiterLink {
  limiter: RateLimiter;
  /** False: it lives in this process. */
  isShared: boolean;
  /** In the same store; null: it is not shared. */
  homes: AgentHomes | null;
  controlLog: SharedLog | null;
  /** The shared store answers now, and was asked. Never rejects. */
  isConnected(): Promise<boolean>;
  /** When the shared store was first found not to be there, since it last was; null: it is, or there is none. */
  readonly awaySinceMs: number | null;
  /**
   * To be set. The shared store is there, for the first time or again: it heard of nothing that was spent without it, and may
   * have lost what it had counted.
   */
  onReady: () => void;
  /** Never rejects. */
  close(): Promise<void>;
}

/**
 * @param redisUrls none: in this process. A Redis that is not there yet is waited for in the background.
 * @param gatewayId asked for where there is one. Rejects as that does.
 */
export async function openLimiter(
  redisUrls: readonly string[],
  gatewayId: () => Promise<string>,
  clock: Clock,
  logger: Logger,
): Promise<LimiterLink> {
  if (redisUrls.length === 0)
    return {
      limiter: new MemoryRateLimiter({ clock }),
      isShared: false,
      homes: null,
      controlLog: null,
      isConnected: async () => false,
      awaySinceMs: null,
      onReady: () => {},
      close: async () => {},
    };
  const { connectRedisAt, RedisAgentHomes, RedisControlLog, RedisRateLimiter } = await import(
    '#adapters/redis'
  );
  let awaySinceMs: number | null = null;
  const note = (isThere: boolean): boolean => {
    awaySinceMs = isThere ? null : (awaySinceMs ?? clock.nowMs());
    return isThere;
  };
  // Redis that is away says so with every attempt.
  const lines = new LinePace<'redis_failed'>(steadyClock);
  const connection = connectRedisAt(redisUrls, {
    onError: (failure) => {
      if (!connection.isReady) note(false);
      const untold_count = lines.untoldAt('redis_failed');
      if (untold_count === null) return;
      logger.error(
        { event: 'redis_failed', untold_count, err: failure },
        redisUrls.length === 1
          ? 'Redis cannot be reached; limits are not enforced'
          : 'a node of the Redis Cluster cannot be reached; limits are not enforced where it is the one that counts',
      );
    },
    onReady: () => {
      note(true);
      logger.info({ event: 'redis_ready' }, 'connected to Redis');
      link.onReady();
    },
  });
  const { client } = connection;
  const own = { client, gatewayId: await gatewayId() };
  const link: LimiterLink = {
    limiter: new RedisRateLimiter(own),
    isShared: true,
    homes: new RedisAgentHomes(own),
    controlLog: {
      log: new RedisControlLog(client),
      gatewayId: own.gatewayId,
      opened: connection.open(),
    },
    isConnected: async () => note(await connection.answers()),
    get awaySinceMs() {
      return awaySinceMs;
    },
    onReady: () => {},
    close: () => connection.quit(),
  };
  return link;
}
