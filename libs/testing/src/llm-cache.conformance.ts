/**
 * What every LlmCache must do, as one suite over any implementation. Time is the suite's: a cache whose store has a
 * clock of its own lets tests put theirs in its place. Imported by its own path and not from the index, since it needs
 * vitest.
 *
 * Titles that begin with `[1]` to `[13]` are the tests of the cache's design (section 12.1), those with `[edge n]` the rows
 * of its table of edge cases (section 11), in their order.
 */
import { createHash } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { CacheEntry, CacheEpoch, CacheVector, Cosine, LlmCache, SemanticQuery } from '#contracts';
import { HOUR_MS } from '#kernel';
import { everyPage } from './every-page.js';

export interface CacheBounds {
  entriesMax: number;
  bytesMax: number;
  exactTtlMs: number;
  semanticTtlMs: number;
}

/** An empty cache. */
export interface CachePlace {
  cache: LlmCache;
  /** Moves its clock; may go backwards. */
  advance(ms: number): void;
  nowMs(): number;
  close(): Promise<void>;
}

export const CACHE_BOUNDS: CacheBounds = {
  entriesMax: 1_000,
  bytesMax: 64_000_000,
  exactTtlMs: HOUR_MS,
  semanticTtlMs: 24 * HOUR_MS,
};

const TENANT = 'tenant-1';
export const hex = (text: string): string => createHash('sha256').update(text).digest('hex');

/** A unit vector at that cosine from the first axis, towards another one. */
export function vectorAt(cosine: number, options: { axis?: number; dimension?: number } = {}): CacheVector {
  const { axis = 1, dimension = 8 } = options;
  const values = new Float32Array(dimension);
  values[0] = cosine;
  values[axis] = Math.sqrt(1 - cosine * cosine);
  return { model_id: 'test-model', values };
}

export function buildCacheEntry(nowMs: number, changes: Partial<CacheEntry> = {}): CacheEntry {
  return {
    tenant_id: TENANT,
    key: hex('question'),
    scope: hex('scope'),
    agent_id: 'agent-1',
    upstream: 'openai',
    prompt: 'What is the capital of France?',
    vector: vectorAt(1),
    answer: {
      dialect: 'openai-chat',
      answer_id: 'chatcmpl-1',
      model: 'gpt-4o-mini',
      text: 'Paris.',
      tool_calls: [],
      finish: 'stop',
      usage: {
        input_tokens: 12,
        cached_input_tokens: 0,
        cache_write_tokens: 0,
        output_tokens: 3,
        reasoning_tokens: 0,
      },
    },
    created_at_ms: nowMs,
    cost_micro_usd: 1_500,
    duration_ms: 830,
    ...changes,
  };
}

