import { beforeEach, describe, expect, it } from 'vitest';
import {
  type Cosine,
  type Embedder,
  type Embedding,
  EmbeddingFailure,
  type EmbedOptions,
  type LoopQuery,
  type LoopSimilarity,
  type PromptEntry,
  PromptHistoryFailure,
} from '#contracts/embedding';
import { MemoryPromptHistory } from '#domain/semantic-loop';
import { deferred } from '#kernel';
import { countingIds, FakeClock, turn } from '#testing';
import { CheckLoop, type CheckLoopParts, type CheckObserver } from './check-loop.js';

/** Words to dimensions: equal words, equal vectors. Slow texts wait until they are let go. */
class WordEmbedder implements Embedder {
  readonly description = {
    model_id: 'words',
    dimension: 8,
    tokens_max: 100,
    loopWhenSimilarityAbove: 0.9 as LoopSimilarity,
    hitWhenCosineAtLeast: 0.9 as Cosine,
    needsStrictGate: false,
  };
  readonly queuedCount = 0;
  readonly texts: string[] = [];
  readonly timeouts: (number | undefined)[] = [];
  readonly held = new Map<string, Promise<void>>();

  async embed(text: string, { timeoutMs }: EmbedOptions = {}): Promise<Embedding> {
    this.texts.push(text);
    this.timeouts.push(timeoutMs);
    await this.held.get(text);
    if (text === '') return { fitness: 'empty', vector: null };
    if (text === 'zzz') return { fitness: 'unknown_tokens', vector: null };
    if (text === 'broken') throw new EmbeddingFailure('failed', 'the model failed');
    const vector = new Float32Array(8);
    for (const word of text.split(' ')) vector[(word.codePointAt(0) ?? 0) % 8] = 1;
    const length = Math.hypot(...vector);
    return { fitness: 'fit', vector: vector.map((value) => value / length) };
  }

  async close(): Promise<void> {}
}

let embedder: WordEmbedder;
let history: MemoryPromptHistory;
let recordFailures: unknown[];
let elapsedMs: number;
let took: Record<string, number>;
let clock: FakeClock;

beforeEach(() => {
  embedder = new WordEmbedder();
  history = new MemoryPromptHistory({ clock: new FakeClock(), dimension: 8 });
  recordFailures = [];
  elapsedMs = 0;
  took = {};
  clock = new FakeClock();
});

function open(options: { checksMax?: number; vetoOf?: CheckLoopParts['vetoOf'] } = {}): CheckLoop {
  const observer: CheckObserver = {
    embedded: (ms) => (took.embedded = ms),
    queued: (ms) => (took.queued = ms),
    searched: (ms) => (took.searched = ms),
    recorded: (ms) => (took.recorded = ms),
    recordFailed: (error) => recordFailures.push(error),
  };
  return new CheckLoop({
    embedder,
    history,
    vetoOf: options.vetoOf ?? (() => null),
    clock,
    ids: countingIds(),
    observer,
    loopWhenSimilarityAbove: 0.9 as LoopSimilarity,
    checksMax: options.checksMax ?? 10,
    elapsedMs: () => elapsedMs,
  });
}

const query = (request_id: string, prompt: string, over: Partial<LoopQuery> = {}): LoopQuery => ({
  tenant_id: 'tenant',
  session_id: 'session',
  request_id,
  prompt,
  threshold: null,
  ...over,
});

