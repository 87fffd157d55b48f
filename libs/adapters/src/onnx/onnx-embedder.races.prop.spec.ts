/**
 * Askers of the same few texts, the model, its end and the clock at once, over the queue with a memory in front, in any order. Whatever
 * the order: a text is computed once at a time, each asker is told once what came first, in his time, and a vector is its text's.
 */
import fc from 'fast-check';
import { afterEach, expect, it } from 'vitest';
import {
  type Embedder,
  type Embedding,
  EmbeddingFailure,
  type EmbeddingFailureReason,
} from '#contracts/embedding';
import { memoEmbedder, STATIC_DESCRIPTION } from '#domain/embedding';
import { checkRaces, FakeTime, letAllCome, RACES_MS, RaceOfActors, turn } from '#testing';
import { realTimers, timersBy } from '#testing/timers-by';
import type { HostListener, InferenceHost } from './inference-host.js';
import { ANSWER_MS_MAX, type OnnxEmbedder, QueuedEmbedder } from './onnx-embedder.js';
import type { InferenceRequest, InferenceText, TextAnswer } from './protocol.js';

const TEXTS = ['a', 'b', 'c', 'd'] as const;
type Text = (typeof TEXTS)[number];
const QUEUE_MAX = 3;

type Told = 'answered' | EmbeddingFailureReason;

interface Acts {
  askers: { text: Text; timeoutMs: number | null }[][];
  model: ('answer' | 'fail' | 'die')[];
  owner: 'close'[];
  clock: { ms: number }[];
  together: number[];
}

interface Asker {
  name: string;
  text: Text;
  deadlineMs: number;
  /** What came first, and when; null: nothing before his time is up. */
  due: { told: Told; atMs: number } | null;
  told: Told | null;
}

class Race extends RaceOfActors implements InferenceHost {
  readonly #time = new FakeTime();
  readonly #askers: Asker[] = [];
  readonly #computing = new Map<string, number>();
  /** The latest of each text. */
  readonly #computed = new Map<string, Float32Array>();
  readonly #remembered = new Set<string>();
  #listener!: HostListener;
  #queue!: OnnxEmbedder;
  #memo!: Embedder;
  /** What the model has been given and not answered. */
  #given: InferenceText | null = null;
  #givenMs = 0;
  #isClosing = false;
  #answerCount = 0;
  #hasEnded = false;

  constructor(
    readonly acts: Acts,
    scheduler: fc.Scheduler,
  ) {
    super(scheduler);
  }

