import { Registry } from 'prom-client';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import type { CacheHit, LlmCache } from '#contracts';
import { MemoryLlmCache } from '#domain/llm-cache';
import { deferred } from '#kernel';
import { buildLlmAnswer, FakeClock } from '#testing';
import type { ProxyCall } from '../llm-proxy/proxy-call.js';
import type { Landing } from './cache-flights.js';
import { CacheFreshness } from './cache-freshness.js';
import { CacheKeeper } from './cache-keeper.js';
import { CacheTally } from './cache-tally.js';
import type { CacheTicket } from './cache-ticket.js';

const TENANT = 't';
const KEY = 'a'.repeat(64);
const HIT = { entry: { key: 'b'.repeat(64) } } as CacheHit;

const answer = buildLlmAnswer();

const clock = new FakeClock();
let cache: MemoryLlmCache;
let freshness: CacheFreshness;
let tally: CacheTally;
let compared: string[];
let failures: unknown[];

beforeEach(() => {
  cache = new MemoryLlmCache({
    clock,
    entriesMax: 10,
    bytesMax: 1_000_000,
    exactTtlMs: 60_000,
    semanticTtlMs: 60_000,
  });
  freshness = new CacheFreshness();
  tally = new CacheTally(clock, new Registry());
  compared = [];
  failures = [];
});

/** An answered call, and what a test cares about on top. */
const callOf = (overrides: Partial<ProxyCall> = {}): ProxyCall =>
  ({
    tenantId: TENANT,
    agentId: 'agent',
    upstream: { name: 'openai' },
    cache: null,
    injections: [],
    decision: 'forwarded',
    wasSent: true,
    wasTakenUp: true,
    isAnswered: true,
    status: 200,
    answer,
    costMicroUsd: 7,
    durationMs: 12,
    ...overrides,
  }) as ProxyCall;

/** A call that was looked up and missed just now. */
const ticketOf = (overrides: Partial<CacheTicket> = {}): CacheTicket => {
  const lookUp = freshness.begin(TENANT, KEY);
  lookUp.epoch = cache.epochNow(TENANT);
  return {
    request: { dialect: 'openai-chat', model: 'm', rest: {} },
    key: KEY,
    scope: { scope: 'c'.repeat(64), prompt: 'Which city?' },
    lookUp,
    vector: null,
    land: undefined,
    shadow: null,
    ...overrides,
  };
};

/** Resolves with what those who wait get, once the keeper is done with the call. */
async function kept(
  call: ProxyCall,
  ticket = ticketOf(),
  backend: LlmCache = cache,
): Promise<Landing | null> {
  const ended = deferred();
  const landed = deferred<Landing | null>();
  const keeper = new CacheKeeper({
    cache: backend,
    freshness: {
      claim: (lookUp) => freshness.claim(lookUp),
      disclaim: (lookUp) => freshness.disclaim(lookUp),
      end: (lookUp) => {
        freshness.end(lookUp);
        ended.resolve();
      },
    },
    tally,
    matches: { compare: async (_call, { prompt }) => void compared.push(prompt) },
    clock,
    onFailed: (error) => failures.push(error),
  });
  keeper.keep(call, { ...ticket, land: landed.resolve });
  await ended.promise;
  return landed.promise;
}

const textKept = (): string | undefined => cache.getNow(TENANT, KEY)?.entry.answer.text;
const notStored = () => tally.counts(TENANT).not_stored;

test('keeps a whole answer, and lets those who wait share it', async () => {
  expect(await kept(callOf())).toMatchObject({ answer: { text: 'Bern.' }, cost_micro_usd: 7 });
  expect(textKept()).toBe('Bern.');
  expect(notStored()).toEqual({});
  expect(freshness.count).toBe(0);
});

