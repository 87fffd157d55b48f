import { expect, it, vi } from 'vitest';
import { type Embedder, EmbeddingFailure, type EmbeddingFailureReason } from '#contracts/embedding';
import { FakeClock } from '#testing';
import { circuitEmbedder, LeftAlone } from './circuit-embedder.js';

const fit = { fitness: 'fit', vector: Float32Array.of(1, 0) } as const;

function start() {
  const clock = new FakeClock();
  const asked = vi.fn<Embedder['embed']>();
  const close = vi.fn(async () => {});
  const embedder = circuitEmbedder({ embed: asked, close } as unknown as Embedder, clock);
  const embed = (times: number) =>
    Promise.all(Array.from({ length: times }, () => embedder.embed('text').catch((error: unknown) => error)));
  return { clock, asked, close, embedder, embed };
}
const failure = (reason: EmbeddingFailureReason) => new EmbeddingFailure(reason, 'as scripted');

it.each(['expired', 'unavailable', 'busy'] as const)(
  'leaves a server alone whose texts are %s time after time, asks it once later, and goes on when that works',
  async (reason) => {
    const { clock, asked, embed } = start();
    asked.mockRejectedValue(failure(reason));
    for (let text = 0; text < 3; text += 1) expect(await embed(1)).toEqual([failure(reason)]);
    expect(await embed(7)).toEqual(Array(7).fill(new LeftAlone()));
    expect(asked).toHaveBeenCalledTimes(3);
    clock.advance(1_000);
    await embed(10);
    expect(asked).toHaveBeenCalledTimes(4);
    clock.advance(2_000);
    asked.mockResolvedValue(fit);
    expect(await embed(1)).toEqual([fit]);
    expect(await embed(10)).toEqual(Array(10).fill(fit));
  },
);

it('does not leave alone a server that answers now and then, if not with a vector', async () => {
  const { asked, embed } = start();
  for (let round = 0; round < 3; round += 1) {
    for (const reason of ['unavailable', 'expired', 'failed'] as const) {
      asked.mockRejectedValue(failure(reason));
      expect(await embed(1)).toEqual([failure(reason)]);
    }
  }
});

it('asks with the time that its caller has, and closes what is behind it', async () => {
  const { asked, close, embedder } = start();
  asked.mockResolvedValue(fit);
  await embedder.embed('text', { timeoutMs: 50 });
  expect(asked).toHaveBeenCalledExactlyOnceWith('text', { timeoutMs: 50 });
  await embedder.close();
  expect(close).toHaveBeenCalledOnce();
});

it('goes on asking a server that answers, though it has no vector for these texts', async () => {
  const { asked, embed } = start();
  asked.mockRejectedValue(failure('failed'));
  expect(await embed(10)).toEqual(Array(10).fill(failure('failed')));
  expect(asked).toHaveBeenCalledTimes(10);
});
