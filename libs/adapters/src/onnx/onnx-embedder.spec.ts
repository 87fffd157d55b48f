import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Embedding } from '#contracts/embedding';
import { STATIC_DESCRIPTION } from '#domain/embedding';
import { deferred } from '#kernel';
import type { HostListener, InferenceHost } from './inference-host.js';
import {
  ANSWER_MS_MAX,
  type EmbedderEvent,
  type OnnxEmbedder,
  QueuedEmbedder,
  type QueueSettings,
} from './onnx-embedder.js';
import type {
  InferenceAnswer,
  InferenceRequest,
  InferenceText,
  ModelSettings,
  TextAnswer,
} from './protocol.js';

/** A model's thread that does what the test says. */
class ScriptedHost implements InferenceHost {
  readonly asked: InferenceText[] = [];
  listener!: HostListener;
  endCount = 0;

  post(request: InferenceRequest): void {
    if (request.kind === 'embed') this.asked.push(request);
  }

  /** Called by what is asked to end. */
  onEnding = async (): Promise<void> => this.listener.onEnd('closed');

  end(): Promise<void> {
    this.endCount += 1;
    return this.onEnding();
  }

  get texts(): string[] {
    return this.asked.map(({ text }) => text);
  }

  /** @param at which of the texts */
  answer(at: number, answer: Partial<TextAnswer> = {}): void {
    const vector = Float32Array.from([1]);
    this.listener.onAnswer({
      ...{ kind: 'embedded', id: this.asked[at]?.id, fitness: 'fit', vector, tokensCount: 3, computeMs: 2 },
      ...answer,
    } as TextAnswer);
  }
}

const SETTINGS: ModelSettings = { kind: 'static', directory: 'nowhere' };
const OPENED: InferenceAnswer = { kind: 'opened', description: STATIC_DESCRIPTION };

