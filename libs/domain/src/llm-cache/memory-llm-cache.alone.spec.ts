import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { CacheEntry, Cosine } from '#contracts';
import { HOUR_MS } from '#kernel';
import { FakeClock, liveBytes } from '#testing';
import { buildCacheEntry, CACHE_BOUNDS, hex, vectorAt } from '../../../testing/src/llm-cache.conformance.js';
import { MemoryLlmCache } from './memory-llm-cache.js';

const MEGABYTE = 1_000_000;

function start(bounds: Partial<typeof CACHE_BOUNDS> = {}) {
  const clock = new FakeClock();
  const cache = new MemoryLlmCache({ ...CACHE_BOUNDS, ...bounds, clock });
  const entry = (changes: Partial<CacheEntry> = {}) => buildCacheEntry(clock.nowMs(), changes);
  return { clock, cache, entry };
}

describe('MemoryLlmCache', () => {
  it('answers without a promise too', () => {
    const { cache, entry } = start();
    expect(cache.putNow(entry())).toBe('kept');
    expect(cache.getNow('tenant-1', entry().key)?.entry.answer.text).toBe('Paris.');
    expect(cache.getNow('tenant-2', entry().key)).toBeNull();
    const query = {
      tenant_id: 'tenant-1',
      scope: hex('scope'),
      vector: vectorAt(0.95),
      hitWhenCosineAtLeast: 0.92 as Cosine,
      serves: true,
      accept: () => true,
    };
    expect(cache.semanticSearchNow(query)?.cosine).toBeCloseTo(0.95, 6);
    expect(cache.semanticSearchNow({ ...query, scope: 'other' })).toBeNull();
  });

  it('gives out what nobody can change', () => {
    const { cache, entry } = start();
    cache.putNow(entry());
    const answer = cache.getNow('tenant-1', entry().key)?.entry.answer;
    expect(() => {
      (answer as { text: string }).text = 'poisoned';
    }).toThrow(TypeError);
    expect(() => answer?.tool_calls.push({ id: null, name: 'f', arguments: '' })).toThrow(TypeError);
  });

  it('serves no entry that is older than the clock, set back, makes it look', () => {
    const { cache, clock, entry } = start();
    cache.putNow(entry());
    clock.advance(HOUR_MS - 1_000);
    expect(cache.getNow('tenant-1', entry().key)?.age_ms).toBe(HOUR_MS - 1_000);
    clock.advance(-5 * HOUR_MS);
    expect(cache.getNow('tenant-1', entry().key)?.age_ms).toBe(HOUR_MS - 1_000);
    clock.advance(1_000);
    expect(cache.getNow('tenant-1', entry().key)).toBeNull();
  });

  it('serves nothing beyond its time though the clock was set back while nobody looked', () => {
    const { cache, clock, entry } = start();
    cache.putNow(entry());
    clock.advance(HOUR_MS - 1_000);
    clock.set(clock.nowMs() - 5 * HOUR_MS);
    expect(cache.getNow('tenant-1', entry().key)?.age_ms).toBe(HOUR_MS - 1_000);
    clock.advance(1_000);
    clock.set(clock.nowMs() - HOUR_MS);
    expect(cache.getNow('tenant-1', entry().key)).toBeNull();
  });

  it('counts the time for which the machine slept, and once where it was looked at often', () => {
    const { cache, clock, entry } = start();
    cache.putNow(entry());
    const age = () => cache.getNow('tenant-1', entry().key)?.age_ms;
    clock.set(clock.nowMs() + HOUR_MS / 2);
    expect(age()).toBe(HOUR_MS / 2);
    for (let look = 0; look < 1_000; look += 1) {
      clock.set(clock.nowMs() + (look % 2 === 0 ? 1 : -1));
      expect(age()).toBe(HOUR_MS / 2);
    }
    clock.set(clock.nowMs() + HOUR_MS / 2);
    expect(age()).toBeUndefined();
  });

  it('bounds all tenants together, and counts whom it had to let go', () => {
    const { cache, entry } = start({ entriesMax: 2 });
    for (const tenant of ['a', 'b', 'c']) cache.putNow(entry({ tenant_id: tenant }));
    expect([cache.entryCount, cache.evictedCount, cache.refusedCount]).toEqual([2, 1, 0]);
    expect(cache.getNow('a', entry().key)).toBeNull();
    expect(cache.getNow('b', entry().key)).not.toBeNull();
  });

  it('leaves a tenant with few entries all of them, however many another one keeps', () => {
    const { cache, entry } = start({ entriesMax: 10 });
    const keep = (tenant_id: string, key: string) => cache.putNow(entry({ tenant_id, key: hex(key) }));
    for (const key of ['1', '2', '3']) keep('small', key);
    for (let key = 0; key < 100; key += 1) keep('large', String(key));
    expect(['1', '2', '3'].filter((key) => cache.getNow('small', hex(key)))).toEqual(['1', '2', '3']);
    expect([cache.entryCount, cache.evictedCount]).toEqual([10, 93]);
    // One that comes late has its share, too, from the one that has most and what that has not used for longest.
    cache.getNow('large', hex('93'));
    keep('late', '1');
    expect(cache.getNow('large', hex('94'))).toBeNull();
    expect([cache.getNow('large', hex('93')), cache.getNow('small', hex('1'))]).not.toContain(null);
  });

  it('where bytes are what is short, the tenant with most bytes gives way', () => {
    const { cache, entry } = start({ bytesMax: 200_000 });
    const text = 'x'.repeat(10_000);
    const { answer } = entry();
    for (const key of ['1', '2', '3']) cache.putNow(entry({ tenant_id: 'small', key: hex(key) }));
    for (let key = 0; key < 100; key += 1)
      cache.putNow(entry({ tenant_id: 'large', key: hex(String(key)), answer: { ...answer, text } }));
    expect(['1', '2', '3'].map((key) => cache.getNow('small', hex(key)) !== null)).toEqual([
      true,
      true,
      true,
    ]);
    expect(cache.byteCount).toBeLessThanOrEqual(200_000);
  });

  it('lets expired entries go before live ones, uncounted', () => {
    const { cache, clock, entry } = start({ entriesMax: 3 });
    for (const key of ['a', 'b', 'c']) cache.putNow(entry({ key: hex(key) }));
    clock.advance(25 * HOUR_MS);
    cache.putNow(entry({ key: hex('d') }));
    expect([cache.entryCount, cache.evictedCount]).toEqual([1, 0]);
  });

  it('refuses bounds that hold nothing', () => {
    for (const bounds of [{ entriesMax: 0 }, { entriesMax: Number.NaN }, { bytesMax: 0 }])
      expect(() => start(bounds)).toThrow(RangeError);
  });

  it('counts to the byte: whatever is stored, replaced and removed, an empty cache has none', async () => {
    const { cache, clock, entry } = start({ entriesMax: 12, bytesMax: 300_000 });
    const tenant = fc.constantFrom('a', 'b');
    const key = fc.constantFrom('k1', 'k2', 'k3', 'k4', 'k5', 'k6', 'k7', 'k8', 'k9');
    const operation = fc.oneof(
      fc.record({
        kind: fc.constant('put' as const),
        tenant,
        key,
        scope: fc.constantFrom('s1', 's2', null),
        text: fc.nat(15_000),
        dimension: fc.constantFrom(0, 8, 16),
      }),
      fc.record({ kind: fc.constant('get' as const), tenant, key }),
      fc.record({ kind: fc.constant('evict' as const), tenant, key }),
      fc.record({ kind: fc.constant('advance' as const), ms: fc.nat(10 * HOUR_MS) }),
      fc.record({
        kind: fc.constant('invalidate' as const),
        tenant,
        pattern: fc.constantFrom('k?', '*3', null),
      }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(operation, { maxLength: 60, size: 'max' }), async (operations) => {
        for (const each of operations) {
          if (each.kind === 'put') {
            const vector = each.dimension === 0 ? null : vectorAt(0.9, { dimension: each.dimension });
            const answer = { ...entry().answer, text: 'x'.repeat(each.text) };
            cache.putNow(entry({ tenant_id: each.tenant, key: each.key, scope: each.scope, vector, answer }));
          } else if (each.kind === 'get') cache.getNow(each.tenant, each.key);
          else if (each.kind === 'evict') await cache.evict(each.tenant, each.key);
          else if (each.kind === 'advance') clock.advance(each.ms);
          else await cache.invalidate(each.tenant, each.pattern);
          expect(cache.byteCount).toBeLessThanOrEqual(300_000);
          expect(cache.entryCount).toBeLessThanOrEqual(12);
          const [a, b] = [await cache.stats('a'), await cache.stats('b')];
          expect(a.total_entries + b.total_entries).toBe(cache.entryCount);
          expect(a.total_bytes + b.total_bytes).toBe(cache.byteCount);
        }
        await cache.close();
        expect([cache.byteCount, cache.entryCount]).toEqual([0, 0]);
      }),
      { numRuns: 150 },
    );
  });

  it.each([
    ['short answers', { text: () => 'Yes.', prompt: 60, dimension: 0, perScope: 1 }],
    ['answers of 2 kB put together from pieces', { text: pieces, prompt: 200, dimension: 0, perScope: 1 }],
    ['Chinese answers', { text: () => '巴黎'.repeat(400), prompt: 40, dimension: 0, perScope: 1 }],
    ['one vector to a scope', { text: pieces, prompt: 100, dimension: 384, perScope: 1 }],
    ['twenty vectors to a scope', { text: pieces, prompt: 100, dimension: 384, perScope: 20 }],
    ['one large scope', { text: pieces, prompt: 100, dimension: 384, perScope: 10_000 }],
  ])(
    'says of %s what they cost on the heap, within 1.3 either way',
    (_, { text, prompt, dimension, perScope }) => {
      // Enough that what the tests before left on the heap, and takes with it, does not count.
      const count = 10_000;
      const { cache, entry } = start({ entriesMax: count, bytesMax: 500 * MEGABYTE });
      const random = new Float32Array(dimension);
      const before = liveBytes();
      for (let index = 0; index < count; index += 1) {
        for (let at = 0; at < dimension; at += 1) random[at] = Math.sin(index * 7 + at * 13);
        const length = Math.hypot(...random);
        const answer = {
          ...entry().answer,
          text: text(index),
          answer_id: `chatcmpl-${hex(String(index)).slice(0, 29)}`,
        };
        cache.putNow(
          entry({
            key: hex(`key ${index}`),
            scope: dimension === 0 ? null : hex(`scope ${Math.floor(index / perScope)}`),
            prompt: `${index} `.padEnd(prompt, 'what is asked '),
            answer,
            vector: dimension === 0 ? null : { model_id: 'm', values: random.map((value) => value / length) },
          }),
        );
      }
      const ratio = (liveBytes() - before) / cache.byteCount;
      expect(cache.entryCount).toBe(count);
      expect(ratio).toBeLessThan(1.3);
      expect(ratio).toBeGreaterThan(1 / 1.3);
    },
  );
});

/** As an answer comes from a stream: a string of hundreds of pieces. */
function pieces(index: number): string {
  let text = '';
  for (let piece = 0; piece < 200; piece += 1) text += `${(index + piece) % 1_000} and so `.slice(0, 10);
  return text;
}