describe('a check', () => {
  it('finds the same thing asked again, and says by which request', async () => {
    const check = open();
    expect((await check.run(query('1', 'a b'))).loop_detected).toBe(false);
    expect(await check.run(query('2', 'b a'))).toMatchObject({
      loop_detected: true,
      similar_prompt: 'a b',
      similar_request_id: '1',
      threshold: 0.9,
      model_id: 'words',
      fitness: 'fit',
    });
  });

  it('does not compare a request with itself when it is sent again', async () => {
    const check = open();
    await check.run(query('1', 'a b'));
    expect(await check.run(query('1', 'a b'))).toMatchObject({ loop_detected: false, compared_count: 0 });
  });

  it('gives a request without an id one of its own, so that two of them are compared', async () => {
    const check = open();
    for (let count = 0; count < 2; count += 1) await check.run(query('', 'a b'));
    expect(await check.run(query('', 'a b'))).toMatchObject({
      loop_detected: true,
      similar_request_id: expect.stringMatching(/^id-[12]$/),
      similar_count: 2,
    });
  });

  it.each([
    ['another session', { session_id: 'other' }],
    ['another agent of the session', { agent_id: 'other' }],
    ['another tenant', { tenant_id: 'other' }],
    ['ids that look alike when glued', { tenant_id: 'tenantsess', session_id: 'ion' }],
    ['an agent that looks like a piece of the session', { session_id: 'sess', agent_id: 'ion' }],
  ])('keeps to its scope: %s', async (_, over) => {
    const check = open();
    await check.run(query('1', 'a b'));
    // Only the checks of its own scope wait until it is remembered.
    await expect.poll(() => check.underWayCount).toBe(0);
    expect((await check.run(query('2', 'a b', over))).compared_count).toBe(0);
  });

  it("uses the query's threshold before its own", async () => {
    const check = open();
    await check.run(query('1', 'a b'));
    const strict = await check.run(query('2', 'a b', { threshold: 1 as LoopSimilarity }));
    expect(strict).toMatchObject({ loop_detected: false, threshold: 1 });
    const any = await check.run(query('3', 'c', { threshold: 0 as LoopSimilarity }));
    expect(any).toMatchObject({ loop_detected: true, threshold: 0 });
  });

  it('lets the gate veto, which is told which of the two prompts came first', async () => {
    const check = open({ vetoOf: (earlier, later) => `${later} after ${earlier}` });
    await check.run(query('1', 'a b'));
    expect(await check.run(query('2', 'b a'))).toMatchObject({
      loop_detected: false,
      vetoed_by: 'b a after a b',
    });
  });

  it('remembers when a prompt came, and only after the answer', async () => {
    const entries: PromptEntry[] = [];
    history.record = async (_scope, entry) => void entries.push(entry);
    const at_ms = clock.nowMs();
    await open().run(query('1', 'a'));
    clock.advance(1_000);
    expect(entries).toEqual([]);
    await expect.poll(() => entries).toMatchObject([{ request_id: '1', at_ms }]);
  });

  it('tells how long each of its parts took', async () => {
    const check = open();
    const [embedding, waiting, searching, recording] = [deferred(), deferred(), deferred(), deferred()];
    history.record = () => waiting.promise;
    elapsedMs = 50_000;
    await check.run(query('1', 'a'));
    embedder.held.set('b', embedding.promise);
    history.similar = () => searching.promise.then(() => []);
    const asked = check.run(query('2', 'b'));
    const endAfter = async (ms: number, part: { resolve(): void }) => {
      await turn();
      elapsedMs += ms;
      part.resolve();
      await turn();
    };
    await endAfter(1, embedding);
    history.record = () => recording.promise;
    await endAfter(20, waiting);
    await endAfter(300, searching);
    await asked;
    await endAfter(4_000, recording);
    expect(took).toEqual({ embedded: 1, queued: 20, searched: 300, recorded: 4_000 });
  });

  it.each([
    ['', 'empty'],
    ['zzz', 'unknown_tokens'],
  ])('neither compares nor remembers %j, which is %s', async (prompt, fitness) => {
    const check = open();
    const threshold = 0.5 as LoopSimilarity;
    const unfit = { fitness, loop_detected: false, max_similarity: 0, compared_count: 0, threshold };
    expect(await check.run(query('1', prompt, { threshold }))).toMatchObject(unfit);
    expect(await check.run(query('2', prompt, { threshold }))).toMatchObject(unfit);
    expect(history.counts().scopes).toBe(0);
  });

  it.each([
    ['tenant_id is missing', { tenant_id: '' }],
    ['tenant_id has more than 1024 characters', { tenant_id: 'x'.repeat(1_025) }],
    ['session_id has more than 1024 characters', { session_id: 'x'.repeat(1_025) }],
    ['agent_id has more than 1024 characters', { agent_id: 'x'.repeat(1_025) }],
    ['request_id has more than 1024 characters', { request_id: 'x'.repeat(1_025) }],
    ['threshold must be from 0 to 1', { threshold: -0.1 as LoopSimilarity }],
    ['threshold must be from 0 to 1', { threshold: 1.1 as LoopSimilarity }],
    ['threshold must be from 0 to 1', { threshold: Number.NaN as LoopSimilarity }],
  ])('refuses with "%s" before it costs anything', async (message, over) => {
    await expect(open().run(query('1', 'a', over))).rejects.toMatchObject({ reason: 'invalid', message });
    expect(embedder.texts).toEqual([]);
  });

  it('takes ids of 1024 characters', async () => {
    const id = 'x'.repeat(1_024);
    const ids = { tenant_id: id, session_id: id, agent_id: id };
    expect((await open().run(query(id, 'a', ids))).fitness).toBe('fit');
  });
});

