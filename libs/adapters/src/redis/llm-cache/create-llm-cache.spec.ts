import { describe, expect, it } from 'vitest';
import { FakeClock } from '#testing';
import { createLlmCache } from './create-llm-cache.js';

const CANARY = 'canary-secret-3b1f';
const bounds = { entriesMax: 10, bytesMax: 1_000_000, exactTtlMs: 1_000, semanticTtlMs: 2_000 };
const create = (backend: 'auto' | 'redis' | 'memory' | 'off', ...redisUrls: string[]) =>
  createLlmCache({ ...bounds, backend, redisUrls }, { clock: new FakeClock(), onError: () => {} });

describe('createLlmCache', () => {
  it.each([
    ['auto', ['redis://localhost:1'], 'redis'],
    ['auto', ['redis://one:1', 'redis://two:2'], 'redis'],
    ['redis', ['/run/redis.sock'], 'redis'],
    ['memory', ['redis://localhost:1'], 'memory'],
    ['memory', [], 'memory'],
  ] as const)('makes of %s and %j the cache in %s, and connects to nothing', async (backend, urls, kind) => {
    const cache = create(backend, ...urls);
    expect(cache?.kind).toBe(kind);
    expect(cache?.isDegraded).toBe(false);
    await cache?.close();
  });

  it('[14] falls back to memory when there is no Redis to go to', () => {
    expect(create('auto')?.kind).toBe('memory');
  });

  it('makes none when it is off', () => {
    expect(create('off', 'redis://localhost:1')).toBeNull();
  });

  it('says what is missing when Redis is asked for without a URL', () => {
    expect(() => create('redis')).toThrow('REDIS_URL is not set');
  });

  it.each([
    [`redis://u:${CANARY}@[h`],
    [`http://${CANARY}`],
    ['redis://a:1', `mysql://${CANARY}`],
    ['redis://a:1', `/${CANARY}`],
  ])('refuses a malformed URL without repeating it', (...urls) => {
    for (const backend of ['auto', 'redis'] as const) {
      let thrown: unknown;
      try {
        create(backend, ...urls);
      } catch (error) {
        thrown = error;
      }
      expect(String(thrown)).toContain('The URL of Redis must be');
      expect(JSON.stringify(thrown, Object.getOwnPropertyNames(thrown))).not.toContain(CANARY);
    }
  });
});
