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

  constructor(
    private readonly clock: Clock,
    private readonly config: RuntimeConfigSource,
    private readonly store: DecisionStore,
    private readonly events: IngestEvents,
  ) {}

  start(): void {
    this.#timer = setInterval(() => void this.enforce(), INTERVAL_MS);
    this.#timer.unref();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  /** Never throws: a failure is logged, and the next minute tries again. */
  async enforce(): Promise<void> {
    const days = this.#number('retention_days');
    const bytes = this.#number('retention_bytes');
    try {
      await this.store.enforceRetention({
        beforeMs: days > 0 ? this.clock.nowMs() - days * DAY_MS : null,
        bytesMax: bytes > 0 ? bytes : null,
      });
    } catch (error) {
      this.events.storeFailed('retention', error);
    }
  }

  /** An unusable value deletes nothing it should not: the default is in force instead. */
  #number(key: Extract<RuntimeConfigKey, 'retention_days' | 'retention_bytes'>): number {
    const parsed = runtimeConfigSchema.shape[key].safeParse(this.config.get(key));
    return parsed.success ? parsed.data : RUNTIME_CONFIG_DEFAULTS[key];
  }
}
