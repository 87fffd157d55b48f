import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import type { Cosine } from '#contracts';
import { FakeClock } from '#testing';
import { buildCacheEntry, hex, vectorAt } from '../../../../libs/testing/src/llm-cache.conformance.js';
import { type LlmCacheConfig, parseLlmCacheConfig } from '../config/llm-cache-config.js';
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

  it('keeps to the bounds and the ages that the environment says', async () => {
    const clock = new FakeClock();
    const config = parseLlmCacheConfig({
      LLM_CACHE_BACKEND: 'memory',
      LLM_CACHE_MAX_ENTRIES: '2',
      LLM_CACHE_MAX_BYTES: '1048576',
      LLM_CACHE_EXACT_TTL_S: '60',
      LLM_CACHE_SEMANTIC_TTL_S: '2m',
    });
    const parts = { clock, logger: pino({ level: 'silent' }) };
    const cache = await openLlmCache(config, { redisUrls: [], secretKey: null }, parts);
    if (cache === null) throw new Error('there is no cache');
    const entry = (key: string, text = 'Paris.') => {
      const { answer, ...rest } = buildCacheEntry(clock.nowMs(), { key: hex(key) });
      return { ...rest, answer: { ...answer, text } };
    };
    const tenant = entry('').tenant_id;
    const similar = () =>
      cache.semanticSearch({
        tenant_id: tenant,
        scope: hex('scope'),
        vector: vectorAt(1),
        hitWhenCosineAtLeast: 0.92 as Cosine,
        accept: () => true,
        serves: true,
      });
    // A sixteenth of the bytes is the most that one answer may take.
    expect(await cache.put(entry('large', 'x'.repeat(65_536)))).toBe('too_large');
    for (const key of ['one', 'two', 'three']) await cache.put(entry(key));
    expect(await cache.stats(tenant)).toMatchObject({ total_entries: 2 });
    clock.advance(59_999);
    expect(await cache.get(tenant, hex('three'))).not.toBeNull();
    clock.advance(1);
    expect(await cache.get(tenant, hex('three'))).toBeNull();
    clock.advance(59_999);
    expect(await similar()).not.toBeNull();
    clock.advance(1);
    expect(await similar()).toBeNull();
    await cache.close();
  });

  it('hands on the prefix of its keys in Redis', async () => {
    const config = { ...bounds, backend: 'redis', redisPrefix: 'a{b}' } as LlmCacheConfig;
    const parts = { clock: new FakeClock(), logger: pino({ level: 'silent' }) };
    const opening = openLlmCache(config, { redisUrls: ['redis://localhost:1'], secretKey: null }, parts);
    await expect(opening).rejects.toThrow(/keyPrefix/);
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
