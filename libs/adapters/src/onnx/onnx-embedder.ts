/**
 * The queue in front of a local model. What is refused costs nothing: a full queue refuses at once, and a text whose
 * time is up is dropped before the model sees it. One that is at the model when its time is up is computed all the same, for
 * whoever waits for the same text by then.
 *
 *     embed ->  waiting (bounded)  ->  at the model (one)  -> answer
 *
 * A model that has not answered its text for `ANSWER_MS_MAX` hangs, and is given up for good: it cannot be stopped from
 * outside, so whoever owns the process ends it.
 */
import {
  type Embedder,
  type EmbedderDescription,
  type Embedding,
  EmbeddingFailure,
  type EmbeddingFailureReason,
  type EmbedOptions,
  type Fitness,
} from '#contracts/embedding';
import { TIMER_MS_MAX } from '#kernel';
import type { HostListener, InferenceHost, StartInferenceHost } from './inference-host.js';
import type { InferenceAnswer, InferenceFigures, ModelSettings, TextAnswer } from './protocol.js';

/** For counts and histograms; never holds a text. */
export type EmbedderEvent =
  | ({ kind: 'embedded'; fitness: Fitness; queueMs: number } & InferenceFigures)
  | { kind: 'refused'; reason: EmbeddingFailureReason }
  /** Ended unasked. From now on everything is refused as `unavailable`. */
  | { kind: 'died'; detail: string }
  /** As `died`, but its thread may be at work for ever: a process that waits for its threads does not end. */
  | { kind: 'hung'; detail: string };

/** Many times what the slowest model needs for its longest text, and less than anyone would watch it do nothing. */
export const ANSWER_MS_MAX = 20_000;

export interface OnnxEmbedder extends Embedder {
  /** False after `close`, and after the model's thread has died or hung. */
  readonly isAlive: boolean;
}

export interface QueueSettings {
  /** Texts waiting or at the model; the next one is refused as `busy`. */
  queueCountMax: number;
  /** Bounds what the model is given. */
  cut(text: string): string;
  onEvent(event: EmbedderEvent): void;
}

interface Job {
  id: number;
  text: string;
  acceptedMs: number;
  /** On the monotonic clock. */
  deadlineMs: number;
  /** Null: no timer waits so long; it expires when its turn comes. */
  timer: NodeJS.Timeout | null;
  /** Its caller has been told; it may still be at the model. */
  isSettled: boolean;
  resolve(embedding: Embedding): void;
  reject(failure: EmbeddingFailure): void;
}

export class QueuedEmbedder implements OnnxEmbedder, HostListener {
  readonly #queue: QueueSettings;
  readonly #host: InferenceHost;
  /** In the order of arrival. */
  readonly #waiting = new Map<number, Job>();
  #running: Job | null = null;
  readonly #opened: Promise<void>;
  #settleOpening: ((error: Error | null) => void) | null = null;
  #description: EmbedderDescription | null = null;
  #nextId = 1;
  /** Runs while a text is at the model. */
  #watchdog: NodeJS.Timeout | null = null;
  #state: 'opening' | 'open' | 'closing' | 'ended' = 'opening';
  #closing: Promise<void> | null = null;

