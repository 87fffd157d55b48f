import { describe, expect, test, vi } from 'vitest';
import { type Embedder, EmbeddingFailure, type EmbeddingService, type SidecarDescription } from '#contracts';
import { FakeClock } from '#testing';
import { OwnCacheEmbedder, SidecarCacheEmbedder } from './cache-embedder.js';

const vector = Float32Array.of(1, 0);

function sidecar(over: Partial<EmbeddingService> = {}) {
  let model = 'one';
  const service = {
    isReady: true,
    embed: async () => ({ fitness: 'fit', vector, model_id: model }),
    describe: async () => ({ model_id: model, hitWhenCosineAtLeast: 0.9 }) as SidecarDescription,
    ...over,
  } as unknown as EmbeddingService;
  return { service, change: (name: string) => (model = name) };
}

describe('SidecarCacheEmbedder', () => {
  test('learns the threshold with the first vector, and anew when the model is another', async () => {
    const { service, change } = sidecar();
    const embedder = new SidecarCacheEmbedder(service, 50, vi.fn());
    expect(embedder.model).toBeNull();
    expect(await embedder.embed('text', null)).toEqual({ model_id: 'one', values: vector });
    expect(embedder.model).toEqual({ model_id: 'one', hitWhenCosineAtLeast: 0.9 });
    change('two');
    expect(await embedder.embed('text', null)).toMatchObject({ model_id: 'two' });
    expect(embedder.model?.model_id).toBe('two');
  });

  test('says what it is to who asks before the first text, and nothing while it is away', async () => {
    const { service } = sidecar();
    const embedder = new SidecarCacheEmbedder(service, 50, vi.fn());
    expect(await embedder.describe()).toEqual({ model_id: 'one', hitWhenCosineAtLeast: 0.9 });
    Object.assign(service, { isReady: false });
    expect(await embedder.describe()).toBeNull();
    const failing = sidecar({ describe: () => Promise.reject(new Error('gone')) });
    expect(await new SidecarCacheEmbedder(failing.service, 50, vi.fn()).describe()).toBeNull();
  });

  test('gives nothing, and never rejects, when the sidecar is away, fails, or has no vector', async () => {
    const failed = vi.fn();
    const gives = (over: Partial<EmbeddingService>) =>
      new SidecarCacheEmbedder(sidecar(over).service, 50, failed).embed('text', null);
    expect(await gives({ isReady: false })).toBeNull();
    expect(await gives({ embed: () => Promise.reject(new Error('gone')) })).toBeNull();
    expect(await gives({ describe: () => Promise.reject(new Error('gone')) })).toBeNull();
    expect(
      await gives({ embed: async () => ({ fitness: 'empty', vector: null, model_id: 'one' }) }),
    ).toBeNull();
    expect(failed).toHaveBeenCalledTimes(3);
  });
});

describe('OwnCacheEmbedder', () => {
  const own = (embed: Embedder['embed'], clock = new FakeClock()) => {
    const told = { onFailed: vi.fn(), onLeftAlone: vi.fn() };
    const opened = { description: { model_id: 'api' }, embed, close: async () => {} } as unknown as Embedder;
    return { embedder: new OwnCacheEmbedder(async () => opened, clock, told), clock, ...told };
  };

  test('leaves an API alone for a while that hangs time after time, and then asks it once', async () => {
    const asked = vi.fn<Embedder['embed']>();
    const hangs = async () => {
      throw new EmbeddingFailure('expired', 'too late');
    };
    const { embedder, clock, onFailed, onLeftAlone } = own(asked.mockImplementation(hangs));
    await expect.poll(() => embedder.model).not.toBeNull();
    for (let miss = 0; miss < 10; miss += 1) expect(await embedder.embed('text')).toBeNull();
    expect([asked, onFailed, onLeftAlone].map(({ mock }) => mock.calls.length)).toEqual([3, 3, 7]);
    clock.advance(1_000);
    for (let miss = 0; miss < 10; miss += 1) await embedder.embed('text');
    expect(asked).toHaveBeenCalledTimes(4);
    clock.advance(2_000);
    asked.mockResolvedValue({ fitness: 'fit', vector });
    for (let miss = 0; miss < 10; miss += 1)
      expect(await embedder.embed('text')).toEqual({ model_id: 'api', values: vector });
    expect(asked).toHaveBeenCalledTimes(14);
  });

  test('opens behind its user’s back, and is tried again when it could not be opened', async () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    try {
      const failed = vi.fn();
      const open = vi
        .fn<() => Promise<Embedder>>()
        .mockRejectedValueOnce(new Error('away'))
        .mockResolvedValue({
          description: { model_id: 'api' },
          embed: async () => ({ fitness: 'fit', vector }),
          close: async () => {},
        } as unknown as Embedder);
      const told = { onFailed: failed, onLeftAlone: vi.fn() };
      const embedder = new OwnCacheEmbedder(open, new FakeClock(), told);
      expect(await embedder.embed('text')).toBeNull();
      await vi.waitFor(() => expect(failed).toHaveBeenCalledOnce());
      expect(await embedder.embed('text')).toBeNull();
      expect(open).toHaveBeenCalledOnce();
      vi.advanceTimersByTime(10_000);
      expect(await embedder.embed('text')).toBeNull();
      await vi.waitFor(() => expect(embedder.model).not.toBeNull());
      expect(await embedder.embed('text')).toEqual({ model_id: 'api', values: vector });
      await embedder.close();
    } finally {
      vi.useRealTimers();
    }
  });
});
