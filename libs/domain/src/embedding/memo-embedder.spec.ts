import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type Embedder, type Embedding, EmbeddingFailure, type EmbedOptions } from '#contracts/embedding';
import { FakeClock } from '#testing';
import { STATIC_DESCRIPTION } from './embedder-descriptions.js';
import { type MemoEmbedderOptions, type MemoOutcome, memoEmbedder } from './memo-embedder.js';

interface Asked {
  text: string;
  options: EmbedOptions | undefined;
  answer(embedding?: Embedding): void;
  fail(failure: Error): void;
}

/** Answers when the test says so. */
class ScriptedEmbedder implements Embedder {
  readonly description = STATIC_DESCRIPTION;
  readonly asked: Asked[] = [];
  isClosed = false;

  get queuedCount(): number {
    return this.asked.length;
  }

  embed(text: string, options?: EmbedOptions): Promise<Embedding> {
    return new Promise((resolve, reject) => {
      this.asked.push({
        text,
        options,
        answer: (embedding = unitVector()) => resolve(embedding),
        fail: reject,
      });
    });
  }

  async close(): Promise<void> {
    this.isClosed = true;
  }
}

const unitVector = (): Embedding => ({ fitness: 'fit', vector: Float32Array.from([1]) });
const expired = () => new EmbeddingFailure('expired', 'late');

describe('an embedder that remembers', () => {
  const clock = new FakeClock();
  let behind: ScriptedEmbedder;
  let outcomes: MemoOutcome[];

  const memo = (options: Partial<MemoEmbedderOptions> = {}) =>
    memoEmbedder(behind, { clock, countMax: 2, onText: (outcome) => outcomes.push(outcome), ...options });

  beforeEach(() => {
    vi.useFakeTimers();
    behind = new ScriptedEmbedder();
    outcomes = [];
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it('computes a text once, and then answers with the same vector', async () => {
    const embedder = memo();
    const first = embedder.embed('again');
    behind.asked[0]?.answer();
    expect(await embedder.embed('again')).toBe(await first);
    expect(behind.asked).toHaveLength(1);
    expect(outcomes).toEqual(['computed', 'shared']);
    await embedder.embed('again');
    expect(outcomes).toEqual(['computed', 'shared', 'remembered']);
  });

  it('shares one computation between those who ask at the same time', async () => {
    const embedder = memo();
    const asking = [embedder.embed('both'), embedder.embed('both'), embedder.embed('other')];
    expect(behind.asked.map(({ text }) => text)).toEqual(['both', 'other']);
    for (const { answer } of behind.asked) answer();
    const [one, two, other] = await Promise.all(asking);
    expect(two).toBe(one);
    expect(other).not.toBe(one);
  });

  it('remembers that a text is unfit', async () => {
    const embedder = memo();
    const asking = embedder.embed('');
    behind.asked[0]?.answer({ fitness: 'empty', vector: null });
    await asking;
    expect(await embedder.embed('')).toEqual({ fitness: 'empty', vector: null });
    expect(behind.asked).toHaveLength(1);
  });

  it('forgets the text that was asked for longest ago when there are too many', async () => {
    const embedder = memo();
    for (const text of ['one', 'two', 'three']) {
      const asking = embedder.embed(text);
      behind.asked.at(-1)?.answer();
      await asking;
    }
    await embedder.embed('three');
    embedder.embed('one');
    expect(behind.asked.map(({ text }) => text)).toEqual(['one', 'two', 'three', 'one']);
  });

  it('forgets a text that nobody asked for in a while', async () => {
    const embedder = memo({ idleMs: 1_000 });
    const asking = embedder.embed('old');
    behind.asked[0]?.answer();
    await asking;
    clock.advance(1_001);
    embedder.embed('old');
    expect(behind.asked).toHaveLength(2);
  });

  it('tells all who share it of a failure, and tries again the next time', async () => {
    const embedder = memo();
    const asking = [embedder.embed('x'), embedder.embed('x')];
    behind.asked[0]?.fail(new EmbeddingFailure('failed', 'no'));
    for (const each of asking) await expect(each).rejects.toMatchObject({ reason: 'failed' });
    const next = embedder.embed('x');
    behind.asked[1]?.answer();
    expect(await next).toEqual(unitVector());
  });

  it('passes a long text on without hashing or remembering it', async () => {
    const embedder = memo({ textCharsMax: 3 });
    for (const at of [0, 1]) {
      const asking = embedder.embed('long', { timeoutMs: 7 });
      expect(behind.asked[at]?.options).toEqual({ timeoutMs: 7 });
      behind.asked[at]?.answer();
      await asking;
    }
    expect(outcomes).toEqual(['too_long', 'too_long']);
  });

  it('gives the computation the time of the one who started it', async () => {
    memo().embed('x', { timeoutMs: 50 });
    expect(behind.asked[0]?.options?.timeoutMs).toBe(50);
  });

  it('rejects one who shares when his own shorter time is up, and goes on for the other', async () => {
    await vi.advanceTimersByTimeAsync(1_000);
    const embedder = memo();
    const patient = embedder.embed('x', { timeoutMs: 100 });
    const hasty = embedder.embed('x', { timeoutMs: 10 });
    const refused = expect(hasty).rejects.toMatchObject({ reason: 'expired' });
    await vi.advanceTimersByTimeAsync(10);
    await refused;
    const intime = embedder.embed('x', { timeoutMs: 10 });
    behind.asked[0]?.answer();
    expect(await Promise.all([patient, intime])).toEqual([unitVector(), unitVector()]);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('starts anew for one with time left when the time of the one he shared with was up', async () => {
    const embedder = memo();
    const hasty = embedder.embed('x', { timeoutMs: 10 });
    const patient = [embedder.embed('x', { timeoutMs: 100 }), embedder.embed('x')];
    const refused = expect(hasty).rejects.toMatchObject({ reason: 'expired' });
    await vi.advanceTimersByTimeAsync(10);
    behind.asked[0]?.fail(expired());
    await refused;
    await vi.advanceTimersByTimeAsync(0);
    expect(behind.asked).toHaveLength(2);
    expect(behind.asked[1]?.options?.timeoutMs).toBe(90);
    behind.asked[1]?.answer();
    expect(await Promise.all(patient)).toEqual([unitVector(), unitVector()]);
  });

  it('describes and closes what is behind it', async () => {
    const embedder = memo();
    expect(embedder.description).toBe(STATIC_DESCRIPTION);
    embedder.embed('x');
    expect(embedder.queuedCount).toBe(1);
    await embedder.close();
    expect(behind.isClosed).toBe(true);
  });
});
