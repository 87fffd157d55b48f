/**
 * A history whose server may not be there yet: the sidecar serves without it, checks are refused as `unavailable`
 * meanwhile, and vectors are given all the same. A server that can never serve stops the start.
 */
import {
  type PromptEntry,
  type PromptHistory,
  PromptHistoryFailure,
  type PromptMatch,
  type PromptScope,
} from '#contracts/embedding';
import type { Timer } from '#kernel';

const REOPEN_EVERY_MS = 1_000;
const NOT_YET = { reason: 'unavailable', message: 'The store of prompts has not been reached yet' } as const;

export interface LateHistoryOptions {
  history: PromptHistory;
  /** Told of every new reason why it does not open, and when it is open at last. */
  onState: (failure: PromptHistoryFailure | null) => void;
  timer: Timer;
}

export class LateHistory implements PromptHistory {
  readonly #history: PromptHistory;
  readonly #onState: (failure: PromptHistoryFailure | null) => void;
  readonly #timer: Timer;
  #isOpen = false;
  #isClosed = false;
  #callOff: (() => void) | null = null;
  /** Why it is not open. */
  #failure: PromptHistoryFailure | null = null;

  constructor({ history, onState, timer }: LateHistoryOptions) {
    this.#history = history;
    this.#onState = onState;
    this.#timer = timer;
  }

  get kind(): PromptHistory['kind'] {
    return this.#history.kind;
  }

  /** Resolves also where the server is not there yet. @throws PromptHistoryFailure for what waiting cannot mend */
  async open(): Promise<void> {
    const failure = await this.#tryOpen();
    if (failure === null) return;
    if (failure.reason !== 'unavailable') throw failure;
    this.#missing(failure);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#callOff?.();
    await this.#history.close();
  }

  async probe(): Promise<void> {
    this.#requireOpen();
    await this.#history.probe();
  }

  async similar(scope: PromptScope, vector: Float32Array, requestId: string): Promise<PromptMatch[]> {
    this.#requireOpen();
    return this.#history.similar(scope, vector, requestId);
  }

  async record(scope: PromptScope, entry: PromptEntry): Promise<void> {
    this.#requireOpen();
    await this.#history.record(scope, entry);
  }

  /** @returns null once open. An error that is no PromptHistoryFailure is a broken invariant and passes. */
  async #tryOpen(): Promise<PromptHistoryFailure | null> {
    try {
      await this.#history.open();
      this.#isOpen = true;
      return null;
    } catch (error) {
      if (error instanceof PromptHistoryFailure) return error;
      throw error;
    }
  }

  #retryLater(): void {
    if (this.#isClosed) return;
    this.#callOff = this.#timer.after(REOPEN_EVERY_MS, () => {
      void this.#tryOpen().then(
        (failure) => (failure === null ? this.#onState(null) : this.#missing(failure)),
        () => this.#retryLater(),
      );
    });
  }

  #missing(failure: PromptHistoryFailure): void {
    if (failure.reason !== this.#failure?.reason) this.#onState(failure);
    this.#failure = failure;
    this.#retryLater();
  }

  #requireOpen(): void {
    if (this.#isOpen) return;
    const { reason, message } = this.#failure ?? NOT_YET;
    throw new PromptHistoryFailure(reason, message);
  }
}