describe('two fast prompts of one session', () => {
  it('are compared in the order they came, though the first takes longer to embed', async () => {
    const check = open();
    const hold = deferred();
    embedder.held.set('a b', hold.promise);
    const first = check.run(query('1', 'a b'));
    const second = check.run(query('2', 'b a'));
    hold.resolve();
    expect((await first).compared_count).toBe(0);
    expect(await second).toMatchObject({ loop_detected: true, similar_request_id: '1' });
  });

  it('wait for the remembering of the first, which its own answer does not', async () => {
    const check = open();
    const hold = deferred();
    const record = history.record.bind(history);
    history.record = async (scope, entry) => {
      await hold.promise;
      await record(scope, entry);
    };
    await check.run(query('1', 'a b'));
    let isAnswered = false;
    const second = check.run(query('2', 'a b')).finally(() => {
      isAnswered = true;
    });
    const elsewhere = await check.run(query('3', 'a b', { session_id: 'other' }));
    expect(elsewhere.compared_count).toBe(0);
    expect(isAnswered).toBe(false);
    hold.resolve();
    expect((await second).similar_request_id).toBe('1');
  });

  it('keep their order though one between them fails before the first is through', async () => {
    const check = open();
    const hold = deferred();
    embedder.held.set('a b', hold.promise);
    const first = check.run(query('1', 'a b'));
    await expect(check.run(query('2', 'broken'))).rejects.toMatchObject({ reason: 'failed' });
    await turn();
    const third = check.run(query('3', 'b a'));
    await turn();
    hold.resolve();
    await first;
    expect((await third).similar_request_id).toBe('1');
  });

  it('do not block each other when the first fails', async () => {
    const check = open();
    const broken = check.run(query('1', 'broken'));
    const second = check.run(query('2', 'a'));
    await expect(broken).rejects.toMatchObject({ reason: 'failed' });
    expect((await second).loop_detected).toBe(false);
  });
});

describe('failures and bounds', () => {
  it('passes on a store that is away', async () => {
    const check = open();
    history.similar = async () => {
      throw new PromptHistoryFailure('unavailable', 'away');
    };
    await expect(check.run(query('1', 'a'))).rejects.toMatchObject({ reason: 'unavailable' });
  });

  it('answers although it cannot remember, and reports that', async () => {
    const check = open();
    history.record = async () => {
      throw new PromptHistoryFailure('failed', 'full');
    };
    expect((await check.run(query('1', 'a'))).loop_detected).toBe(false);
    await expect.poll(() => recordFailures.length).toBe(1);
    expect(check.underWayCount).toBe(0);
  });

  it('drops a check whose time is up before it is compared, and does not remember it', async () => {
    const check = open();
    const hold = deferred();
    embedder.held.set('a', hold.promise);
    const late = check.run(query('1', 'a'), 50);
    elapsedMs = 50;
    hold.resolve();
    await expect(late).rejects.toMatchObject({ reason: 'timeout' });
    expect(history.counts().scopes).toBe(0);
    expect(embedder.timeouts).toEqual([50]);
  });

  it('refuses as busy what exceeds its bound, and takes again when there is room', async () => {
    const check = open({ checksMax: 4 });
    const hold = deferred();
    embedder.held.set('a', hold.promise);
    const running = [
      check.run(query('1', 'a', { session_id: 'one' })),
      check.run(query('2', 'a', { session_id: 'two' })),
    ];
    await expect(check.run(query('3', 'a', { session_id: 'three' }))).rejects.toMatchObject({
      reason: 'busy',
    });
    // What one tenant may not have is left for the others.
    running.push(check.run(query('4', 'b', { tenant_id: 'other' })));
    hold.resolve();
    await Promise.all(running);
    await expect.poll(() => check.underWayCount).toBe(0);
    expect((await check.run(query('3', 'a', { session_id: 'three' }))).fitness).toBe('fit');
  });

  it('does not let one stuck session take every place', async () => {
    const check = open({ checksMax: 1_000 });
    const hold = deferred();
    embedder.held.set('a', hold.promise);
    const stuck = Array.from({ length: 64 }, (_, index) => check.run(query(`r${index}`, 'a')));
    await expect(check.run(query('more', 'b'))).rejects.toMatchObject({ reason: 'busy' });
    expect((await check.run(query('else', 'b', { session_id: 'other' }))).fitness).toBe('fit');
    expect((await check.run(query('else', 'b', { tenant_id: 'other' }))).fitness).toBe('fit');
    hold.resolve();
    await Promise.all(stuck);
    await expect.poll(() => check.underWayCount).toBe(0);
    expect((await check.run(query('after', 'b'))).fitness).toBe('fit');
  });
});
