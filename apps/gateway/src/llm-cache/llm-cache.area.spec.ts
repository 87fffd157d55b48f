import { Registry } from 'prom-client';
import { expect, test } from 'vitest';
import type { LlmCache, OperatorPrincipal } from '#contracts';
import { countingIds, FakeClock } from '#testing';
import { buildProxyCall } from '../llm-proxy/proxy-call.fixture.js';
import type { CacheDesk } from './cache-desk.js';
import { LlmCacheArea, type LlmCacheDependencies } from './llm-cache.area.js';

const BODY = { model: 'm', temperature: 0, messages: [{ role: 'user', content: 'Where is order 12?' }] };
const ADA = { tenant_id: 'default', operator_id: 'ada' } as OperatorPrincipal;

/** On a Redis that is too slow to say what is valid, and takes commands all the same. */
function slowArea() {
  const cache: Partial<LlmCache> = {
    kind: 'redis',
    waitMs: 20,
    isDegraded: false,
    get: async () => null,
    epoch: async () => null,
    invalidate: async () => 3,
  };
  const area = new LlmCacheArea({
    clock: new FakeClock(),
    ids: countingIds(),
    metrics: new Registry(),
    config: { semanticMode: 'off', hitWhenCosineAtLeast: null, embedding: { provider: 'local' } },
    cache,
    audit: { around: async (_: unknown, act: () => Promise<unknown>) => act() },
  } as unknown as LlmCacheDependencies);
  /** @returns whether the call goes to the upstream, or waits for an equal one until that is over */
  const ask = async () => {
    const call = buildProxyCall({ body: BODY });
    const passAgain = async (_: unknown, landed: Promise<void>) => void (await landed);
    const verdict = (area.desk as CacheDesk).answer(call, { policy: 'on', control: null, passAgain });
    const goes = Promise.resolve(verdict).then(() => 'goes on');
    const waits = new Promise((resolve) => setImmediate(() => resolve('waits')));
    return { outcome: await Promise.race([goes, waits]), land: () => call.cacheTicket?.land?.(null) };
  };
  return { area, ask };
}

test.each([
  ['waits for an equal one that was under way when answers were only counted', true, 'waits'],
  ['waits for none that was under way when answers were thrown out here', false, 'goes on'],
])('a call %s, though nobody can say what is valid', async (_, preview, outcome) => {
  const { area, ask } = slowArea();
  const first = await ask();
  expect(first.outcome).toBe('goes on');
  expect(await area.invalidate(ADA, { preview })).toBe(3);
  const second = await ask();
  expect(second.outcome).toBe(outcome);
  first.land();
  second.land();
});
