/** What the backend of the cache has to tell Prometheus: how full it is, and what it gave up. */
import type { Registry } from 'prom-client';
import type { RedisLlmCache } from '#adapters/redis';
import type { LlmCache } from '#contracts';
import { MemoryLlmCache } from '#domain/llm-cache';
import { addCounter, addGauge } from '../telemetry/metrics.js';

export function registerCacheGauges(cache: LlmCache, metrics: Registry): void {
  const gauge = (name: string, help: string, read: () => number) =>
    addGauge(metrics, `cache_${name}`, help, read);
  const counter = (name: string, help: string, read: () => number) =>
    addCounter(metrics, `cache_${name}_total`, help, read);
  gauge('degraded', '1 while the backend of the cache, or a part of it, does not answer.', () =>
    Number(cache.isDegraded),
  );
  if (cache instanceof MemoryLlmCache) {
    gauge('entries', 'Answers kept, of all tenants.', () => cache.entryCount);
    gauge('bytes', 'Memory they take, as accounted.', () => cache.byteCount);
    counter('evicted', 'Answers that left to make room.', () => cache.evictedCount);
    counter('refused', 'Answers too large to be kept.', () => cache.refusedCount);
  } else if (isInRedis(cache)) {
    counter(
      'backend_failures',
      'Commands that Redis failed or did not answer in time.',
      () => cache.failureCount,
    );
    counter(
      'removed',
      'Values in Redis that were not what this code writes, and were removed.',
      () => cache.removedCount,
    );
    counter('refused', 'Answers too large to be kept.', () => cache.refusedCount);
  }
}

/** By its word: the class itself is loaded by those alone who have a Redis. */
const isInRedis = (cache: LlmCache): cache is RedisLlmCache => cache.kind === 'redis';
