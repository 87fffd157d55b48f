import { setImmediate } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Embedding } from '#contracts/embedding';
import { STATIC_DESCRIPTION } from '#domain/embedding';
import { type Deferred, deferred } from '#kernel';
import type { LoadedModel, ModelVector } from './loaded-model.js';
import { QueuedEmbedder, type QueueSettings } from './onnx-embedder.js';

const FIT: ModelVector = { fitness: 'fit', vector: Float32Array.from([1]) };

/** Answers when the test says so. */
class ScriptedModel implements LoadedModel {
  readonly description = STATIC_DESCRIPTION;
  readonly file = 'x.onnx';
  readonly remedy = 'restore it';
  readonly texts: string[] = [];
  readonly #answers: Deferred<ModelVector>[] = [];
  releaseCount = 0;

  embed(text: string): Promise<ModelVector> {
    const answer = deferred<ModelVector>();
    this.texts.push(text);
    this.#answers.push(answer);
    return answer.promise;
  }

  async release(): Promise<void> {
    this.releaseCount += 1;
  }

  /** @param at which of the texts */
  async answer(at: number, vector: ModelVector | Error = FIT): Promise<void> {
    if (vector instanceof Error) this.#answers[at]?.reject(vector);
    else this.#answers[at]?.resolve(vector);
    // The queue lets the event loop turn once.
    for (let turn = 0; turn < 2; turn += 1) await setImmediate();
  }
}