describe('the queue in front of a model', () => {
  let host: ScriptedHost;
  let events: EmbedderEvent[];

  const start = (_: ModelSettings, listener: HostListener) => {
    host.listener = listener;
    return host;
  };
  const opening = (queue: Partial<QueueSettings> = {}) =>
    QueuedEmbedder.open(
      SETTINGS,
      start,
      {
        queueCountMax: 4,
        cut: (text) => text,
        onEvent: (event) => events.push(event),
        ...queue,
      },
      1_000,
    );
  async function open(queue?: Partial<QueueSettings>): Promise<OnnxEmbedder> {
    const embedder = opening(queue);
    host.listener.onAnswer(OPENED);
    return embedder;
  }
  const refusals = () => events.flatMap((event) => (event.kind === 'refused' ? [event.reason] : []));
  const reasonOf = (asking: Promise<Embedding>) =>
    asking.then(
      () => 'answered',
      (error) => error.reason,
    );

  beforeEach(() => {
    vi.useFakeTimers();
    host = new ScriptedHost();
    events = [];
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it('opens when its model is ready, and says what the model is', async () => {
    const embedder = await open();
    expect(embedder.description).toBe(STATIC_DESCRIPTION);
    expect(embedder.isAlive).toBe(true);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('does not open, and leaves no thread behind, when the model cannot be opened', async () => {
    const asked = opening();
    host.listener.onAnswer({ kind: 'unopened', detail: 'x.onnx is missing' });
    await expect(asked).rejects.toThrow('x.onnx is missing');
    expect(host.endCount).toBe(1);
  });

  it('does not open when the thread dies meanwhile, or is not ready in time', async () => {
    const dying = opening();
    host.listener.onEnd('out of memory');
    await expect(dying).rejects.toThrow('out of memory');
    const hanging = expect(opening()).rejects.toThrow('not ready after 1000 ms');
    await vi.advanceTimersByTimeAsync(1_000);
    await hanging;
    expect(events).toEqual([]);
  });

  it('hands texts over one at a time, in the order they came', async () => {
    const embedder = await open();
    const asked = ['a', 'b', 'c'].map((text) => embedder.embed(text));
    expect(host.texts).toEqual(['a']);
    expect(embedder.queuedCount).toBe(3);
    host.answer(0);
    expect(host.texts).toEqual(['a', 'b']);
    host.answer(1, { fitness: 'empty', vector: null });
    host.answer(2);
    expect((await Promise.all(asked)).map(({ fitness }) => fitness)).toEqual(['fit', 'empty', 'fit']);
    expect(embedder.queuedCount).toBe(0);
    expect(events.map(({ kind }) => kind)).toEqual(Array(3).fill('embedded'));
  });

  it('takes no answer but that of the text at the model', async () => {
    const embedder = await open();
    const asked = embedder.embed('a');
    host.listener.onAnswer({ kind: 'failed', id: 99, detail: 'of nobody' });
    host.answer(0);
    expect(await asked).toMatchObject({ fitness: 'fit' });
    host.answer(0);
    expect(embedder.queuedCount).toBe(0);
  });

  it('sends a text cut, not whole', async () => {
    const embedder = await open({ cut: (text) => text.slice(0, 2) });
    embedder.embed('long');
    expect(host.texts).toEqual(['lo']);
  });

  it('refuses a text at once when it is full, and takes the next when there is room', async () => {
    const embedder = await open({ queueCountMax: 2 });
    const asked = [embedder.embed('a'), embedder.embed('b')];
    await expect(embedder.embed('c')).rejects.toMatchObject({ name: 'EmbeddingFailure', reason: 'busy' });
    host.answer(0);
    await asked[0];
    embedder.embed('d');
    expect(embedder.queuedCount).toBe(2);
    expect(refusals()).toEqual(['busy']);
  });

  it('drops a text whose time is up before the model has seen it', async () => {
    const embedder = await open();
    embedder.embed('slow');
    const late = expect(embedder.embed('late', { timeoutMs: 50 })).rejects.toMatchObject({
      reason: 'expired',
    });
    const patient = embedder.embed('patient', { timeoutMs: 500 });
    await vi.advanceTimersByTimeAsync(50);
    await late;
    expect(embedder.queuedCount).toBe(2);
    host.answer(0);
    expect(host.texts).toEqual(['slow', 'patient']);
    host.answer(1);
    expect(await patient).toMatchObject({ fitness: 'fit' });
    expect(refusals()).toEqual(['expired']);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('gives what comes from the model to all who wait for that text, once the time of whom it was for is up', async () => {
    const embedder = await open({ queueCountMax: 5 });
    const hasty = reasonOf(embedder.embed('a', { timeoutMs: 10 }));
    const others = ['b', 'a', 'a'].map((text) => embedder.embed(text));
    await vi.advanceTimersByTimeAsync(10);
    const late = reasonOf(embedder.embed('a', { timeoutMs: 10 }));
    await vi.advanceTimersByTimeAsync(10);
    host.answer(0);
    host.answer(1, { fitness: 'empty', vector: null });
    expect((await Promise.all(others)).map(({ fitness }) => fitness)).toEqual(['empty', 'fit', 'fit']);
    expect(await Promise.all([hasty, late])).toEqual(['expired', 'expired']);
    expect(host.texts).toEqual(['a', 'b']);
    expect(embedder.queuedCount).toBe(0);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('does not hand over a text whose time is up while the event loop was held up', async () => {
    const embedder = await open();
    embedder.embed('slow');
    const late = reasonOf(embedder.embed('late', { timeoutMs: 50 }));
    vi.setSystemTime(Date.now() + 60);
    vi.spyOn(performance, 'now').mockReturnValue(performance.now() + 60);
    host.answer(0);
    expect(await late).toBe('expired');
    expect(host.texts).toEqual(['slow']);
    vi.restoreAllMocks();
  });

  it('tells a caller in time though his text is at the model, whose place stays taken until it answers', async () => {
    const embedder = await open();
    const late = reasonOf(embedder.embed('slow', { timeoutMs: 50 }));
    const next = embedder.embed('next');
    await vi.advanceTimersByTimeAsync(50);
    expect(await late).toBe('expired');
    expect(host.texts).toEqual(['slow']);
    host.answer(0);
    host.answer(1);
    expect(await next).toMatchObject({ fitness: 'fit' });
    expect(refusals()).toEqual(['expired']);
  });

  it('lets a text wait longer than a timer can', async () => {
    const embedder = await open();
    const patient = reasonOf(embedder.embed('patient', { timeoutMs: 2 ** 31 }));
    await vi.advanceTimersByTimeAsync(1_000);
    host.answer(0);
    expect(await patient).toBe('answered');
  });

  it.each([0, -1, Number.NaN])(
    'refuses a text with %s ms left without asking the model',
    async (timeoutMs) => {
      const embedder = await open();
      await expect(embedder.embed('x', { timeoutMs })).rejects.toMatchObject({ reason: 'expired' });
      expect(host.texts).toEqual([]);
    },
  );

  it('goes on after a text that the model fails on', async () => {
    const embedder = await open();
    const asked = [embedder.embed('bad'), embedder.embed('good')];
    const failed = expect(asked[0]).rejects.toMatchObject({
      reason: 'failed',
      message: 'the model failed: NaN',
    });
    host.answer(0, { kind: 'failed', detail: 'NaN' });
    host.answer(1);
    await failed;
    expect(await asked[1]).toMatchObject({ fitness: 'fit' });
  });

  it('fails everything it owed when its thread dies, says so once, and takes nothing more', async () => {
    const embedder = await open();
    const asked = [embedder.embed('a'), embedder.embed('b')].map(reasonOf);
    host.listener.onEnd('the embedding thread ended (134)');
    expect(await Promise.all(asked)).toEqual(['unavailable', 'unavailable']);
    expect(await reasonOf(embedder.embed('c'))).toBe('unavailable');
    expect(embedder.isAlive).toBe(false);
    expect(embedder.queuedCount).toBe(0);
    expect(events.filter(({ kind }) => kind === 'died')).toEqual([
      { kind: 'died', detail: 'the embedding thread ended (134)' },
    ]);
    await embedder.close();
  });

  it('gives up a model that answers nothing, says so once, and refuses what it owed and what comes', async () => {
    const embedder = await open();
    const asked = [embedder.embed('poison', { timeoutMs: 50 }), embedder.embed('next')].map(reasonOf);
    await vi.advanceTimersByTimeAsync(ANSWER_MS_MAX);
    expect(await Promise.all(asked)).toEqual(['expired', 'unavailable']);
    expect(await reasonOf(embedder.embed('after'))).toBe('unavailable');
    expect(embedder.isAlive).toBe(false);
    expect(embedder.queuedCount).toBe(0);
    host.listener.onEnd('the embedding thread ended (1)');
    expect(events.filter(({ kind }) => kind === 'hung' || kind === 'died')).toEqual([
      { kind: 'hung', detail: 'the model has not answered for 20 s' },
    ]);
    await embedder.close();
    expect(host.endCount).toBe(0);
  });

  it('keeps a slow model that answers now and then, and one that nobody asks', async () => {
    const embedder = await open();
    for (let at = 0; at < 3; at += 1) {
      embedder.embed('slow');
      embedder.embed('slow');
      await vi.advanceTimersByTimeAsync(ANSWER_MS_MAX - 1);
      host.answer(2 * at);
      await vi.advanceTimersByTimeAsync(ANSWER_MS_MAX - 1);
      host.answer(2 * at + 1);
    }
    await vi.advanceTimersByTimeAsync(2 * ANSWER_MS_MAX);
    expect(embedder.isAlive).toBe(true);
  });

  it('closes once, refusing what waits and what comes, without calling that a death', async () => {
    const embedder = await open();
    const asked = [embedder.embed('running'), embedder.embed('waiting')].map(reasonOf);
    await Promise.all([embedder.close(), embedder.close()]);
    expect(await Promise.all(asked)).toEqual(['unavailable', 'unavailable']);
    expect(await reasonOf(embedder.embed('after'))).toBe('unavailable');
    expect(host.endCount).toBe(1);
    expect(events.map(({ kind }) => kind)).not.toContain('died');
  });

  it('closing, has what is at the model answered, and nothing more asked', async () => {
    const embedder = await open();
    const asked = [embedder.embed('running'), embedder.embed('waiting')].map(reasonOf);
    const hold = deferred();
    host.onEnding = () => hold.promise;
    const closed = embedder.close();
    host.answer(0);
    expect(await Promise.all(asked)).toEqual(['answered', 'unavailable']);
    expect(host.texts).toEqual(['running']);
    hold.resolve();
    await closed;
    expect(events.map(({ kind }) => kind)).toEqual(['refused', 'embedded']);
  });

  it('closed, owes nothing to anybody though its thread was left at work', async () => {
    const embedder = await open();
    const asked = reasonOf(embedder.embed('running'));
    host.onEnding = async () => {};
    await embedder.close();
    expect(await asked).toBe('unavailable');
    expect(embedder.queuedCount).toBe(0);
  });

  it('tells how long a text waited and how long it took, and no text', async () => {
    const embedder = await open();
    embedder.embed('secret');
    await vi.advanceTimersByTimeAsync(10);
    host.answer(0);
    expect(events).toEqual([{ kind: 'embedded', fitness: 'fit', queueMs: 8, tokensCount: 3, computeMs: 2 }]);
  });
});
