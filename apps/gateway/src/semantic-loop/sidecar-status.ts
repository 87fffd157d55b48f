/**
 * What an operator sees of the sidecar: whether it answers, since when, and what it says of itself. It is asked when
 * somebody looks, and at most once a second.
 */
import type { EmbeddingService, SidecarDescription, SystemView } from '#contracts';
import type { Clock } from '#kernel';
import type { SidecarProcess } from './sidecar-process.js';

const DESCRIBE_TIMEOUT_MS = 250;
const DESCRIPTION_KEPT_MS = 1_000;

export interface SidecarStatusParts {
  /** Null: nobody needs it. */
  service: Pick<EmbeddingService, 'describe' | 'isReady'> | null;
  /** Null: it runs on its own. */
  supervised: Pick<SidecarProcess, 'state'> | null;
  clock: Clock;
}

export class SidecarStatus {
  readonly #parts: SidecarStatusParts;
  #sinceMs: number;
  #description: Promise<SidecarDescription | null> = Promise.resolve(null);
  #describedMs = Number.NEGATIVE_INFINITY;
  #last: SidecarDescription | null = null;

  constructor(parts: SidecarStatusParts) {
    this.#parts = parts;
    this.#sinceMs = parts.clock.nowMs();
  }

  /** It came or went. */
  noteChanged(isReady: boolean): void {
    this.#sinceMs = this.#parts.clock.nowMs();
    // Another process, perhaps with another model.
    if (isReady) this.#describedMs = Number.NEGATIVE_INFINITY;
  }

  /** Never rejects. */
  async view(): Promise<SystemView['sidecar']> {
    const { service, supervised } = this.#parts;
    const state = this.#state();
    const description = service === null || state !== 'serving' ? null : await this.#describe(service);
    return {
      state,
      is_supervised: supervised !== null,
      restart_count: supervised?.state.restart_count ?? 0,
      since_ms: state === 'off' ? null : this.#sinceMs,
      detail: this.#detail(state),
      model_id: description?.model_id ?? null,
      dimension: description?.dimension ?? null,
      store: description?.store ?? null,
      store_problem: description?.store_problem ?? null,
      loop_similarity_threshold: description?.loop_similarity_threshold ?? null,
      queued: description?.queued ?? null,
    };
  }

  #state(): SystemView['sidecar']['state'] {
    const { service, supervised } = this.#parts;
    if (service === null) return 'off';
    if (service.isReady) return 'serving';
    // A process that has not ended yet is on its way: it starts, or it serves and is about to be found.
    const isOnItsWay =
      supervised !== null && (supervised.state.pid !== null || supervised.state.detail === null);
    return isOnItsWay && !this.#isLost() ? 'starting' : 'down';
  }

  /** Its process is there and was reached, and is not any more. */
  #isLost(): boolean {
    const state = this.#parts.supervised?.state;
    return state?.state === 'serving' && this.#sinceMs > state.since_ms;
  }

  #detail(state: SystemView['sidecar']['state']): string | null {
    if (state === 'off' || state === 'serving') return null;
    const { supervised } = this.#parts;
    if (supervised === null) return 'Nobody answers at LOOP_EMBEDDING_SIDECAR_UDS.';
    return supervised.state.detail ?? (state === 'down' ? 'It does not answer.' : null);
  }

  #describe(service: Pick<EmbeddingService, 'describe'>): Promise<SidecarDescription | null> {
    const steadyMs = this.#parts.clock.steadyMs();
    if (steadyMs - this.#describedMs >= DESCRIPTION_KEPT_MS) {
      this.#describedMs = steadyMs;
      this.#description = service.describe({ timeoutMs: DESCRIBE_TIMEOUT_MS, traceParent: null }).then(
        (description) => {
          this.#last = description;
          return description;
        },
        // Busy for a moment: what it said last is as good.
        () => this.#last,
      );
    }
    return this.#description;
  }
}
