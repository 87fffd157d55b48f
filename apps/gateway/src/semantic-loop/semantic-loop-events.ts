/** What happens around semantic loops, each as one function: log line and metric together. No prompts, no ids in labels. */
import type { Logger } from 'pino';
import type { Counter, Histogram, Registry } from 'prom-client';
import type { SemanticLoopEvent, SystemView } from '#contracts';
import { LinePace, MINUTE_MS, type SteadyClock } from '#kernel';
import { addCounter, addGauge, metersOf } from '../telemetry/metrics.js';
import { RecentLatencies } from '../telemetry/recent-latencies.js';

/** `vetoed`: near enough, but a number, a name or the like differs. `unfit`: nothing a model could compare. */
export type CheckResult = 'clear' | 'loop' | 'vetoed' | 'unfit' | 'failed_open' | 'left';

/**
 * Why a call went on without the check or without what should follow it. The first five are the sidecar's;
 * `modification`: the hint does not fit into the request; `storage` and `pause`: what follows could not be written,
 * or what went before not read.
 */
export type LoopFailure =
  | 'unavailable'
  | 'timeout'
  | 'busy'
  | 'invalid'
  | 'error'
  | 'modification'
  | 'storage'
  | 'pause';

/** What passes by itself, or by bringing the sidecar back; the others are faults. @see seed 000, error handling */
const PASSING: ReadonlySet<LoopFailure> = new Set(['unavailable', 'timeout', 'busy']);

const LATENCY_WINDOW_MS = 5 * MINUTE_MS;
/** Upper bounds; one more bucket has none. */
const LATENCY_BOUNDS_MS = [0.5, 1, 2, 5, 10, 20, 30, 50, 100, 250];

export interface SemanticLoopGauges {
  ladderSessions: () => number;
  ladderEvicted: () => number;
  alertsEvicted: () => number;
  isSidecarReady: () => boolean;
  sidecarRestarts: () => number;
}

export class SemanticLoopEvents {
  /** Who counts all guards that fail open. Must not throw. */
  onFailedOpen: () => void = () => {};
  readonly #logger: Logger;
  readonly #checks: Counter<'result'>;
  readonly #seconds: Histogram;
  readonly #failedOpen: Counter<'reason'>;
  readonly #actions: Counter<'action'>;
  readonly #checkCounts = new Map<CheckResult, number>();
  readonly #failureCounts = new Map<LoopFailure, number>();
  /** When a reason was last logged, and how often it came since. */
  readonly #lines: LinePace<LoopFailure>;
  readonly #latencies: RecentLatencies;
  readonly #latencyCounts: number[] = new Array(LATENCY_BOUNDS_MS.length + 1).fill(0);

  constructor(clock: SteadyClock, logger: Logger, metrics: Registry, gauges: SemanticLoopGauges) {
    const { counter, histogram } = metersOf(metrics);
    this.#lines = new LinePace(clock);
    this.#latencies = new RecentLatencies(clock, LATENCY_WINDOW_MS);
    this.#logger = logger;
    this.#checks = counter(
      'semantic_loop_checks_total',
      'Prompts given to the embedding sidecar, by what came of it.',
      'result',
    );
    this.#seconds = histogram(
      'semantic_loop_check_seconds',
      'Question to the embedding sidecar until its answer, its failure, or the end of patience.',
      LATENCY_BOUNDS_MS.map((ms) => ms / 1_000),
    );
    this.#failedOpen = counter(
      'semantic_loop_fail_open_total',
      'Calls that went on without the check or what should follow it, by reason.',
      'reason',
    );
    this.#actions = counter('semantic_loops_total', 'Semantic loops, by what was done about them.', 'action');
    addGauge(
      metrics,
      'semantic_loop_sessions',
      'Sessions with a semantic loop in memory.',
      gauges.ladderSessions,
    );
    addCounter(
      metrics,
      'semantic_loop_sessions_evicted_total',
      'Of those, forgotten for want of room.',
      gauges.ladderEvicted,
    );
    addCounter(
      metrics,
      'semantic_loop_alerts_evicted_total',
      'Open alerts of semantic loops, forgotten for want of room.',
      gauges.alertsEvicted,
    );
    addGauge(metrics, 'embedding_sidecar_ready', 'The embedding sidecar answers: 1 or 0.', () =>
      Number(gauges.isSidecarReady()),
    );
    addCounter(
      metrics,
      'embedding_sidecar_restarts_total',
      'Times this gateway started its sidecar again.',
      gauges.sidecarRestarts,
    );
  }

  /** @param tookMs null: the sidecar was not asked */
  checked(result: CheckResult, tookMs: number | null): void {
    this.#checks.inc({ result });
    bump(this.#checkCounts, result);
    if (tookMs === null) return;
    this.#seconds.observe(tookMs / 1_000);
    this.#latencies.add(tookMs);
    const at = LATENCY_BOUNDS_MS.findIndex((boundMs) => tookMs <= boundMs);
    const bucket = at === -1 ? LATENCY_BOUNDS_MS.length : at;
    this.#latencyCounts[bucket] = (this.#latencyCounts[bucket] as number) + 1;
  }

  /**
   * Counted each time, logged once a minute per reason.
   *
   * @param error only where its text cannot quote a prompt: of the store, not of the sidecar
   */
  failedOpen(reason: LoopFailure, error?: unknown): void {
    this.#failedOpen.inc({ reason });
    this.onFailedOpen();
    bump(this.#failureCounts, reason);
    const untold_count = this.#lines.untoldAt(reason);
    if (untold_count === null) return;
    this.#logger[PASSING.has(reason) ? 'warn' : 'error'](
      { event: 'fail_open', site: 'semantic_loop', reason, untold_count, err: error },
      'semantic loops: calls go on without the check or what should follow it',
    );
  }

  found(tenantId: string, event: SemanticLoopEvent): void {
    const { agent_id, session_id, call_id, similarity, threshold, occurrence, action } = event;
    this.#actions.inc({ action });
    this.#logger.info(
      {
        event: 'semantic_loop',
        tenant_id: tenantId,
        agent_id,
        session_id,
        call_id,
        similarity,
        threshold,
        occurrence,
        action,
      },
      'semantic loop',
    );
  }

  sidecarChanged(isReady: boolean): void {
    if (isReady) this.#logger.info({ event: 'embedding_sidecar_ready' }, 'the embedding sidecar answers');
    else
      this.#logger.warn(
        { event: 'embedding_sidecar_away' },
        'the embedding sidecar does not answer; calls go on without it',
      );
  }

  /** Of one that somebody else runs, at the start. */
  sidecarAbsent(socketPath: string): void {
    this.#logger.warn(
      { event: 'embedding_sidecar_absent', socket: socketPath },
      'nobody answers at LOOP_EMBEDDING_SIDECAR_UDS; calls go on without it until somebody does',
    );
  }

  view(): Omit<SystemView['semantic_loop'], 'timeout_ms'> {
    const [p50_ms, p99_ms] = this.#latencies.quantiles(0.5, 0.99);
    return {
      checks: Object.fromEntries(this.#checkCounts),
      fail_open: Object.fromEntries(this.#failureCounts),
      p50_ms,
      p99_ms,
      latency: this.#latencyCounts.map((count, at) => ({ below_ms: LATENCY_BOUNDS_MS[at] ?? null, count })),
    };
  }
}

const bump = <K>(counts: Map<K, number>, key: K): void => {
  counts.set(key, (counts.get(key) ?? 0) + 1);
};