  private constructor(settings: ModelSettings, start: StartInferenceHost, queue: QueueSettings) {
    this.#queue = queue;
    this.#opened = new Promise((resolve, reject) => {
      this.#settleOpening = (error) => (error === null ? resolve() : reject(error));
    });
    this.#host = start(settings, {
      onAnswer: (answer) => this.onAnswer(answer),
      onEnd: (reason) => this.onEnd(reason),
    });
  }

  /**
   * Resolves when the model is loaded, checked and warm.
   *
   * @throws Error with a remedy, if it cannot be
   */
  static async open(
    settings: ModelSettings,
    start: StartInferenceHost,
    queue: QueueSettings,
    openMsMax: number,
  ): Promise<OnnxEmbedder> {
    const embedder = new QueuedEmbedder(settings, start, queue);
    const timer = setTimeout(() => {
      embedder.#settleOpening?.(new Error(`the model was not ready after ${openMsMax} ms`));
    }, openMsMax);
    try {
      await embedder.#opened;
      return embedder;
    } catch (error) {
      await embedder.close();
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  get isAlive(): boolean {
    return this.#state === 'open';
  }

  get description(): EmbedderDescription {
    if (this.#description === null) throw new Error('the embedder is not open');
    return this.#description;
  }

  get queuedCount(): number {
    return this.#waiting.size + (this.#running === null ? 0 : 1);
  }

  embed(text: string, { timeoutMs = Number.POSITIVE_INFINITY }: EmbedOptions = {}): Promise<Embedding> {
    return new Promise((resolve, reject) => {
      const refusal = this.#refusal(timeoutMs);
      if (refusal !== null) {
        this.#queue.onEvent({ kind: 'refused', reason: refusal.reason });
        reject(refusal);
        return;
      }
      const id = this.#nextId;
      this.#nextId += 1;
      const acceptedMs = performance.now();
      const job: Job = {
        id,
        text: this.#queue.cut(text),
        acceptedMs,
        deadlineMs: acceptedMs + timeoutMs,
        timer: timeoutMs <= TIMER_MS_MAX ? setTimeout(() => this.#expire(job), timeoutMs) : null,
        isSettled: false,
        resolve,
        reject,
      };
      this.#waiting.set(id, job);
      this.#handOver();
    });
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  onAnswer(answer: InferenceAnswer): void {
    if (answer.kind === 'opened') {
      if (this.#state !== 'opening') return;
      this.#description = answer.description;
      this.#state = 'open';
      this.#settleOpening?.(null);
    } else if (answer.kind === 'unopened') this.#settleOpening?.(new Error(answer.detail));
    else this.#settle(answer);
  }

  onEnd(reason: string): void {
    if (this.#state === 'ended') return;
    const wasOpen = this.#state === 'open';
    this.#state = 'ended';
    this.#settleOpening?.(new Error(reason));
    if (wasOpen) this.#queue.onEvent({ kind: 'died', detail: reason });
    this.#failAll(wasOpen ? reason : 'the embedder is closed');
  }

  #watch(): void {
    if (this.#watchdog !== null) clearTimeout(this.#watchdog);
    this.#watchdog = null;
    if (this.#state !== 'open' || this.#running === null) return;
    this.#watchdog = setTimeout(() => this.#giveUp(), ANSWER_MS_MAX);
    this.#watchdog.unref();
  }

  #giveUp(): void {
    if (this.#state !== 'open') return;
    const detail = `the model has not answered for ${ANSWER_MS_MAX / 1_000} s`;
    this.#state = 'ended';
    this.#queue.onEvent({ kind: 'hung', detail });
    this.#failAll(detail);
  }

  #refusal(timeoutMs: number): EmbeddingFailure | null {
    if (this.#state !== 'open') return new EmbeddingFailure('unavailable', 'the embedder is not running');
    if (!(timeoutMs > 0)) return expiry();
    if (this.queuedCount < this.#queue.queueCountMax) return null;
    return new EmbeddingFailure('busy', `${this.#queue.queueCountMax} texts are waiting to be embedded`);
  }

  #handOver(): void {
    if (this.#running !== null) return;
    this.#running = this.#takeNext();
    if (this.#running === null) return;
    const { id, text } = this.#running;
    this.#watch();
    this.#host.post({ kind: 'embed', id, text });
  }

  /** The first of the waiting whose time is not up. */
  #takeNext(): Job | null {
    for (const job of this.#waiting.values()) {
      if (performance.now() >= job.deadlineMs) this.#expire(job);
      else {
        this.#waiting.delete(job.id);
        return job;
      }
    }
    return null;
  }

  /** One at the model keeps its place there until the model has answered. */
  #expire(job: Job): void {
    this.#waiting.delete(job.id);
    this.#refuse(job, expiry());
  }

  #settle(answer: TextAnswer): void {
    const job = this.#running;
    // What was given up while its answer was on its way is known no more.
    if (job?.id !== answer.id) return;
    this.#running = null;
    if (job.isSettled) this.#finishTwins(job, answer);
    this.#finish(job, answer);
    this.#watch();
    this.#handOver();
  }

  /** Nobody waits for this one any more: it is of use to those who came for the same text since. */
  #finishTwins({ text }: Job, answer: TextAnswer): void {
    for (const twin of this.#waiting.values()) {
      if (twin.text !== text) continue;
      this.#waiting.delete(twin.id);
      this.#finish(twin, answer);
    }
  }

  #finish(job: Job, answer: TextAnswer): void {
    if (answer.kind === 'failed') {
      this.#refuse(job, new EmbeddingFailure('failed', `the model failed: ${answer.detail}`));
    } else {
      const { fitness, vector, tokensCount, computeMs } = answer;
      if (job.timer !== null) clearTimeout(job.timer);
      job.isSettled = true;
      const queueMs = Math.max(0, performance.now() - job.acceptedMs - computeMs);
      this.#queue.onEvent({ kind: 'embedded', fitness, queueMs, tokensCount, computeMs });
      job.resolve({ fitness, vector } as Embedding);
    }
  }

  /** Without effect on a job whose caller has been told. */
  #refuse(job: Job, failure: EmbeddingFailure): void {
    if (job.isSettled) return;
    job.isSettled = true;
    if (job.timer !== null) clearTimeout(job.timer);
    this.#queue.onEvent({ kind: 'refused', reason: failure.reason });
    job.reject(failure);
  }

  /** What waits is refused; what is at the model is answered. */
  async #close(): Promise<void> {
    if (this.#state !== 'ended') {
      this.#state = 'closing';
      this.#watch();
      const waiting = [...this.#waiting.values()];
      this.#waiting.clear();
      for (const job of waiting) this.#refuse(job, closedFailure());
      await this.#host.end();
    }
    this.#state = 'ended';
    this.#failAll('the embedder is closed');
  }

  #failAll(reason: string): void {
    const jobs = [...(this.#running === null ? [] : [this.#running]), ...this.#waiting.values()];
    this.#running = null;
    this.#waiting.clear();
    this.#watch();
    for (const job of jobs) this.#refuse(job, new EmbeddingFailure('unavailable', reason));
  }
}

const expiry = () => new EmbeddingFailure('expired', 'the text was not embedded in time');
const closedFailure = () => new EmbeddingFailure('unavailable', 'the embedder is closed');
