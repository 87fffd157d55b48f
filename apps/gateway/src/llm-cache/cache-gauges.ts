/** What the backend of the cache has to tell Prometheus: how full it is, and what it gave up. */
import { Gauge, type Registry } from 'prom-client';
import type { RedisLlmCache } from '#adapters/redis';
import type { LlmCache } from '#contracts';
import { MemoryLlmCache } from '#domain/llm-cache';
import { METRIC_PREFIX } from '../telemetry/metrics.js';

export function registerCacheGauges(cache: LlmCache, metrics: Registry): void {
  const gauge = (name: string, help: string, read: () => number) =>
    new Gauge({
      name: `${METRIC_PREFIX}cache_${name}`,
      help,
      registers: [metrics],
      collect() {
        this.set(read());
      },
    });
  gauge('degraded', '1 while the backend of the cache, or a part of it, does not answer.', () =>
    Number(cache.isDegraded),
  );
  if (cache instanceof MemoryLlmCache) {
    gauge('entries', 'Answers kept, of all tenants.', () => cache.entryCount);
    gauge('bytes', 'Memory they take, as accounted.', () => cache.byteCount);
    gauge('evicted', 'Answers that left to make room, since the start.', () => cache.evictedCount);
    gauge('refused', 'Answers too large to be kept, since the start.', () => cache.refusedCount);
  } else if (isInRedis(cache)) {
    gauge(
      'backend_failures',
      'Commands that Redis failed or did not answer in time.',
      () => cache.failureCount,
    );
    gauge(
      'removed',
      'Values in Redis that were not what this code writes, and were removed.',
      () => cache.removedCount,
    );
    gauge('refused', 'Answers too large to be kept, since the start.', () => cache.refusedCount);
  }
}

/** By its word: the class itself is loaded by those alone who have a Redis. */
const isInRedis = (cache: LlmCache): cache is RedisLlmCache => cache.kind === 'redis';