test.each<[string, Partial<ProxyCall>, string]>([
  ['with another status than 200', { status: 206 }, 'failed'],
  ['that held an error', { isAnswered: false, answer: { ...answer, failed: true } }, 'failed'],
  ['that the upstream broke off', { isAnswered: false, decision: 'upstream_failed' }, 'unfinished'],
  [
    'that the upstream broke off before the client had any of it',
    { isAnswered: false, decision: 'upstream_failed', status: 502, answer: null },
    'unfinished',
  ],
  [
    'that the upstream failed to give',
    { wasTakenUp: false, isAnswered: false, decision: 'upstream_failed', status: 500, answer: null },
    'failed',
  ],
  ['whose client left', { decision: 'aborted' }, 'unfinished'],
  ['cut off when its session was terminated', { decision: 'cut_off' }, 'unfinished'],
  ['to a call that carries words of ours', { injections: ['Look elsewhere.'] }, 'hinted'],
  ['that broke off at its length', { answer: { ...answer, finish: 'length' } }, 'length'],
  ['that nobody could read', { answer: null }, 'lossy'],
])('keeps no answer %s, and gives it to nobody', async (_, overrides, reason) => {
  expect(await kept(callOf(overrides))).toBeNull();
  expect(textKept()).toBeUndefined();
  expect(notStored()).toEqual({ [reason]: 1 });
});

test('has no answer to miss of a call that no upstream was asked for', async () => {
  expect(await kept(callOf({ wasSent: false, isAnswered: false, decision: 'refused' }))).toBeNull();
  expect(notStored()).toEqual({});
});

test('leaves alone what came from the cache itself', async () => {
  const put = vi.spyOn(cache, 'put');
  const found = { match: 'exact', age_s: 1, cosine: null, saved_usd: null } as const;
  expect(await kept(callOf({ cache: found }))).toBeNull();
  expect(put).not.toHaveBeenCalled();
  expect(notStored()).toEqual({});
});

describe('an answer that was under way', () => {
  test('when answers were thrown out is not kept', async () => {
    const ticket = ticketOf();
    await cache.invalidate(TENANT, null);
    await kept(callOf(), ticket);
    expect(textKept()).toBeUndefined();
    expect(notStored()).toEqual({ outdated: 1 });
  });

  test('in an epoch that nobody could tell is not kept', async () => {
    const ticket = ticketOf();
    if (ticket.lookUp !== null) ticket.lookUp.epoch = null;
    await kept(callOf(), ticket);
    expect(textKept()).toBeUndefined();
    expect(notStored()).toEqual({ backend_away: 1 });
  });

  test('does not take the place of one that was asked for later', async () => {
    const [older, younger] = [ticketOf(), ticketOf()];
    await kept(callOf({ answer: { ...answer, text: 'younger' } }), younger);
    await kept(callOf({ answer: { ...answer, text: 'older' } }), older);
    expect(textKept()).toBe('younger');
    expect(notStored()).toEqual({ outdated: 1 });
  });

  test('takes its place where the one that was asked for later is too large to be kept', async () => {
    const [older, younger] = [ticketOf(), ticketOf()];
    await kept(callOf({ answer: { ...answer, text: 'x'.repeat(1_000_000) } }), younger);
    await kept(callOf({ answer: { ...answer, text: 'older' } }), older);
    expect(textKept()).toBe('older');
  });
});

test('an answer over the size bound is not kept, and is shared all the same', async () => {
  const text = 'x'.repeat(1_000_000);
  expect((await kept(callOf({ answer: { ...answer, text } })))?.answer.text).toBe(text);
  expect(textKept()).toBeUndefined();
  expect(notStored()).toEqual({ too_large: 1 });
});

test('compares what shadow mode would have served with a whole answer only', async () => {
  await kept(callOf({ isAnswered: false }), ticketOf({ shadow: HIT }));
  await kept(callOf({ answer: null }), ticketOf({ shadow: HIT }));
  expect(compared).toEqual([]);
  await kept(callOf({ answer: { ...answer, finish: 'length' } }), ticketOf({ shadow: HIT }));
  expect(compared).toEqual(['Which city?']);
});

test('a backend that fails keeps nobody waiting', async () => {
  const failing = Object.assign(Object.create(cache) as LlmCache, {
    put: () => Promise.reject(new Error('no')),
    kind: 'redis',
  });
  expect(await kept(callOf(), ticketOf(), failing)).toBeNull();
  expect(failures).toHaveLength(1);
});
