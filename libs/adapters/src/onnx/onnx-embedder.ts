/**
 * The queue in front of a local model. What is refused costs nothing: a full queue refuses at once, and a text whose
 * time is up is dropped before the model sees it.
 *
 *     embed ->  waiting (bounded)  ->  at the model (one)  -> answer
 *
 * The model computes in the thread of its caller (decision 0010), and the event loop turns between texts: sockets,
 * timers and refusals wait for one text at most, or for a few that take no longer together.
 */
import { setImmediate } from 'node:timers/promises';
import {
  type Embedder,
  type EmbedderDescription,
  type Embedding,
  EmbeddingFailure,
  type EmbedOptions,
} from '#contracts/embedding';
import { lineOf } from './line-of.js';
import type { LoadedModel } from './loaded-model.js';
import { isUnit } from './open-model.js';

/** After so much computing the event loop turns before the next text. */
const TURN_MS_MAX = 2;
/** Longer ones can't be given to a timer; whoever waits so long is told when his turn comes. */
const TIMER_MS_MAX = 2 ** 31 - 1;

export interface QueueSettings {
  /** Texts waiting or at the model; the next one is refused as `busy`. */
  queueCountMax: number;
  /** Bounds what the model is given. */
  cut(text: string): string;
  /** Told of each text that the model is given how long it has waited for that. */
  onWaited(ms: number): void;
}

interface Job {
  text: string;
  acceptedMs: number;
  /** On the monotonic clock. */
  deadlineMs: number;
  /** Only while it waits. */
  timer: NodeJS.Timeout | null;
  resolve(embedding: Embedding): void;
  reject(failure: EmbeddingFailure): void;
}

export class QueuedEmbedder implements Embedder {
  readonly #model: LoadedModel;
  readonly #queue: QueueSettings;
  /** In the order of arrival. */
  readonly #waiting = new Set<Job>();
  /** Of the text at the model; null: none is there. */
  #computing: Promise<void> | null = null;
  /** Since the event loop was last made to turn. */
  #computedMs = 0;
  #closing: Promise<void> | null = null;

  /** @param model ready; released when this is closed */
  constructor(model: LoadedModel, queue: QueueSettings) {
    this.#model = model;
    this.#queue = queue;
  }

  get description(): EmbedderDescription {
    return this.#model.description;
  }

  get queuedCount(): number {
    return this.#waiting.size + (this.#computing === null ? 0 : 1);
  }

  embed(text: string, { timeoutMs = Number.POSITIVE_INFINITY }: EmbedOptions = {}): Promise<Embedding> {
    return new Promise((resolve, reject) => {
      const refusal = this.#refusal(timeoutMs);
      if (refusal !== null) {
        reject(refusal);
        return;
      }
      const acceptedMs = performance.now();
      const deadlineMs = acceptedMs + timeoutMs;
      const job: Job = { text: this.#queue.cut(text), acceptedMs, deadlineMs, timer: null, resolve, reject };
      if (this.#computing === null) this.#computing = this.#compute(job);
      else this.#await(job, timeoutMs);
    });
  }

  /** What waits is refused; what is at the model is answered. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  #refusal(timeoutMs: number): EmbeddingFailure | null {
    if (this.#closing !== null) return closedFailure();
    if (!(timeoutMs > 0)) return expiry();
    if (this.queuedCount < this.#queue.queueCountMax) return null;
    return new EmbeddingFailure('busy', `${this.#queue.queueCountMax} texts are waiting to be embedded`);
  }

  #await(job: Job, timeoutMs: number): void {
    this.#waiting.add(job);
    if (timeoutMs <= TIMER_MS_MAX) job.timer = setTimeout(() => this.#expire(job), timeoutMs);
  }

  /** The first of the waiting whose time is not up. */
  #takeNext(): Job | null {
    for (const job of this.#waiting) {
      if (performance.now() >= job.deadlineMs) this.#expire(job);
      else {
        this.#waiting.delete(job);
        if (job.timer !== null) clearTimeout(job.timer);
        return job;
      }
    }
    return null;
  }

  #expire(job: Job): void {
    this.#waiting.delete(job);
    refuse(job, expiry());
  }

  async #compute(job: Job): Promise<void> {
    const startedMs = performance.now();
    this.#queue.onWaited(startedMs - job.acceptedMs);
    try {
      const { fitness, vector } = await this.#model.embed(job.text);
      if (vector !== null && !isUnit(vector)) throw new Error('the vector has no direction');
      job.resolve({ fitness, vector } as Embedding);
    } catch (error) {
      job.reject(new EmbeddingFailure('failed', `the model failed: ${lineOf(error)}`));
    }
    this.#computedMs += performance.now() - startedMs;
    if (this.#waiting.size > 0 && this.#computedMs > TURN_MS_MAX) {
      await setImmediate();
      this.#computedMs = 0;
    }
    const next = this.#takeNext();
    this.#computing = next === null ? null : this.#compute(next);
  }

  async #close(): Promise<void> {
    for (const job of this.#waiting) refuse(job, closedFailure());
    this.#waiting.clear();
    await this.#computing;
    await this.#model.release();
  }
}

function refuse({ timer, reject }: Job, failure: EmbeddingFailure): void {
  if (timer !== null) clearTimeout(timer);
  reject(failure);
}

const expiry = () => new EmbeddingFailure('expired', 'the text was not embedded in time');
const closedFailure = () => new EmbeddingFailure('unavailable', 'the embedder is closed');
