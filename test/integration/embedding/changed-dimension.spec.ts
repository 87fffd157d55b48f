/** An embeddings server that gets another model under the same name, while the cache asks it. */
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { HttpEmbedder } from '#adapters/embeddings-http';
import { FakeClock, respondJson, ScriptedUpstream } from '#testing';
import { OwnCacheEmbedder } from '../../../apps/gateway/src/llm-cache/cache-embedder.js';

/** What the server's model has now; null: it answers without any embeddings. */
let dimension: number | null;
let warmUpCount: number;
let upstream: ScriptedUpstream;
let embedder: OwnCacheEmbedder;
let failures: unknown[];

beforeEach(async () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  failures = [];
  upstream = await new ScriptedUpstream().listen();
  dimension = 8;
  warmUpCount = 0;
  upstream.script((call, response) => {
    const { input } = call.json as { input: string[] };
    if (input.includes('warm-up')) warmUpCount += 1;
    const embedding = Array.from({ length: dimension ?? 0 }, () => 1);
    const data = dimension === null ? [] : input.map((_, index) => ({ index, embedding }));
    respondJson(response, 200, { data });
  });
  const settings = { baseUrl: upstream.origin, model: 'bge-m3', apiKey: null };
  const clock = new FakeClock();
  embedder = new OwnCacheEmbedder(() => HttpEmbedder.open(settings, { clock }), clock, {
    onFailed: (error) => failures.push(error),
    onLeftAlone: () => expect.unreachable(),
  });
  await vi.waitFor(() => expect(embedder.model).not.toBeNull());
});
afterEach(async () => {
  await embedder.close();
  await upstream.close();
  vi.useRealTimers();
});

const dimensionOf = async (text: string) => (await embedder.embed(text))?.values.length;

it('is opened anew, and gives vectors of the new dimension from then on', async () => {
  expect(await dimensionOf('before')).toBe(8);
  dimension = 16;
  vi.advanceTimersByTime(10_000);
  expect(await dimensionOf('the first to tell')).toBeUndefined();
  expect(String(failures[0])).toContain('16 numbers where 8 are expected');
  await vi.waitFor(async () => expect(await dimensionOf('after')).toBe(16));
});

it('is asked what it is once in a while at most, however often it changes', async () => {
  for (let round = 0; round < 20; round += 1) {
    dimension = round % 2 === 0 ? 16 : 8;
    await embedder.embed(`text ${round}`);
    vi.advanceTimersByTime(1_000);
  }
  expect(failures.length).toBeGreaterThan(3);
  expect(warmUpCount).toBeLessThanOrEqual(1 + 2);
});

it('is not opened anew for one answer that makes no sense', async () => {
  vi.advanceTimersByTime(10_000);
  dimension = null;
  expect(await dimensionOf('odd')).toBeUndefined();
  dimension = 8;
  expect(await dimensionOf('even')).toBe(8);
  expect(warmUpCount).toBe(1);
});
