/** One arrow of the map: how often one agent's steps led to another's, how fast, how it went last. */
import type { ActionStatus, TopologyEdge } from '#contracts';

/** Latencies the median is taken over: the latest ones. */
const SAMPLE_COUNT_MAX = 31;

export class Edge {
  /**
   * A causal edge stands for `parent_step_id`; the other kind, a hand-over, only for the order of appearance, and
   * gives way to it.
   */
  isCausal: boolean;
  #traffic = 0;
  #status: ActionStatus | '' = '';
  /** Written round once it is full. */
  readonly #latenciesMs: number[] = [];
  #next = 0;

  /** @param from node_id @param to node_id */
  constructor(
    readonly from: string,
    readonly to: string,
    isCausal: boolean,
  ) {
    this.isCausal = isCausal;
  }

  /** @param latencyMs below 0, when two agents' clocks disagree, counts as 0 */
  record(latencyMs: number, status: ActionStatus): void {
    this.#traffic += 1;
    this.#status = status;
    if (!Number.isFinite(latencyMs)) return;
    this.#latenciesMs[this.#next] = Math.max(0, latencyMs);
    this.#next = (this.#next + 1) % SAMPLE_COUNT_MAX;
  }

  /** From here on causal; what was counted as hand-overs is dropped. */
  becomeCausal(): void {
    this.isCausal = true;
    this.#traffic = 0;
    this.#latenciesMs.length = 0;
    this.#next = 0;
  }

  view(): TopologyEdge {
    return {
      from: this.from,
      to: this.to,
      traffic_volume: this.#traffic,
      latency_ms: medianOf(this.#latenciesMs),
      status: this.#status,
    };
  }
}

/** 0 without samples; the mean of the two in the middle for an even count. */
function medianOf(values: readonly number[]): number {
  if (values.length === 0) return 0;
  const sorted = values.toSorted((one, other) => one - other);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] as number;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] as number) + upper) / 2;
}