export function llmCacheConformance(name: string, make: (bounds: CacheBounds) => Promise<CachePlace>): void {
  describe(`LlmCache: ${name}`, () => {
    let place: CachePlace;
    let cache: LlmCache;

    const start = async (bounds: Partial<CacheBounds> = {}): Promise<void> => {
      await place?.close();
      place = await make({ ...CACHE_BOUNDS, ...bounds });
      cache = place.cache;
    };
    beforeEach(() => start());
    afterEach(() => place.close());

    const entry = (changes: Partial<CacheEntry> = {}): CacheEntry => buildCacheEntry(place.nowMs(), changes);
    const answer = (changes: Partial<CacheEntry['answer']>): CacheEntry['answer'] => ({
      ...entry().answer,
      ...changes,
    });
    const putNumbered = async (count: number, changes: Partial<CacheEntry> = {}): Promise<string[]> => {
      const keys = Array.from({ length: count }, (_, index) => hex(`numbered ${index}`));
      for (const key of keys) {
        place.advance(1);
        expect(await cache.put(entry({ key, scope: null, vector: null, ...changes }))).toBe('kept');
      }
      return keys;
    };
    const search = (vector: CacheVector, changes: Partial<SemanticQuery> = {}) =>
      cache.semanticSearch({
        tenant_id: TENANT,
        scope: hex('scope'),
        vector,
        hitWhenCosineAtLeast: 0.92 as Cosine,
        accept: () => true,
        serves: true,
        ...changes,
      });
    const textOf = async (tenant: string, key: string): Promise<string | null> =>
      (await cache.get(tenant, key))?.entry.answer.text ?? null;
    const allEntries = (tenant: string, limit?: number) =>
      everyPage(async (query) => {
        const page = await cache.entries({ tenant_id: tenant, ...query, limit: limit ?? query.limit });
        expect(page.items.length).toBeLessThanOrEqual(limit ?? query.limit);
        return page;
      });

    /** A store with a clock of its own may say a little more. */
    const expectAge = (ageMs: number | undefined, expectedMs: number): void => {
      expect(ageMs).toBeGreaterThanOrEqual(expectedMs);
      expect(ageMs).toBeLessThan(expectedMs + 10_000);
    };

    describe('an exact match', () => {
      it('[1] gives back the entry of an equal key whole, with its age and no cosine', async () => {
        const stored = entry();
        expect(await cache.put(stored)).toBe('kept');
        place.advance(5_000);
        expect(await cache.get(TENANT, stored.key)).toEqual({
          entry: { ...stored, vector: null },
          age_ms: 5_000,
          cosine: null,
        });
      });

      it('[2] is none for another key', async () => {
        await cache.put(entry());
        expect(await cache.get(TENANT, hex('another question'))).toBeNull();
      });

      it('[6] is none from the moment the exact TTL is over, and one until then', async () => {
        const { key } = entry();
        await cache.put(entry());
        place.advance(HOUR_MS - 1);
        expect(await textOf(TENANT, key)).toBe('Paris.');
        place.advance(1);
        expect(await cache.get(TENANT, key)).toBeNull();
      });

      it('counts the age from when the answer was made, not from when it was stored', async () => {
        await cache.put(entry({ created_at_ms: place.nowMs() - HOUR_MS / 2 }));
        expectAge((await cache.get(TENANT, entry().key))?.age_ms, HOUR_MS / 2);
        place.advance(HOUR_MS / 2);
        expect(await cache.get(TENANT, entry().key)).toBeNull();
      });

      it('[12] restores tool calls as they were, order, ids and odd arguments included', async () => {
        const calls = [
          { id: 'call_1', name: 'search', arguments: '{"q": "caf\u00e9 \\u0000", "n": 1e2}' },
          { id: null, name: 'noop', arguments: '' },
        ];
        const toolAnswer = answer({ text: '', tool_calls: calls, finish: 'tool_calls' });
        await cache.put(entry({ answer: toolAnswer }));
        expect((await cache.get(TENANT, entry().key))?.entry.answer).toEqual(toolAnswer);
      });

      it('[edge 1] keeps an answer with tool calls like any other, also for a semantic match', async () => {
        const toolAnswer = answer({ tool_calls: [{ id: 'x', name: 'f', arguments: '{}' }] });
        await cache.put(entry({ answer: toolAnswer }));
        expect((await search(vectorAt(0.95)))?.entry.answer).toEqual(toolAnswer);
      });

      it('[edge 2] keeps an empty answer', async () => {
        const empty = answer({ text: '', answer_id: null, model: null, usage: null });
        await cache.put(entry({ answer: empty, prompt: '' }));
        expect((await cache.get(TENANT, entry().key))?.entry.answer).toEqual(empty);
      });

      it('[edge 3] keeps an answer of more than 100 kB as one entry, to the last character', async () => {
        const text = 'Zürich 東京 \ud83d\ude00 "quoted"\n'.repeat(6_000);
        await cache.put(entry({ answer: answer({ text }) }));
        expect(await textOf(TENANT, entry().key)).toBe(text);
        const { total_entries: entries, total_bytes: bytes } = await cache.stats(TENANT);
        expect(entries).toBe(1);
        expect(bytes).toBeGreaterThan(text.length);
      });

      it('keeps characters that are no valid Unicode', async () => {
        await cache.put(entry({ answer: answer({ text: 'half a pair: \ud83d, and \u0000' }) }));
        expect(await textOf(TENANT, entry().key)).toBe('half a pair: \ud83d, and \u0000');
      });

      it('does not notice what becomes of the objects it was given', async () => {
        const given = entry({ answer: answer({ tool_calls: [{ id: 'a', name: 'b', arguments: 'c' }] }) });
        await cache.put(given);
        given.answer.text = 'changed';
        (given.answer.tool_calls[0] as { name: string }).name = 'changed';
        given.vector?.values.fill(0);
        expect((await cache.get(TENANT, given.key))?.entry.answer).toMatchObject({
          text: 'Paris.',
          tool_calls: [{ name: 'b' }],
        });
        expect((await search(vectorAt(1)))?.cosine).toBeCloseTo(1, 6);
      });
    });

    describe('a put', () => {
      it('[13] [edge 4] of one key twice at once leaves one of the two, whole', async () => {
        const one = entry({ answer: answer({ text: 'one' }), vector: vectorAt(1) });
        const other = entry({ answer: answer({ text: 'other' }), vector: vectorAt(1) });
        expect(await Promise.all([cache.put(one), cache.put(other)])).toEqual(['kept', 'kept']);
        expect(['one', 'other']).toContain(await textOf(TENANT, one.key));
        expect((await cache.stats(TENANT)).total_entries).toBe(1);
      });

      it('replaces: the last write wins, for both matches, in counts and in bytes', async () => {
        await cache.put(entry({ answer: answer({ text: 'x'.repeat(10_000) }) }));
        await cache.get(TENANT, entry().key);
        const { total_bytes: before } = await cache.stats(TENANT);
        await cache.put(entry({ vector: vectorAt(1, { axis: 2 }), answer: answer({ text: 'new' }) }));
        expect(await textOf(TENANT, entry().key)).toBe('new');
        expect((await search(vectorAt(1)))?.entry.answer.text).toBe('new');
        const { total_entries: entries, total_bytes: after } = await cache.stats(TENANT);
        expect(entries).toBe(1);
        expect(after).toBeLessThan(before - 9_000);
      });

      it('[edge 6] without a vector, since none could be had, still serves equal requests', async () => {
        await cache.put(entry({ vector: null }));
        expect(await textOf(TENANT, entry().key)).toBe('Paris.');
        expect(await search(vectorAt(1))).toBeNull();
      });

      it('takes the vector of an entry away that is stored again without one', async () => {
        await cache.put(entry());
        await cache.put(entry({ vector: null }));
        expect(await search(vectorAt(1))).toBeNull();
        expect((await allEntries(TENANT))[0]).toMatchObject({ has_vector: false });
      });

      it('lets an entry that only an equal request could use live no longer than that', async () => {
        await cache.put(entry({ vector: null }));
        place.advance(HOUR_MS);
        expect(await cache.stats(TENANT)).toEqual({ total_entries: 0, total_bytes: 0 });
      });

      it('refuses an entry over its share of the bytes, and keeps the rest', async () => {
        await start({ bytesMax: 320_000 });
        await cache.put(entry());
        const large = entry({ key: hex('large'), answer: answer({ text: 'x'.repeat(20_000) }) });
        expect(await cache.put(large)).toBe('too_large');
        expect(await cache.get(TENANT, large.key)).toBeNull();
        expect(await textOf(TENANT, entry().key)).toBe('Paris.');
      });

      it('keeps an entry of exactly its share of the bytes, and refuses one that has a byte less room', async () => {
        const exact = entry({ vector: null });
        await cache.put(exact);
        const { total_bytes: bytes } = await cache.stats(TENANT);
        await start({ bytesMax: 16 * bytes });
        expect(await cache.put(exact)).toBe('kept');
        await start({ bytesMax: 16 * bytes - 1 });
        expect(await cache.put(exact)).toBe('too_large');
      });

      it('refuses an entry without a time', async () => {
        expect(await cache.put(entry({ created_at_ms: Number.NaN }))).toBe('unusable');
        expect(await cache.get(TENANT, entry().key)).toBeNull();
      });

      it.each([
        ['empty', new Float32Array(0)],
        ['of zeros', new Float32Array(8)],
        ['not finite', Float32Array.from([Number.NaN, 1, 0, 0, 0, 0, 0, 0])],
        ['not of unit length', Float32Array.from([3, 4, 0, 0, 0, 0, 0, 0])],
      ])('keeps a vector that is %s out of every search', async (_, values) => {
        await cache.put(entry({ vector: { model_id: 'test-model', values } }));
        expect(await search(vectorAt(1))).toBeNull();
        expect(await search({ model_id: 'test-model', values })).toBeNull();
        expect(await textOf(TENANT, entry().key)).toBe('Paris.');
      });
    });

    describe('a semantic match', () => {
      it('[3] is the answer to a question whose vector is near, with its cosine', async () => {
        await cache.put(entry());
        const hit = await search(vectorAt(0.95));
        expect(hit?.entry.key).toBe(entry().key);
        expect(hit?.cosine).toBeCloseTo(0.95, 6);
      });

      it('[4] is none for an unrelated question', async () => {
        await cache.put(entry());
        expect(await search(vectorAt(0.5))).toBeNull();
        expect(await search(vectorAt(-1))).toBeNull();
      });

      it.each([0.92, 0.9, 0.85, 0.65, 1])('[5] is one at exactly the threshold of %f', async (threshold) => {
        await cache.put(entry());
        const hitWhenCosineAtLeast = threshold as Cosine;
        expect(await search(vectorAt(threshold), { hitWhenCosineAtLeast })).not.toBeNull();
        expect(await search(vectorAt(threshold - 0.0001), { hitWhenCosineAtLeast })).toBeNull();
      });

      it('[7] is none from the moment the semantic TTL is over, and one after the exact TTL', async () => {
        await cache.put(entry());
        place.advance(24 * HOUR_MS - 1);
        expect(await cache.get(TENANT, entry().key)).toBeNull();
        expect((await search(vectorAt(0.95)))?.age_ms).toBe(24 * HOUR_MS - 1);
        place.advance(1);
        expect(await search(vectorAt(0.95))).toBeNull();
        expect(await cache.stats(TENANT)).toEqual({ total_entries: 0, total_bytes: 0 });
      });

      it('keeps serving equal requests when the exact TTL is the longer one', async () => {
        await start({ exactTtlMs: 24 * HOUR_MS, semanticTtlMs: HOUR_MS });
        await cache.put(entry());
        place.advance(HOUR_MS);
        expect(await search(vectorAt(1))).toBeNull();
        expect(await textOf(TENANT, entry().key)).toBe('Paris.');
      });

      it('[edge 7] is none for a query without a usable vector, since none could be had', async () => {
        await cache.put(entry());
        expect(await search({ model_id: 'test-model', values: new Float32Array(8) })).toBeNull();
        expect(await search({ model_id: '', values: vectorAt(1).values })).toBeNull();
      });

      it('is the nearest, wherever it stands among the others', async () => {
        for (const [index, cosine] of [0.93, 0.99, 0.95, 0.1, 0.97].entries())
          await cache.put(entry({ key: hex(`c${cosine}`), vector: vectorAt(cosine, { axis: index + 1 }) }));
        expect((await search(vectorAt(1)))?.entry.key).toBe(hex('c0.99'));
      });

      it('offers those above the threshold nearest first, with their prompts, until one is accepted', async () => {
        for (const cosine of [0.93, 0.99, 0.95, 0.5, 0.97])
          await cache.put(
            entry({ key: hex(`c${cosine}`), prompt: `at ${cosine}`, vector: vectorAt(cosine) }),
          );
        const offered: string[] = [];
        const hit = await search(vectorAt(1), {
          accept: ({ prompt, key, cosine }) => {
            expect(hex(`c${prompt.slice(3)}`)).toBe(key);
            expect(cosine).toBeCloseTo(Number(prompt.slice(3)), 6);
            offered.push(prompt);
            return prompt === 'at 0.95';
          },
        });
        expect(hit?.entry.prompt).toBe('at 0.95');
        expect(offered).toEqual(['at 0.99', 'at 0.97', 'at 0.95']);
      });

      it('offers eight at most, the nearest, and is none if all are refused', async () => {
        for (let index = 0; index < 20; index += 1)
          await cache.put(
            entry({ key: hex(`n${index}`), prompt: String(index), vector: vectorAt(0.93 + index / 1_000) }),
          );
        const offered: string[] = [];
        const accept = ({ prompt }: { prompt: string }): boolean => {
          offered.push(prompt);
          return false;
        };
        expect(await search(vectorAt(1), { accept })).toBeNull();
        expect(offered).toEqual(['19', '18', '17', '16', '15', '14', '13', '12']);
      });

      it('stays inside its scope', async () => {
        await cache.put(entry());
        expect(await search(vectorAt(1), { scope: hex('another scope') })).toBeNull();
        await cache.put(entry({ key: hex('no scope'), scope: null }));
        await cache.evict(TENANT, entry().key);
        expect(await search(vectorAt(1))).toBeNull();
      });

      it('never compares vectors of another model or dimension, and finds each its own', async () => {
        await cache.put(entry({ key: hex('small') }));
        await cache.put(entry({ key: hex('large'), vector: vectorAt(1, { dimension: 16 }) }));
        await cache.put(entry({ key: hex('other'), vector: { ...vectorAt(1), model_id: 'other-model' } }));
        expect((await search(vectorAt(1)))?.entry.key).toBe(hex('small'));
        expect((await search(vectorAt(1, { dimension: 16 })))?.entry.key).toBe(hex('large'));
        expect((await search({ ...vectorAt(1), model_id: 'other-model' }))?.entry.key).toBe(hex('other'));
        expect(await search(vectorAt(1, { dimension: 32 }))).toBeNull();
        expect(await search({ ...vectorAt(1), model_id: 'third-model' })).toBeNull();
      });

      it('goes on after an embedder has changed its dimension, for one entry after another', async () => {
        await cache.put(entry());
        await cache.put(entry({ vector: vectorAt(1, { dimension: 24 }), answer: answer({ text: 'again' }) }));
        expect(await search(vectorAt(1))).toBeNull();
        expect((await search(vectorAt(1, { dimension: 24 })))?.entry.answer.text).toBe('again');
      });
    });

    describe('the least recently used', () => {
      it('[8] leaves when one more than the most entries is stored', async () => {
        await start({ entriesMax: 3 });
        const [first, second, third] = await putNumbered(3);
        place.advance(1);
        await cache.put(entry({ key: hex('fourth') }));
        expect(await textOf(TENANT, first as string)).toBeNull();
        for (const key of [second, third, hex('fourth')])
          expect(await textOf(TENANT, key as string)).toBe('Paris.');
        expect((await cache.stats(TENANT)).total_entries).toBe(3);
      });

      it('is not what was just hit, exactly or semantically', async () => {
        await start({ entriesMax: 3 });
        for (const [index, key] of ['a', 'b', 'c'].entries()) {
          place.advance(1);
          await cache.put(
            entry({ key: hex(key), vector: vectorAt(1, { axis: index + 1 }), scope: hex(key) }),
          );
        }
        place.advance(1);
        await cache.get(TENANT, hex('a'));
        place.advance(1);
        await search(vectorAt(1), { scope: hex('b') });
        place.advance(1);
        await cache.put(entry({ key: hex('d') }));
        expect(await textOf(TENANT, hex('c'))).toBeNull();
        expect(await search(vectorAt(1), { scope: hex('c') })).toBeNull();
        for (const key of ['a', 'b', 'd']) expect(await textOf(TENANT, hex(key))).toBe('Paris.');
      });

      it('leaves for one that comes in the same millisecond, whatever its key', async () => {
        await start({ entriesMax: 3 });
        const keys = ['a', 'b', 'c', 'd', 'e'].map(hex).sort().reverse();
        for (const key of keys) {
          await cache.put(entry({ key }));
          expect((await cache.stats(TENANT)).total_entries).toBeLessThanOrEqual(3);
          expect(await textOf(TENANT, key)).toBe('Paris.');
        }
      });

      it('leaves when there would be more than the most bytes, in a cache full of the largest entries', async () => {
        await start({ bytesMax: 400_000 });
        const text = 'x'.repeat(22_000);
        for (let index = 0; index < 40; index += 1) {
          place.advance(1);
          const large = entry({ key: hex(`large ${index}`), answer: answer({ text }) });
          expect(await cache.put(large)).toBe('kept');
          const { total_bytes: bytes, total_entries: entries } = await cache.stats(TENANT);
          expect(bytes).toBeLessThanOrEqual(400_000);
          expect(entries).toBe(Math.min(index + 1, entries));
        }
        const { total_entries: entries } = await cache.stats(TENANT);
        expect(entries).toBeGreaterThan(10);
        expect(await textOf(TENANT, hex('large 39'))).toBe(text);
        expect(await textOf(TENANT, hex(`large ${39 - entries}`))).toBeNull();
      });
    });

    describe('invalidating', () => {
      beforeEach(async () => {
        const each: [string, Partial<CacheEntry>][] = [
          ['1', { agent_id: 'billing-eu' }],
          ['2', { agent_id: 'billing-us', upstream: 'anthropic' }],
          ['3', { agent_id: 'support', answer: answer({ model: 'claude-x' }), upstream: 'anthropic' }],
        ];
        for (const [key, changes] of each) await cache.put(entry({ key: hex(key), ...changes }));
      });

      const left = async (): Promise<string[]> => {
        const keys = ['1', '2', '3'];
        const texts = await Promise.all(keys.map((key) => textOf(TENANT, hex(key))));
        return keys.filter((_, index) => texts[index] !== null);
      };

      it('[9] without a pattern removes everything, and says how much', async () => {
        expect(await cache.invalidate(TENANT, null)).toBe(3);
        expect(await left()).toEqual([]);
        expect(await search(vectorAt(1))).toBeNull();
        expect(await cache.stats(TENANT)).toEqual({ total_entries: 0, total_bytes: 0 });
        expect((await cache.entries({ tenant_id: TENANT, limit: 10 })).items).toEqual([]);
      });

      it.each([
        ['agent:billing-*', ['3']],
        ['agent:billing-?s', ['1', '3']],
        ['agent:billing', ['1', '2', '3']],
        ['upstream:anthropic', ['1']],
        ['model:claude-?', ['1', '2']],
        ['model:gpt*mini', ['3']],
        [hex('2'), ['1', '3']],
        [`${hex('2').slice(0, 12)}*`, ['1', '3']],
        ['*', []],
        ['agent:*e*u*', ['2', '3']],
        ['AGENT:billing-*', ['1', '2', '3']],
      ])('[10] by the pattern %s leaves %j', async (pattern, keys) => {
        expect(await cache.invalidate(TENANT, pattern, true)).toBe(3 - keys.length);
        expect(await left()).toEqual(['1', '2', '3']);
        expect(await cache.invalidate(TENANT, pattern)).toBe(3 - keys.length);
        expect(await left()).toEqual(keys);
        expect((await cache.stats(TENANT)).total_entries).toBe(keys.length);
      });

      it.each(['.*', '[a-z]*', 'agent:billing-(eu|us)', 'agent:billing-e.', '\\*', '^.+$', '{', '}', '%*'])(
        'takes %s literally, as no expression',
        async (pattern) => {
          expect(await cache.invalidate(TENANT, pattern)).toBe(0);
          expect(await left()).toEqual(['1', '2', '3']);
        },
      );

      it('matches a hostile pattern against a hostile name in no time', async () => {
        await cache.put(entry({ key: hex('4'), agent_id: 'a'.repeat(10_000) }));
        const startedAtMs = performance.now();
        expect(await cache.invalidate(TENANT, `agent:${'*a'.repeat(90)}*b`)).toBe(0);
        expect(await cache.invalidate(TENANT, `agent:${'*a'.repeat(90)}`)).toBe(1);
        expect(performance.now() - startedAtMs).toBeLessThan(2_000);
      });

      it('does not count what has expired', async () => {
        place.advance(24 * HOUR_MS);
        expect(await cache.invalidate(TENANT, null, true)).toBe(0);
        expect(await cache.invalidate(TENANT, null)).toBe(0);
      });

      it('[edge 8] while entries are read and stored neither fails nor leaves what was there before', async () => {
        const keys = await putNumbered(120);
        const reads = keys.map((key) => cache.get(TENANT, key));
        const writes = keys.map((_, index) =>
          cache.put(entry({ key: hex(`during ${index}`), agent_id: 'later', vector: null })),
        );
        const removed = cache.invalidate(TENANT, 'agent:agent-1');
        for (const hit of await Promise.all(reads))
          expect(hit === null || hit.entry.answer.text === 'Paris.').toBe(true);
        expect(await Promise.all(writes)).toEqual(keys.map(() => 'kept'));
        expect(await removed).toBe(120);
        expect(await Promise.all(keys.map((key) => cache.get(TENANT, key)))).toEqual(keys.map(() => null));
        expect(await textOf(TENANT, hex('during 7'))).toBe('Paris.');
      });

      it('removes more than a batch', async () => {
        await putNumbered(900);
        expect(await cache.invalidate(TENANT, 'agent:agent-1', true)).toBe(900);
        expect(await cache.invalidate(TENANT, 'agent:agent-1')).toBe(900);
        expect(await left()).toEqual(['1', '2', '3']);
      });
    });

    it('evicts one entry, for both matches, and says whether it was there', async () => {
      await cache.put(entry());
      await cache.put(entry({ key: hex('other'), scope: null }));
      expect(await cache.evict(TENANT, entry().key)).toBe(true);
      expect(await cache.evict(TENANT, entry().key)).toBe(false);
      expect(await cache.get(TENANT, entry().key)).toBeNull();
      expect(await search(vectorAt(1))).toBeNull();
      expect((await cache.stats(TENANT)).total_entries).toBe(1);
    });

    describe('an answer that was asked for before answers were thrown out', () => {
      const epochOf = async (tenant = TENANT): Promise<CacheEpoch> =>
        (await cache.epoch(tenant)) ?? expect.fail('no epoch');

      it.each([
        ['everything', () => cache.invalidate(TENANT, null)],
        ['what a pattern matches, itself or not', () => cache.invalidate(TENANT, 'agent:nobody')],
        ['one entry', () => cache.evict(TENANT, hex('nothing'))],
      ])('is not kept: %s', async (_, throwOut) => {
        const before = await epochOf();
        await throwOut();
        expect(await cache.put(entry(), before)).toBe('outdated');
        expect(await cache.get(TENANT, entry().key)).toBeNull();
        expect(await search(vectorAt(1))).toBeNull();
        expect(await cache.stats(TENANT)).toEqual({ total_entries: 0, total_bytes: 0 });
        expect(await cache.put(entry(), await epochOf())).toBe('kept');
        expect((await search(vectorAt(1)))?.entry.key).toBe(entry().key);
      });

      it('leaves alone what is kept under its key and was asked for since', async () => {
        const before = await epochOf();
        await cache.invalidate(TENANT, null);
        const since = entry({ answer: answer({ text: 'asked for since' }) });
        expect(await cache.put(since, await epochOf())).toBe('kept');
        expect(await cache.put(entry(), before)).toBe('outdated');
        expect(await textOf(TENANT, since.key)).toBe('asked for since');
        expect((await search(vectorAt(1)))?.entry.answer.text).toBe('asked for since');
      });

      it('is kept if that was a preview, another tenant, or an entry that only had to make room', async () => {
        await start({ entriesMax: 2 });
        const [ours, theirs] = [await epochOf(), await epochOf('tenant-2')];
        await cache.invalidate(TENANT, null, true);
        await cache.invalidate('tenant-2', null);
        await putNumbered(5);
        expect(await cache.put(entry(), ours)).toBe('kept');
        expect(await cache.put(entry({ tenant_id: 'tenant-2' }), theirs)).toBe('outdated');
      });

      it('is never served, whichever of the two comes first', async () => {
        for (let round = 0; round < 20; round += 1) {
          const before = await epochOf();
          const key = hex(`round ${round}`);
          const [put] = await Promise.all([
            cache.put(entry({ key }), before),
            cache.invalidate(TENANT, null),
          ]);
          expect(['kept', 'outdated']).toContain(put);
          expect(await cache.get(TENANT, key)).toBeNull();
        }
      });
    });

    describe('to an operator', () => {
      it('[11] tells entries and bytes, which grow and shrink with them', async () => {
        expect(await cache.stats(TENANT)).toEqual({ total_entries: 0, total_bytes: 0 });
        await cache.put(entry({ answer: answer({ text: 'x'.repeat(5_000) }) }));
        const one = await cache.stats(TENANT);
        expect(one.total_entries).toBe(1);
        expect(one.total_bytes).toBeGreaterThan(5_000);
        await cache.put(entry({ key: hex('wide'), answer: answer({ text: '東'.repeat(5_000) }) }));
        const two = await cache.stats(TENANT);
        expect(two.total_entries).toBe(2);
        expect(two.total_bytes).toBeGreaterThan(one.total_bytes + 10_000);
      });

      it('shows of an entry what it is and how often it was used, and no text of it', async () => {
        await cache.put(entry());
        place.advance(1_000);
        const hitAtMs = place.nowMs();
        await cache.get(TENANT, entry().key);
        await search(vectorAt(0.95));
        const { items } = await cache.entries({ tenant_id: TENANT, limit: 10 });
        expect(items).toEqual([
          {
            key: entry().key,
            agent_id: 'agent-1',
            upstream: 'openai',
            model: 'gpt-4o-mini',
            dialect: 'openai-chat',
            created_at_ms: hitAtMs - 1_000,
            last_hit_at_ms: hitAtMs,
            hit_count: 2,
            byte_count: expect.any(Number),
            has_vector: true,
            cost_usd: 0.0015,
          },
        ]);
        expect(JSON.stringify(items)).not.toMatch(/Paris|France/);
      });

      it('counts no hit for a candidate that was refused or a match that was too old', async () => {
        await cache.put(entry());
        await search(vectorAt(0.95), { accept: () => false });
        place.advance(HOUR_MS);
        await cache.get(TENANT, entry().key);
        expect((await allEntries(TENANT))[0]).toMatchObject({ hit_count: 0, last_hit_at_ms: null });
      });

      it('counts no hit for a match that is compared and not served', async () => {
        await cache.put(entry());
        expect(await search(vectorAt(0.95), { serves: false })).not.toBeNull();
        expect((await allEntries(TENANT))[0]).toMatchObject({ hit_count: 0, last_hit_at_ms: null });
      });

      it('gives pages, most hits first, without repeating or leaving out any', async () => {
        const keys = await putNumbered(11);
        for (const [index, key] of keys.entries())
          for (let hit = 0; hit < index % 4; hit += 1) await cache.get(TENANT, key);
        const items = await allEntries(TENANT);
        expect(new Set(items.map(({ key }) => key))).toEqual(new Set(keys));
        expect(items).toHaveLength(11);
        const hits = items.map(({ hit_count: count }) => count);
        expect(hits).toEqual([...hits].sort((one, other) => other - one));
        // Wherever a page ends: behind the last with as many hits, too.
        expect(await allEntries(TENANT, 1)).toEqual(items);
      });

      it.each([
        ['is no JSON', 'nonsense'],
        ['is empty', ''],
        ['holds nothing', 'W10'],
        ['belongs to another listing', Buffer.from('["calls",1,"x"]').toString('base64url')],
        ['is far too long', 'a'.repeat(9_000)],
      ])('refuses a cursor that %s', async (_, cursor) => {
        await expect(cache.entries({ tenant_id: TENANT, limit: 3, cursor })).rejects.toMatchObject({
          code: 'invalid_request',
        });
      });
    });

    describe('a tenant', () => {
      const others = ['tenant-2', 'tenant-', 'tenant-1 ', '*', '?enant-1', 'tenant-1\0', '{tenant-1}', ''];

      beforeEach(async () => {
        await cache.put(entry());
      });

      it.each(others)(
        '"%s" reaches nothing of another, by key, scope, pattern, list or count',
        async (tenant) => {
          expect(await cache.get(tenant, entry().key)).toBeNull();
          expect(await search(vectorAt(1), { tenant_id: tenant })).toBeNull();
          expect(await cache.invalidate(tenant, null)).toBe(0);
          expect(await cache.invalidate(tenant, '*')).toBe(0);
          expect(await cache.invalidate(tenant, entry().key)).toBe(0);
          expect(await cache.evict(tenant, entry().key)).toBe(false);
          expect((await cache.entries({ tenant_id: tenant, limit: 10 })).items).toEqual([]);
          expect(await cache.stats(tenant)).toEqual({ total_entries: 0, total_bytes: 0 });
          expect(await textOf(TENANT, entry().key)).toBe('Paris.');
        },
      );

      it('has its own entry under a key that another has too', async () => {
        await cache.put(entry({ tenant_id: 'tenant-2', answer: answer({ text: 'Lyon.' }) }));
        expect(await textOf(TENANT, entry().key)).toBe('Paris.');
        expect(await textOf('tenant-2', entry().key)).toBe('Lyon.');
        expect((await search(vectorAt(1), { tenant_id: 'tenant-2' }))?.entry.answer.text).toBe('Lyon.');
        expect(await cache.invalidate('tenant-2', null)).toBe(1);
        expect(await textOf(TENANT, entry().key)).toBe('Paris.');
        expect((await search(vectorAt(1)))?.entry.answer.text).toBe('Paris.');
      });

      it.each([
        '*',
        '',
        '../x',
        `}:{${hex('question')}`,
        `${hex('question')}\0`,
        hex('question').toUpperCase(),
      ])('finds nothing under the key "%s"', async (key) => {
        expect(await cache.get(TENANT, key)).toBeNull();
        expect(await cache.evict(TENANT, key)).toBe(false);
      });
    });

    describe('when the clock', () => {
      it('jumps forward, serves nothing older than it may, and goes on', async () => {
        await cache.put(entry());
        place.advance(400 * 24 * HOUR_MS);
        expect(await cache.get(TENANT, entry().key)).toBeNull();
        expect(await search(vectorAt(1))).toBeNull();
        await cache.put(entry());
        expect(await textOf(TENANT, entry().key)).toBe('Paris.');
      });

      it('jumps back, makes nothing young again', async () => {
        await cache.put(entry());
        place.advance(HOUR_MS - 1_000);
        expect((await cache.get(TENANT, entry().key))?.age_ms).toBe(HOUR_MS - 1_000);
        place.advance(-10 * HOUR_MS);
        const early = await cache.get(TENANT, entry().key);
        expect(early === null || early.age_ms >= 0).toBe(true);
        await cache.put(entry({ key: hex('early') }));
        expectAge((await cache.get(TENANT, hex('early')))?.age_ms, 0);
      });

      it('was ahead when an entry was made, gives it no negative age', async () => {
        await cache.put(entry({ created_at_ms: place.nowMs() + 5_000 }));
        expectAge((await cache.get(TENANT, entry().key))?.age_ms, 0);
        expectAge((await search(vectorAt(1)))?.age_ms, 0);
      });
    });

    it('is not degraded while it works', async () => {
      await cache.get(TENANT, entry().key);
      expect(cache.isDegraded).toBe(false);
    });
  });
}
