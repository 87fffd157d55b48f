import { Registry } from 'prom-client';
import { describe, expect, it } from 'vitest';
import type { CacheHit, Cosine } from '#contracts';
import { readMatchQuery } from '#domain/llm-cache';
import { buildLlmAnswer, countingIds, FakeClock } from '#testing';
import type { ProxyCall } from '../llm-proxy/proxy-call.js';
import { CacheTally } from './cache-tally.js';
import { SemanticMatches, type SemanticMatchesParts } from './semantic-matches.js';

const CALL = { tenantId: 'default', agentId: 'a', id: 'c', summary: null } as ProxyCall;
const COSINE = 0.95 as Cosine;

function matchesWith(more: Partial<SemanticMatchesParts> = {}) {
  const clock = new FakeClock();
  const tally = new CacheTally(clock, new Registry());
  const matches = new SemanticMatches({
    clock,
    ids: countingIds(),
    tally,
    embedder: {} as SemanticMatchesParts['embedder'],
    gate: () => 'numbers',
    cache: { evict: async () => true },
    redact: (text) => text,
    ...more,
  });
  return { matches, tally };
}

it.each(['length', 'filtered', 'other', null] as const)(
  'says nothing of a match whose real answer did not end by itself (%s)',
  async (finish) => {
    const { matches, tally } = matchesWith();
    const entry = { key: 'k', prompt: 'Which town?', answer: buildLlmAnswer() };
    const hit = { entry, age_ms: 1, cosine: COSINE } as unknown as CacheHit;
    await matches.compare(
      CALL,
      { key: 'own', prompt: 'Which city?' },
      hit,
      buildLlmAnswer({ text: 'Be', finish }),
    );
    expect(matches.list('default', readMatchQuery({ limit: 10 })).items).toMatchObject([{ agreed: null }]);
    expect(tally.counts('default')).toMatchObject({ shadow_agreed: 0, shadow_differed: 0 });
  },
);

describe('two questions that somebody called different', () => {
  it('are so in either direction, for their tenant, until somebody says otherwise', async () => {
    const { matches } = matchesWith();
    matches.served(CALL, { key: 'one', askedKey: 'other', matched: 'm', prompt: 'p', cosine: COSINE });
    const [match] = matches.list('default', readMatchQuery({ limit: 10 })).items;
    const judge = (verdict: 'right' | 'wrong') =>
      matches.judge('default', match?.match_id ?? '', verdict, 'ada');
    const areDifferent = () => [
      matches.areDifferent('default', 'one', 'other'),
      matches.areDifferent('default', 'other', 'one'),
      matches.areDifferent('default', 'one', 'third'),
      matches.areDifferent('tenant-2', 'one', 'other'),
    ];
    expect(areDifferent()).toEqual([false, false, false, false]);
    await judge('wrong');
    expect(areDifferent()).toEqual([true, true, false, false]);
    await judge('right');
    expect(areDifferent()).toEqual([false, false, false, false]);
  });
});

it('pages to the end though new matches push out the one that a page ended with', () => {
  const matches = new SemanticMatches({
    clock: new FakeClock(),
    ids: countingIds(),
    redact: (text: string) => text,
  } as unknown as SemanticMatchesParts);
  const add = (count: number) => {
    for (let index = 0; index < count; index += 1)
      matches.served({ tenantId: 'default', agentId: 'a', id: 'c', summary: null } as never, {
        key: 'k',
        askedKey: 'own',
        prompt: 'p',
        matched: 'm',
        cosine: COSINE,
      });
  };
  add(150);
  const first = matches.list('default', readMatchQuery({ limit: 100 }));
  const second = matches.list('default', readMatchQuery({ limit: 100, cursor: first.next_cursor ?? '' }));
  expect(second.items).toHaveLength(50);
  expect(second.next_cursor).toBeNull();
  add(160);
  const late = matches.list('default', readMatchQuery({ limit: 100, cursor: first.next_cursor ?? '' }));
  expect(late).toEqual({ items: [], next_cursor: null });
});