describe('the queue in front of a model', () => {
  let model: ScriptedModel;
  let waits: number[];

  const open = (queue: Partial<QueueSettings> = {}) =>
    new QueuedEmbedder(model, {
      queueCountMax: 4,
      cut: (text) => text,
      onWaited: (ms) => waits.push(ms),
      ...queue,
    });
  const reasonOf = (asking: Promise<Embedding>) =>
    asking.then(
      () => 'answered',
      (error) => error.reason,
    );

  beforeEach(() => {
    vi.useFakeTimers();
    model = new ScriptedModel();
    waits = [];
  });
  afterEach(() => {
    vi.restoreAllMocks();
    vi.useRealTimers();
  });

  it('says what the model is', () => {
    expect(open().description).toBe(STATIC_DESCRIPTION);
  });

  it('hands texts over one at a time, in the order they came', async () => {
    const embedder = open();
    const asked = ['a', 'b', 'c'].map((text) => embedder.embed(text));
    expect(model.texts).toEqual(['a']);
    expect(embedder.queuedCount).toBe(3);
    await model.answer(0);
    expect(model.texts).toEqual(['a', 'b']);
    await model.answer(1, { fitness: 'empty', vector: null });
    await model.answer(2);
    expect((await Promise.all(asked)).map(({ fitness }) => fitness)).toEqual(['fit', 'empty', 'fit']);
    expect(embedder.queuedCount).toBe(0);
  });

  it('gives the model a text cut, not whole', () => {
    open({ cut: (text) => text.slice(0, 2) }).embed('long');
    expect(model.texts).toEqual(['lo']);
  });

  it('refuses a text at once when it is full, and takes the next when there is room', async () => {
    const embedder = open({ queueCountMax: 2 });
    const asked = [embedder.embed('a'), embedder.embed('b')];
    await expect(embedder.embed('c')).rejects.toMatchObject({ name: 'EmbeddingFailure', reason: 'busy' });
    await model.answer(0);
    await asked[0];
    embedder.embed('d');
    expect(embedder.queuedCount).toBe(2);
  });

  it('drops a text whose time is up before the model has seen it', async () => {
    const embedder = open();
    embedder.embed('slow');
    const late = reasonOf(embedder.embed('late', { timeoutMs: 50 }));
    const patient = embedder.embed('patient', { timeoutMs: 500 });
    await vi.advanceTimersByTimeAsync(50);
    expect(await late).toBe('expired');
    expect(embedder.queuedCount).toBe(2);
    await model.answer(0);
    expect(model.texts).toEqual(['slow', 'patient']);
    await model.answer(1);
    expect(await patient).toMatchObject({ fitness: 'fit' });
  });

  it('does not hand over a text whose time is up while the event loop was held up', async () => {
    const embedder = open();
    embedder.embed('slow');
    const late = reasonOf(embedder.embed('late', { timeoutMs: 50 }));
    vi.spyOn(performance, 'now').mockReturnValue(performance.now() + 60);
    await model.answer(0);
    expect(await late).toBe('expired');
    expect(model.texts).toEqual(['slow']);
  });

  it('answers a text that is at the model when its time is up', async () => {
    const embedder = open();
    const slow = [embedder.embed('slow', { timeoutMs: 50 }), embedder.embed('next', { timeoutMs: 70 })];
    await vi.advanceTimersByTimeAsync(60);
    await model.answer(0);
    await vi.advanceTimersByTimeAsync(60);
    await model.answer(1);
    expect(await Promise.all(slow)).toEqual([FIT, FIT]);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('waits as long as no timer can', async () => {
    const embedder = open();
    embedder.embed('slow');
    const patient = embedder.embed('patient', { timeoutMs: 2 ** 31 });
    await vi.advanceTimersByTimeAsync(1_000);
    await model.answer(0);
    await model.answer(1);
    expect(await patient).toEqual(FIT);
  });

  it.each([0, -1, Number.NaN])(
    'refuses a text with %s ms left without asking the model',
    async (timeoutMs) => {
      await expect(open().embed('x', { timeoutMs })).rejects.toMatchObject({ reason: 'expired' });
      expect(model.texts).toEqual([]);
    },
  );

  it.each([
    [new Error('NaN\nin node 7'), 'the model failed: NaN'],
    [
      { fitness: 'fit', vector: Float32Array.from([Number.NaN]) } as const,
      'the model failed: the vector has no direction',
    ],
  ])('goes on after a text that the model fails on', async (answer, message) => {
    const embedder = open();
    const failed = expect(embedder.embed('bad')).rejects.toMatchObject({ reason: 'failed', message });
    const good = embedder.embed('good');
    await model.answer(0, answer);
    await model.answer(1);
    await failed;
    expect(await good).toMatchObject({ fitness: 'fit' });
  });

  it('closes once: what waits and what comes is refused, what is at the model is answered', async () => {
    const embedder = open();
    const asked = ['running', 'waiting'].map((text) => reasonOf(embedder.embed(text, { timeoutMs: 50 })));
    const closing = [embedder.close(), embedder.close()];
    expect(await asked[1]).toBe('unavailable');
    expect(await reasonOf(embedder.embed('after'))).toBe('unavailable');
    expect(model.releaseCount).toBe(0);
    await model.answer(0);
    await Promise.all(closing);
    expect(await asked[0]).toBe('answered');
    expect([model.texts, model.releaseCount]).toEqual([['running'], 1]);
    expect([embedder.queuedCount, vi.getTimerCount()]).toEqual([0, 0]);
  });

  it('tells how long each text waited for the model', async () => {
    const embedder = open();
    embedder.embed('first');
    embedder.embed('second');
    await vi.advanceTimersByTimeAsync(10);
    await model.answer(0);
    expect(waits).toEqual([0, 10]);
  });
});

it('lets the event loop turn between the texts of a queue that never empties', async () => {
  const model = new ScriptedModel();
  const busy = vi.spyOn(model, 'embed').mockImplementation(async () => {
    const untilMs = performance.now() + 1;
    while (performance.now() < untilMs);
    return FIT;
  });
  const embedder = new QueuedEmbedder(model, { queueCountMax: 100, cut: (text) => text, onWaited: () => {} });
  const asked = Array.from({ length: 100 }, (_, at) => embedder.embed(`${at}`));
  let turns = 0;
  const all = Promise.all(asked).then(() => true);
  while (!(await Promise.race([all, setImmediate(false)]))) turns += 1;
  expect(busy).toHaveBeenCalledTimes(100);
  expect(turns).toBeGreaterThan(20);
});
