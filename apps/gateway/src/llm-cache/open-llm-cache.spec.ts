import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import { FakeClock } from '#testing';
import type { LlmCacheConfig } from '../config/llm-cache-config.js';
import { openLlmCache } from './open-llm-cache.js';

const CANARY = 'canary-secret-3b1f';
const bounds = { entriesMax: 10, bytesMax: 1_000_000, exactTtlMs: 1_000, semanticTtlMs: 2_000 };
const open = (backend: LlmCacheConfig['backend'], ...redisUrls: string[]) =>
  openLlmCache(
    { ...bounds, backend } as LlmCacheConfig,
    { redisUrls, secretKey: null },
    { clock: new FakeClock(), logger: pino({ level: 'silent' }) },
  );

describe('the cache of a gateway', () => {
  it.each([
    ['auto', ['redis://localhost:1'], 'redis'],
    ['auto', ['redis://one:1', 'redis://two:2'], 'redis'],
    ['redis', ['/run/redis.sock'], 'redis'],
    ['memory', ['redis://localhost:1'], 'memory'],
    ['memory', [], 'memory'],
  ] as const)(
    'with %s and %j is in the right place, and connects to nothing',
    async (backend, urls, kind) => {
      const cache = await open(backend, ...urls);
      expect(cache?.kind).toBe(kind);
      expect(cache?.isDegraded).toBe(false);
      await cache?.close();
    },
  );

  it('[14] is in memory when there is no Redis to go to', async () => {
    expect((await open('auto'))?.kind).toBe('memory');
  });

  it('is none when it is off', async () => {
    expect(await open('off', 'redis://localhost:1')).toBeNull();
  });

  it('is asked for in Redis without a URL: says what is missing', async () => {
    await expect(open('redis')).rejects.toThrow('REDIS_URL');
  });

  it.each([
    [`redis://u:${CANARY}@[h`],
    [`http://${CANARY}`],
    ['redis://a:1', `mysql://${CANARY}`],
    ['redis://a:1', `/${CANARY}`],
  ])('refuses a malformed URL without repeating it', async (...urls) => {
    for (const backend of ['auto', 'redis'] as const) {
      const thrown: unknown = await open(backend, ...urls).catch((error: unknown) => error);
      expect(String(thrown)).toContain('The URL of Redis must be');
      expect(JSON.stringify(thrown, Object.getOwnPropertyNames(thrown))).not.toContain(CANARY);
    }
  });
});
