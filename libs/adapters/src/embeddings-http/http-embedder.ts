/**
 * An embedder behind any OpenAI-compatible `/v1/embeddings`: Xinference, Text Embeddings Inference, OpenAI and the like.
 * Texts that come together are asked for together, and while requests are under way the next one gathers.
 *
 *     embed() -> queue -> take <= batch -> ask -> 200           -> each text its vector
 *                  ^                          -> 400, 413, 422  -> halves; one alone: shorter, then failed
 *                  |                          -> 429, 5xx, hang -> everyone waits, asked again
 *               expired ones fall out, before every attempt
 *
 * The dimension is learnt when it is opened; a server that changes its mind is not believed afterwards, and its texts fail
 * with `DimensionChanged`: whoever may have vectors of two dimensions opens it anew.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type Cosine,
  type Embedder,
  type EmbedderDescription,
  type Embedding,
  EmbeddingFailure,
  type EmbedOptions,
  type LoopSimilarity,
} from '#contracts/embedding';
import { type Clock, systemClock } from '#kernel';
import { DimensionChanged } from './dimension-changed.js';
import { EmbeddingsEndpoint } from './embeddings-endpoint.js';
import { EMPTY_EMBEDDING, parseAnswer } from './parse-answer.js';
import { retryDelayMs } from './retry-delay.js';
import {
  type CompleteSettings,
  completeSettings,
  HTTP_EMBEDDER_LIMITS,
  type HttpEmbedderSettings,
} from './settings.js';
import { type QueuedText, TextQueue } from './text-queue.js';

/** What a test may put in the place of the world. */
export interface HttpEmbedderSurroundings {
  clock?: Clock | undefined;
  /** 0..1 */
  random?: (() => number) | undefined;
  /** Resolves after `ms`, or as soon as `signal` aborts. */
  wait?: ((ms: number, signal: AbortSignal) => Promise<void>) | undefined;
}

const WARM_UP_TEXT = 'warm-up';

const waitFor = (ms: number, signal: AbortSignal): Promise<void> =>
  sleep(ms, undefined, { signal }).catch(() => {});

export class HttpEmbedder implements Embedder {
  readonly #settings: CompleteSettings;
  readonly #surroundings: Required<HttpEmbedderSurroundings>;
  readonly #endpoint: EmbeddingsEndpoint;
  readonly #queue: TextQueue;
  readonly #closing = new AbortController();
  /** Null until opened. */
  #description: EmbedderDescription | null = null;
  #dimension: number | null = null;
  #laneCount = 0;
  #isPumpDue = false;
  /** Over when every wait that a server asked for is. */
  #pause: Promise<void> = Promise.resolve();

