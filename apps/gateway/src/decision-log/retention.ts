/**
 * Deletes what is older or larger than the runtime configuration allows, once a minute. A wall clock that is set forward
 * makes everything old at a stroke, be it by mistake or because a machine slept: age goes by the time before, until the new
 * one has stood for hours. One that is set back is believed at once, for it deletes less. A start knows of the time before by
 * what is stored last: where the clock is days ahead of that, nobody ran for days, or it is wrong, and a wait harms neither.
 */
import {
  type DecisionStore,
  ObservatoryError,
  RUNTIME_CONFIG_DEFAULTS,
  type RuntimeConfigKey,
  type RuntimeConfigSource,
  runtimeConfigSchema,
} from '#contracts';
import { type Clock, DAY_MS, HOUR_MS } from '#kernel';
import type { IngestEvents } from './ingest-events.js';
import type { SessionRegistry } from './session-registry.js';

const INTERVAL_MS = 60_000;
/** A run that takes longer is told of. */
const LONG_RUN_MINUTES = 10;
/** Ahead of the steady clock by more than this since the last run, the wall clock has been set. */
export const SET_FORWARD_MS = HOUR_MS;
/** At a start, ahead of the newest that is stored: less is a night without agents. */
export const START_AHEAD_MS = DAY_MS;
/** A doubted clock is believed after this. */
export const BELIEVED_AFTER_MS = 12 * HOUR_MS;

export class Retention {
  #timer: NodeJS.Timeout | undefined;
  #isRunning = false;
  /** Of the run under way, whole ones. */
  #minutesRunning = 0;
  /** All that may be deleted is gone, and it was not enough: told already. */
  #isOverBytes = false;
  /** Wall clock less steady clock, as believed. */
  #offsetMs: number;
  /** Steady time at which the wall clock was found set forward; null: it is believed. */
  #doubtedSinceMs: number | null = null;

  constructor(
    private readonly clock: Clock,
    private readonly config: RuntimeConfigSource,
    private readonly store: Pick<DecisionStore, 'enforceRetention'>,
    private readonly events: Pick<IngestEvents, 'storeFailed' | 'warn'>,
    private readonly sessions: Pick<SessionRegistry, 'forget'>,
  ) {
    this.#offsetMs = clock.nowMs() - clock.steadyMs();
  }

  /** @param newestStoredMs null: nothing is stored */
  start(newestStoredMs: number | null): void {
    this.#doubtStart(newestStoredMs);
    this.#timer = setInterval(() => void this.enforce(), INTERVAL_MS);
    this.#timer.unref();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  /**
   * Never throws: a failure is logged, and the next minute tries again; the end of the process is none. One run at a time: a backlog takes many minutes,
   * and a second run would delete nothing but the time that agents wait for the store.
   */
  async enforce(): Promise<void> {
    if (this.#isRunning) {
      this.#minutesRunning += 1;
      if (this.#minutesRunning === LONG_RUN_MINUTES) this.#tellLongRun();
      return;
    }
    this.#isRunning = true;
    this.#minutesRunning = 0;
    const nowMs = this.#believedMs();
    const days = this.#number('retention_days');
    const bytes = this.#number('retention_bytes');
    try {
      const { is_over_bytes } = await this.store.enforceRetention(
        { beforeMs: days > 0 ? nowMs - days * DAY_MS : null, bytesMax: bytes > 0 ? bytes : null },
        (keys) => this.sessions.forget(keys),
      );
      if (is_over_bytes && !this.#isOverBytes) this.#tellOverBytes();
      this.#isOverBytes = is_over_bytes;
    } catch (error) {
      if (!isEnding(error)) this.events.storeFailed('retention', error);
    } finally {
      this.#isRunning = false;
    }
  }

  #doubtStart(newestStoredMs: number | null): void {
    if (newestStoredMs === null || this.clock.nowMs() - newestStoredMs <= START_AHEAD_MS) return;
    this.#offsetMs = newestStoredMs - this.clock.steadyMs();
  }

  /** Now, or what it would be had nobody set the clock forward. */
  #believedMs(): number {
    const steadyMs = this.clock.steadyMs();
    const offsetMs = this.clock.nowMs() - steadyMs;
    const aheadMs = offsetMs - this.#offsetMs;
    if (aheadMs > SET_FORWARD_MS) {
      if (this.#doubtedSinceMs === null) this.#tellDoubt(aheadMs);
      this.#doubtedSinceMs ??= steadyMs;
      if (steadyMs - this.#doubtedSinceMs < BELIEVED_AFTER_MS) return steadyMs + this.#offsetMs;
    }
    this.#doubtedSinceMs = null;
    this.#offsetMs = offsetMs;
    return steadyMs + offsetMs;
  }

  #tellDoubt(aheadMs: number): void {
    this.events.warn(
      `the clock is ${(aheadMs / HOUR_MS).toFixed(1)} h ahead of the time that was known last; nothing is deleted for its ` +
        `age by it for ${BELIEVED_AFTER_MS / HOUR_MS} h: if it is wrong, set it right before`,
    );
  }

  #tellLongRun(): void {
    this.events.warn(
      `retention has been deleting for ${LONG_RUN_MINUTES} minutes and is not through: as much comes in as goes, or a bound was ` +
        'lowered by much; until it is, the database holds more than retention_days and retention_bytes say',
    );
  }

  #tellOverBytes(): void {
    this.events.warn(
      'the database is larger than retention_bytes by what is never deleted (audit, sums of what was spent, what is held): ' +
        'steps and calls go within a minute of their coming; raise retention_bytes',
    );
  }

  /** An unusable value deletes nothing it should not: the default is in force instead. */
  #number(key: Extract<RuntimeConfigKey, 'retention_days' | 'retention_bytes'>): number {
    const parsed = runtimeConfigSchema.shape[key].safeParse(this.config.get(key));
    return parsed.success ? parsed.data : RUNTIME_CONFIG_DEFAULTS[key];
  }
}

const isEnding = (error: unknown): boolean => error instanceof ObservatoryError && error.code === 'draining';
