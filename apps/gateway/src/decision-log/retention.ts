/** Deletes what is older or larger than the runtime configuration allows, once a minute. */
import {
  type DecisionStore,
  RUNTIME_CONFIG_DEFAULTS,
  type RuntimeConfigKey,
  type RuntimeConfigSource,
  runtimeConfigSchema,
} from '#contracts';
import type { Clock } from '#kernel';
import type { IngestEvents } from './ingest-events.js';

const INTERVAL_MS = 60_000;
const DAY_MS = 24 * 3_600_000;

export class Retention {
  #timer: NodeJS.Timeout | undefined;
  #isRunning = false;

  constructor(
    private readonly clock: Clock,
    private readonly config: RuntimeConfigSource,
    private readonly store: Pick<DecisionStore, 'enforceRetention'>,
    private readonly events: Pick<IngestEvents, 'storeFailed'>,
  ) {}

  start(): void {
    this.#timer = setInterval(() => void this.enforce(), INTERVAL_MS);
    this.#timer.unref();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  /**
   * Never throws: a failure is logged, and the next minute tries again. One run at a time: a backlog takes many minutes,
   * and a second run would delete nothing but the time that agents wait for the store.
   */
  async enforce(): Promise<void> {
    if (this.#isRunning) return;
    this.#isRunning = true;
    const days = this.#number('retention_days');
    const bytes = this.#number('retention_bytes');
    try {
      await this.store.enforceRetention({
        beforeMs: days > 0 ? this.clock.nowMs() - days * DAY_MS : null,
        bytesMax: bytes > 0 ? bytes : null,
      });
    } catch (error) {
      this.events.storeFailed('retention', error);
    } finally {
      this.#isRunning = false;
    }
  }

  /** An unusable value deletes nothing it should not: the default is in force instead. */
  #number(key: Extract<RuntimeConfigKey, 'retention_days' | 'retention_bytes'>): number {
    const parsed = runtimeConfigSchema.shape[key].safeParse(this.config.get(key));
    return parsed.success ? parsed.data : RUNTIME_CONFIG_DEFAULTS[key];
  }
}