  async begin(): Promise<void> {
    timersBy(this.#time);
    const opening = QueuedEmbedder.open(
      { kind: 'static', directory: 'nowhere' },
      (_, listener) => {
        this.#listener = listener;
        return this;
      },
      { queueCountMax: QUEUE_MAX, cut: (text) => text, onEvent: () => {} },
      1_000,
    );
    this.#listener.onAnswer({ kind: 'opened', description: STATIC_DESCRIPTION });
    this.#queue = await opening;
    const watched: Embedder = {
      description: STATIC_DESCRIPTION,
      queuedCount: 0,
      embed: (text, options) => this.#watch(text, this.#queue.embed(text, options)),
      close: () => this.#queue.close(),
    };
    this.#memo = memoEmbedder(watched, { clock: this.#time, countMax: TEXTS.length });
  }

  post(request: InferenceRequest): void {
    if (request.kind !== 'embed') return;
    if (this.#given !== null) this.failures.push(new Error('two texts at the model'));
    this.#given = request;
    this.#givenMs = performance.now();
  }

  /** As a thread does: answers what it was given. */
  async end(): Promise<void> {
    await this.port('end');
    if (this.#given !== null) this.#answer('answer');
    await this.port('ended');
    this.#end();
  }

  #end(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#given = null;
    this.#listener.onEnd('ended');
  }

  /** Between memory and queue: what is computed for one is for all who wait for that text. */
  async #watch(text: string, computing: Promise<Embedding>): Promise<Embedding> {
    const count = (this.#computing.get(text) ?? 0) + 1;
    this.#computing.set(text, count);
    if (count > 1) this.failures.push(new Error(`${text} is computed twice at a time`));
    if (this.#queue.queuedCount > QUEUE_MAX) this.failures.push(new Error('the queue has no bound'));
    if (this.#isClosing) this.#isDue(text, 'unavailable');
    try {
      const embedding = await computing;
      this.#isDue(text, 'answered');
      this.#computed.set(text, embedding.vector as Float32Array);
      this.#remembered.add(text);
      return embedding;
    } catch (error) {
      const { reason } = error as EmbeddingFailure;
      if (reason !== 'expired') this.#isDue(text, reason);
      throw error;
    } finally {
      this.#computing.set(text, 0);
    }
  }

  #isDue(text: string, told: Told): void {
    const atMs = performance.now();
    for (const asker of this.#askers)
      if (asker.text === text && asker.told === null && atMs <= asker.deadlineMs)
        asker.due ??= { told, atMs };
  }

  async run(): Promise<void> {
    const { acts } = this;
    for (const [nth, asks] of acts.askers.entries())
      void this.actor(`asker ${nth}`, asks, async ({ text, timeoutMs }) => {
        void this.#ask(text, timeoutMs ?? undefined).catch((error) => this.failures.push(error));
        await turn();
      });
    void this.actor('model', acts.model, async (act) => {
      if (act === 'die') this.#end();
      else this.#answer(act);
      await turn();
    });
    void this.actor('owner', acts.owner, () => void this.#close());
    void this.actor('clock', acts.clock, async ({ ms }) => {
      await turn();
      await this.#time.pass(ms);
      const isHung = this.#given !== null && performance.now() - this.#givenMs >= ANSWER_MS_MAX;
      if (isHung) expect(this.#queue.isAlive, 'it hangs').toBe(false);
    });
    do await letAllCome(this.scheduler, acts.together);
    while (this.busyCount > 0);
  }

  async #ask(text: Text, timeoutMs: number | undefined): Promise<void> {
    const nowMs = performance.now();
    const name = `${this.#askers.length} for ${text}`;
    const asker: Asker = { name, text, deadlineMs: nowMs + (timeoutMs ?? Infinity), due: null, told: null };
    this.#askers.push(asker);
    if (this.#remembered.has(text)) asker.due = { told: 'answered', atMs: nowMs };
    const told = await this.#memo.embed(text, { timeoutMs }).then(
      ({ vector }) => {
        expect(vector).toBe(this.#computed.get(text));
        return 'answered' as const;
      },
      (error: EmbeddingFailure) => error.reason,
    );
    asker.told = told;
    this.note(`${name} is told ${told}`);
    const { due, deadlineMs } = asker;
    // In the millisecond in which his time is up either may come first.
    const isInTime = due !== null && (due.atMs < deadlineMs || told !== 'expired');
    expect([name, told]).toEqual([name, isInTime ? due.told : 'expired']);
    expect([name, performance.now()]).toEqual([name, isInTime ? due.atMs : deadlineMs]);
  }

  #answer(how: 'answer' | 'fail'): void {
    if (this.#given === null) return;
    const { id, text } = this.#given;
    this.#given = null;
    this.#answerCount += 1;
    const vector = Float32Array.from([text.charCodeAt(0), this.#answerCount]);
    const answer: TextAnswer =
      how === 'fail'
        ? { kind: 'failed', id, detail: 'no' }
        : { kind: 'embedded', id, fitness: 'fit', vector, tokensCount: 1, computeMs: 0 };
    this.#listener.onAnswer(answer);
  }

  async #close(): Promise<void> {
    this.#isClosing = true;
    this.#remembered.clear();
    await this.#memo.close();
  }

  async check(): Promise<void> {
    for (const failure of this.failures) throw failure;
    for (const [text, vector] of this.#computed) expect(vector[0]).toBe(text.charCodeAt(0));
    this.isFree = true;
    // Each answer hands over the next; who waits for one that expired asks anew.
    for (let round = 0; this.#given !== null || this.#queue.queuedCount > 0; round += 1) {
      expect(round, 'something waits for ever').toBeLessThan(30);
      this.#answer('answer');
      await turn();
    }
    for (const failure of this.failures) throw failure;
    expect(this.#askers.filter(({ told }) => told === null)).toEqual([]);
    expect(this.#time.timers).toEqual([]);
    await this.#close();
  }
}

const acts: fc.Arbitrary<Acts> = fc.record({
  askers: fc.array(
    fc.array(
      fc.record({
        text: fc.constantFrom(...TEXTS, 'a', 'a'),
        timeoutMs: fc.constantFrom(10, 20, 50, 50, null),
      }),
      { maxLength: 4 },
    ),
    { minLength: 1, maxLength: 5 },
  ),
  model: fc.array(fc.constantFrom<Acts['model']>('answer', 'answer', 'answer', 'answer', 'fail', 'die'), {
    maxLength: 8,
  }),
  owner: fc.array(fc.constant('close' as const), { maxLength: 1 }),
  clock: fc.array(fc.record({ ms: fc.constantFrom(1, 10, 10, 20, 50, ANSWER_MS_MAX) }), { maxLength: 5 }),
  together: fc.array(fc.integer({ min: 1, max: 3 }), { minLength: 1, maxLength: 4 }),
});

afterEach(realTimers);

it(
  'at once, in any order: computed once at a time, each asker told once and in his time, and remembered as computed',
  async () => {
    await checkRaces(acts, (all, scheduler) => new Race(all, scheduler), 300);
  },
  RACES_MS,
);
