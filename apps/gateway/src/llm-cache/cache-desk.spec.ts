import { Registry } from 'prom-client';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { CacheHit, Cosine, LlmCache, SemanticQuery } from '#contracts';
import { deferred } from '#kernel';
import { FakeClock } from '#testing';
import { buildProxyCall } from '../llm-proxy/proxy-call.fixture.js';
import { CacheDesk, type CacheWish } from './cache-desk.js';
import { CacheFlights } from './cache-flights.js';
import { CacheFreshness } from './cache-freshness.js';
import { CacheTally } from './cache-tally.js';

const WAIT_MS = 20;
const BODY = { model: 'm', temperature: 0, messages: [{ role: 'user', content: 'Where is order 12?' }] };

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'performance'] }));
afterEach(() => void vi.useRealTimers());

const VECTOR = { model_id: 'm', values: new Float32Array([1]) };
const WISH: CacheWish = { policy: 'on', control: null, passAgain: async () => undefined };

function deskOf(cache: LlmCache, embed: () => Promise<unknown>): CacheDesk {
  const clock = new FakeClock();
  return new CacheDesk({
    cache,
    mode: 'on',
    hitWhenCosineAtLeast: 0.9 as Cosine,
    embedder: { embed, model: {} },
    gate: () => null,
    flights: new CacheFlights(),
    freshness: new CacheFreshness(),
    tally: new CacheTally(clock, new Registry()),
    clock,
  } as never);
}

/** Looks a request up in a Redis each of whose answers takes so long. */
async function lookUp(answerMs: number) {
  const asked: string[] = [];
  let searchWaitMs: number | undefined;
  const slowly = <T>(name: string, value: T): Promise<T> => {
    asked.push(name);
    return new Promise((resolve) => setTimeout(() => resolve(value), answerMs));
  };
  const cache = {
    kind: 'redis',
    waitMs: WAIT_MS,
    get: () => slowly<CacheHit | null>('entry', null),
    epoch: () => slowly('epoch', 'e'),
    semanticSearch: async ({ waitMs }: SemanticQuery) => {
      asked.push('search');
      searchWaitMs = waitMs;
      return null;
    },
  } as Partial<LlmCache> as LlmCache;
  const call = buildProxyCall({ body: BODY });
  const verdict = deskOf(cache, async () => VECTOR).answer(call, WISH);
  const askedAtOnce = [...asked];
  await vi.advanceTimersByTimeAsync(answerMs);
  expect(await verdict).toBeUndefined();
  return { askedAtOnce, asked, searchWaitMs, epoch: call.cacheTicket?.lookUp?.epoch };
}

test('a look-up asks a Redis for the entry and its epoch at once, and searches in the time that is left', async () => {
  const { askedAtOnce, asked, searchWaitMs, epoch } = await lookUp(15);
  expect(askedAtOnce).toEqual(['entry', 'epoch']);
  expect(asked).toEqual(['entry', 'epoch', 'search']);
  expect(searchWaitMs).toBe(WAIT_MS - 15);
  expect(epoch).toBe('e');
});

test('what comes of a look-up can be kept where no time was left to search', async () => {
  const { searchWaitMs, epoch } = await lookUp(WAIT_MS + 1);
  expect(searchWaitMs).toBeLessThan(0);
  expect(epoch).toBe('e');
});

test('nothing is searched for a call that left while its text was embedded', async () => {
  const embedded = deferred<unknown>();
  const cache = {
    kind: 'redis',
    waitMs: WAIT_MS,
    get: async () => null,
    epoch: async () => 'e',
    semanticSearch: async () => expect.unreachable(),
  } as Partial<LlmCache> as LlmCache;
  const call = buildProxyCall({ body: BODY });
  const desk = deskOf(cache, () => embedded.promise);
  const verdict = desk.answer(call, WISH);
  await vi.advanceTimersByTimeAsync(0);
  call.leave();
  embedded.resolve(VECTOR);
  expect(await verdict).toBeUndefined();
});

test('where nobody can tell the epoch, equal calls share an answer, but not across one of our own invalidations', async () => {
  const cache = {
    kind: 'redis',
    waitMs: WAIT_MS,
    get: async () => null,
    epoch: async () => null,
    semanticSearch: async () => null,
  } as Partial<LlmCache> as LlmCache;
  const desk = deskOf(cache, async () => null);
  const ask = () => {
    const call = buildProxyCall({ body: BODY });
    const verdict = desk.answer(call, { ...WISH, passAgain: async (_, landed) => void (await landed) });
    return { call, verdict: Promise.resolve(verdict).then(() => 'goes on') };
  };
  const first = ask();
  expect(await first.verdict).toBe('goes on');
  const second = ask();
  await vi.advanceTimersByTimeAsync(0);
  desk.noteThrownOut();
  expect(await ask().verdict).toBe('goes on');
  expect(await Promise.race([second.verdict, Promise.resolve('waits')])).toBe('waits');
  first.call.cacheTicket?.land?.(null);
  expect(await second.verdict).toBe('goes on');
});
