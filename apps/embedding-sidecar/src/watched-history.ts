/**
 * A history in another process, and whether it serves: asked every few seconds, and at once when it has failed a check,
 * so that neither the health service nor the System page praises a sidecar that can compare nothing.
 */
import type { PromptEntry, PromptHistory, PromptMatch, PromptScope } from '#contracts/embedding';
import { PromptHistoryFailure } from '#contracts/embedding';
import type { Timer } from '#kernel';

const PROBE_EVERY_MS = 5_000;

export interface WatchedHistoryOptions {
  history: PromptHistory;
  timer: Timer;
  /** Told of every change after the start, when it is taken to serve. @param problem null: it answers again */
  onServing: (problem: string | null) => void;
}

export class WatchedHistory implements PromptHistory {
  readonly #history: PromptHistory;
  readonly #timer: Timer;
  readonly #onServing: (problem: string | null) => void;
  #callOff: (() => void) | null = null;
  #isLooking = false;
  #isClosed = false;
  /** Of the latest probe. */
  #unserved: string | null = null;
  /** It answers, and does not remember: nothing that is asked again is found later. */
  #unremembered: string | null = null;

  constructor({ history, timer, onServing }: WatchedHistoryOptions) {
    this.#history = history;
    this.#timer = timer;
    this.#onServing = onServing;
  }

  get kind(): PromptHistory['kind'] {
    return this.#history.kind;
  }

  /** Public text on why checks fail, or find nothing later; null: it serves, as far as is known. */
  get problem(): string | null {
    return this.#unserved ?? this.#unremembered;
  }

  /** From now until it is closed. */
  watch(): void {
    if (this.#isClosed) return;
    this.#callOff = this.#timer.after(PROBE_EVERY_MS, () => this.watch());
    void this.#look();
  }

  open(): Promise<void> {
    return this.#history.open();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#callOff?.();
    await this.#history.close();
  }

  probe(): Promise<void> {
    return this.#history.probe();
  }

  async similar(scope: PromptScope, vector: Float32Array, requestId: string): Promise<PromptMatch[]> {
    try {
      return await this.#history.similar(scope, vector, requestId);
    } catch (error) {
      this.#doubt();
      throw error;
    }
  }

  async record(scope: PromptScope, entry: PromptEntry): Promise<void> {
    try {
      await this.#history.record(scope, entry);
      this.#unremembered = null;
    } catch (error) {
      // One that is away, or late for once, is what probes are for.
      if (error instanceof PromptHistoryFailure && error.reason !== 'unavailable')
        this.#unremembered = error.message;
      this.#doubt();
      throw error;
    }
  }

  #doubt(): void {
    if (this.#unserved === null) void this.#look();
  }

  async #look(): Promise<void> {
    if (this.#isLooking) return;
    this.#isLooking = true;
    const unserved = await this.#history.probe().then(() => null, publicTextOf);
    this.#isLooking = false;
    if (this.#isClosed || unserved === this.#unserved) return;
    const isChange = (unserved === null) !== (this.#unserved === null);
    this.#unserved = unserved;
    if (isChange) this.#onServing(unserved);
  }
}

const publicTextOf = (error: unknown): string =>
  error instanceof PromptHistoryFailure ? error.message : 'internal error';