  private constructor(settings: HttpEmbedderSettings, surroundings: HttpEmbedderSurroundings) {
    this.#settings = completeSettings(settings);
    this.#surroundings = {
      clock: surroundings.clock ?? systemClock,
      random: surroundings.random ?? Math.random,
      wait: surroundings.wait ?? waitFor,
    };
    const { baseUrl, model, apiKey, attemptTimeoutMs, queueCountMax, onWaited } = this.#settings;
    const { clock } = this.#surroundings;
    this.#endpoint = new EmbeddingsEndpoint({
      baseUrl,
      model,
      apiKey: apiKey ?? null,
      attemptTimeoutMs,
      clock,
    });
    this.#queue = new TextQueue({ clock, countMax: queueCountMax, onWaited });
  }

  /**
   * Asks for one vector, so that the dimension is known and the model loaded.
   *
   * @throws EmbeddingFailure when no usable answer comes; Error for a setting that can't be used
   */
  static async open(
    settings: HttpEmbedderSettings,
    surroundings: HttpEmbedderSurroundings = {},
  ): Promise<HttpEmbedder> {
    const embedder = new HttpEmbedder(settings, surroundings);
    try {
      await embedder.#warmUp();
      return embedder;
    } catch (error) {
      await embedder.close();
      throw error;
    }
  }

  get description(): EmbedderDescription {
    if (this.#description === null) throw new Error('the embedder has not been opened');
    return this.#description;
  }

  get queuedCount(): number {
    return this.#queue.openCount;
  }

  async embed(text: string, { timeoutMs }: EmbedOptions = {}): Promise<Embedding> {
    if (this.#closing.signal.aborted) throw closedFailure();
    const sent = cut(text, this.#settings.tokensMax * HTTP_EMBEDDER_LIMITS.charactersPerToken);
    if (sent.trim() === '') return EMPTY_EMBEDDING;
    if (timeoutMs !== undefined && !(timeoutMs > 0))
      throw new EmbeddingFailure('expired', 'the time for this text was up before it was asked for');
    const entry = this.#queue.add(sent, timeoutMs ?? null);
    if (entry === null) throw new EmbeddingFailure('busy', 'too many texts wait for their embeddings');
    this.#duePump();
    return entry.answer;
  }

  /** What is under way is broken off and fails as `unavailable`. */
  async close(): Promise<void> {
    if (this.#closing.signal.aborted) return;
    this.#closing.abort();
    this.#queue.failAll(closedFailure());
    await this.#endpoint.close();
  }

  async #warmUp(): Promise<void> {
    const { fitness } = await this.embed(WARM_UP_TEXT);
    if (fitness !== 'fit' || this.#dimension === null)
      throw new EmbeddingFailure('failed', 'the embeddings server answered the warm-up with a zero vector');
    this.#description = {
      model_id: this.#settings.model,
      dimension: this.#dimension,
      tokens_max: this.#settings.tokensMax,
      loopWhenSimilarityAbove: 0.95 as LoopSimilarity,
      hitWhenCosineAtLeast: 0.92 as Cosine,
      needsStrictGate: false,
    };
  }

  #duePump(): void {
    if (this.#isPumpDue || this.#laneCount >= HTTP_EMBEDDER_LIMITS.requestsMax) return;
    this.#isPumpDue = true;
    // Texts of the same turn of the event loop go together.
    setImmediate(() => {
      this.#isPumpDue = false;
      while (this.#laneCount < HTTP_EMBEDDER_LIMITS.requestsMax && this.#queue.waitingCount > 0) {
        const batch = this.#queue.take(this.#settings.batchTextsMax);
        if (batch.length > 0) void this.#runLane(batch);
      }
    });
  }

  /** One request after another while texts wait. */
  async #runLane(first: QueuedText[]): Promise<void> {
    this.#laneCount += 1;
    for (let batch = first; batch.length > 0; batch = this.#queue.take(this.#settings.batchTextsMax))
      await this.#embedBatch(batch);
    this.#laneCount -= 1;
  }

  /** Settles every text of the batch. Never rejects. */
  async #embedBatch(batch: readonly QueuedText[]): Promise<void> {
    const stop = new AbortController();
    for (const entry of batch) {
      // Nobody waits any more: what the server still computes is for nothing.
      entry.whenSettled(() => batch.every(({ isOpen }) => !isOpen) && stop.abort());
    }
    for (let attempt = 1; ; ) {
      await this.#pause;
      const steadyMs = this.#surroundings.clock.steadyMs();
      for (const entry of batch) entry.expireIfPast(steadyMs);
      const open = batch.filter(({ isOpen }) => isOpen);
      if (open.length === 0) return;
      const outcome = await this.#endpoint.ask(
        open.map(({ text }) => text),
        stop.signal,
      );
      if (stop.signal.aborted) return;
      if (outcome.kind === 'answered') return this.#handOut(open, outcome.body);
      if (outcome.kind === 'failed') return this.#failAll(open, 'failed', outcome.reason);
      if (outcome.kind === 'input_refused') {
        if (open.length > 1) {
          // One text that the server can't take must not cost the others theirs.
          const middle = Math.ceil(open.length / 2);
          await this.#embedBatch(open.slice(0, middle));
          return this.#embedBatch(open.slice(middle));
        }
        if (this.#shorten(open[0])) continue;
        return this.#failAll(open, 'failed', outcome.reason);
      }
      const delayMs =
        attempt < this.#settings.attemptsMax
          ? retryDelayMs(attempt, outcome.retryAfterMs, this.#surroundings.random())
          : null;
      if (delayMs === null) return this.#failAll(open, 'unavailable', outcome.reason);
      attempt += 1;
      const wait = this.#surroundings.wait(delayMs, this.#closing.signal);
      // Without its results, which would hold those of every pause before it.
      this.#pause = Promise.all([this.#pause, wait]).then(() => {});
    }
  }

  #handOut(open: readonly QueuedText[], body: string): void {
    const answer = parseAnswer(body, open.length, this.#dimension);
    if ('refused' in answer) {
      // What is whole but for its dimension.
      const hasChanged = this.#dimension !== null && !('refused' in parseAnswer(body, open.length, null));
      this.#failAll(open, 'failed', answer.refused, hasChanged);
      return;
    }
    this.#dimension = answer.dimension;
    for (const [position, entry] of open.entries()) {
      const embedding = answer.embeddings[position] ?? null;
      if (embedding !== null) entry.succeed(embedding);
      else this.#failAll([entry], 'failed', 'it answered with numbers that are no vector');
    }
  }

  /** @returns false: it is as short as it gets */
  #shorten(entry: QueuedText | undefined): boolean {
    const { cutsMax, cutCharactersMin } = HTTP_EMBEDDER_LIMITS;
    if (entry === undefined || entry.cutCount >= cutsMax || entry.text.length / 4 < cutCharactersMin)
      return false;
    entry.cutCount += 1;
    entry.text = cut(entry.text, Math.floor(entry.text.length / 4));
    return true;
  }

  #failAll(
    entries: readonly QueuedText[],
    reason: 'failed' | 'unavailable',
    what: string,
    hasDimensionChanged = false,
  ): void {
    const message = `the embeddings server: ${what}`;
    const failure = hasDimensionChanged
      ? new DimensionChanged(message)
      : new EmbeddingFailure(reason, message);
    for (const entry of entries) entry.fail(failure);
    if (hasDimensionChanged) this.#settings.onDimensionChanged?.(message);
  }
}

const closedFailure = () => new EmbeddingFailure('unavailable', 'the embedder is closed');

/** Well-formed, at most `charactersMax` UTF-16 units: half a character would be answered with an error by many servers. */
function cut(text: string, charactersMax: number): string {
  return text.slice(0, charactersMax).replace(/\p{Surrogate}/gu, '\ufffd');
}
