import { Registry } from 'prom-client';
import { describe, expect, it } from 'vitest';
import type { CacheHit, Cosine, OperatorPrincipal } from '#contracts';
import { readMatchQuery } from '#domain/llm-cache';
import { buildLlmAnswer, countingIds, FakeClock, turn } from '#testing';
import type { ProxyCall } from '../llm-proxy/proxy-call.js';
import { CacheTally } from './cache-tally.js';
import { SemanticMatches, type SemanticMatchesParts } from './semantic-matches.js';

const CALL = { tenantId: 'default', agentId: 'a', id: 'c', summary: null } as ProxyCall;
const ADA = { operator_id: 'ada', tenant_id: 'default', role: 'operator' } as OperatorPrincipal;
const BEN = { ...ADA, operator_id: 'ben' };
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
      matches.judge(ADA, match?.match_id ?? '', verdict, async () => {});
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

describe('a verdict', () => {
  const served = (matches: SemanticMatches): string => {
    matches.served(CALL, { key: 'one', askedKey: 'other', matched: 'm', prompt: 'p', cosine: COSINE });
    return matches.list('default', readMatchQuery({ limit: 1 })).items[0]?.match_id ?? '';
  };

  it('that is given already changes nothing, is not recorded, and evicts nothing; of two at once, too', async () => {
    const evicted: string[] = [];
    const { matches } = matchesWith({
      cache: {
        evict: async (_, key) => {
          await turn();
          return evicted.push(key) > 0;
        },
      },
    });
    const id = served(matches);
    const recorded: string[] = [];
    const judge = (verdict: 'right' | 'wrong', by = ADA) =>
      matches.judge(by, id, verdict, async (_, act) => {
        await act?.();
        recorded.push(`${by.operator_id} ${verdict}`);
      });
    const both = await Promise.all([judge('wrong'), judge('wrong', BEN)]);
    expect(both).toMatchObject([{ verdict_by: 'ada' }, { verdict_by: 'ada' }]);
    for (const verdict of ['wrong', 'right', 'right'] as const) await judge(verdict, BEN);
    expect(recorded).toEqual(['ada wrong', 'ben right']);
    expect(evicted).toEqual(['one']);
  });

  it('counts again where another match of the same two questions was judged otherwise since', async () => {
    const { matches } = matchesWith();
    const [first, second] = [served(matches), served(matches)];
    let recordedCount = 0;
    const judge = (id: string, verdict: 'right' | 'wrong') =>
      matches.judge(ADA, id, verdict, async () => void recordedCount++);
    await judge(first, 'wrong');
    await judge(second, 'right');
    await judge(first, 'wrong');
    expect(recordedCount).toBe(3);
    expect(matches.areDifferent('default', 'one', 'other')).toBe(true);
  });

  it('that cannot be recorded is none, evicts nothing, and is given by the next try', async () => {
    const evict = async () => expect.unreachable();
    const { matches, tally } = matchesWith({ cache: { evict } });
    const id = served(matches);
    const refused = matches.judge(ADA, id, 'wrong', () => Promise.reject(new Error('store_full')));
    await expect(refused).rejects.toThrow('store_full');
    expect(matches.list('default', readMatchQuery({ limit: 1 })).items).toMatchObject([{ verdict: null }]);
    expect(matches.areDifferent('default', 'one', 'other')).toBe(false);
    expect(tally.counts('default')).toMatchObject({ marked_wrong: 0 });
    expect(await matches.judge(ADA, id, 'wrong', async () => {})).toMatchObject({ verdict: 'wrong' });
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
