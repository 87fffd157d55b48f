/** What happens on the ingest path, each event once: log line and counter together. No prompts, no ids in labels. */

import type { Logger } from 'pino';
import { Counter, type Histogram, type Registry } from 'prom-client';
import {
  type EntropyAlertEvent,
  REJECTED_REASONS,
  type RejectedAnswer,
  SEVERITIES,
  type Severity,
} from '#contracts';
import { MINUTE_MS, type SteadyClock } from '#kernel';
import { addGauge, beginAtZero, METRIC_PREFIX, metersOf } from '../telemetry/metrics.js';
import { RecentLatencies } from '../telemetry/recent-latencies.js';

/** What the dashboard's percentiles cover. */
const LATENCY_WINDOW_MS = 10_000;
/** Between two lines about alerts that gave way. */
const GAVE_WAY_TOLD_EVERY_MS = MINUTE_MS;
/** Versions known of one tenant's agents; beyond it all are forgotten and may be told of again. */
const VERSION_COUNT_MAX = 10_000;

export class IngestEvents {
  readonly #violations: Counter;
  readonly #rejected: Counter<'reason'>;
  readonly #duplicates: Counter;
  readonly #alerts: Counter;
  readonly #alertsGaveWay: Counter;
  readonly #refused: Counter<'reason'>;
  readonly #evicted: Counter<'reason'>;
  readonly #sessionsLeft: Counter;
  readonly #storeFailures: Counter<'what'>;
  readonly #seconds: Histogram;
  readonly #latencies: RecentLatencies;
  /** Since the metrics were read last: a look among labels for every message is more than counting takes. */
  readonly #accepted: Record<Severity, number> = { normal: 0, warning: 0, loop: 0 };
  readonly #versions = new Map<string, { count: number; byType: Map<string, Set<string>> }>();
  #gaveWayCount = 0;
  #gaveWayToldMs = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly clock: SteadyClock,
    private readonly logger: Logger,
    registry: Registry,
    gauges: { liveSessions: () => number; windows: () => number; storeQueue: () => number },
  ) {
    this.#latencies = new RecentLatencies(clock, LATENCY_WINDOW_MS);
    const { counter, histogram } = metersOf(registry);
    const accepted = this.#accepted;
    new Counter({
      name: `${METRIC_PREFIX}decision_logs_accepted_total`,
      help: 'DecisionLogs stored, by entropy severity.',
      labelNames: ['severity'],
      registers: [registry],
      collect() {
        for (const severity of SEVERITIES) {
          if (accepted[severity] > 0) this.inc({ severity }, accepted[severity]);
          accepted[severity] = 0;
        }
      },
    });
    this.#violations = counter('schema_violations_total', 'Messages that did not fit the schema.');
    this.#rejected = counter(
      'decision_logs_rejected_total',
      'Messages rejected for what they say, whether or not others of their request were taken, by reason.',
      'reason',
    );
    beginAtZero(this.#rejected, 'reason', REJECTED_REASONS);
    this.#duplicates = counter('decision_logs_duplicate_total', 'Steps sent again and counted once.');
    this.#alerts = counter('entropy_alerts_total', 'Entropy alerts raised.');
    this.#alertsGaveWay = counter(
      'entropy_alerts_gave_way_total',
      'Open entropy alerts that left the panel because it was full; they stay in the history.',
    );
    this.#refused = counter('ingest_refused_total', 'Ingest requests refused whole, by reason.', 'reason');
    this.#evicted = counter('entropy_windows_evicted_total', 'Entropy windows evicted by a bound.', 'reason');
    this.#sessionsLeft = counter(
      'agent_socket_sessions_left_total',
      'Sessions whose control an agent socket hears of no longer, since it speaks for as many as it may.',
    );
    this.#storeFailures = counter(
      'store_failures_total',
      'Writes beside the ingest answer that failed.',
      'what',
    );
    this.#seconds = histogram(
      'ingest_seconds',
      'Body read to answer ready, stored included.',
      [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5],
    );
    const gauge = (name: string, help: string, read: () => number) => addGauge(registry, name, help, read);
    gauge('sessions_live', 'Sessions held in memory.', gauges.liveSessions);
    gauge('entropy_windows', 'Entropy windows held in memory.', gauges.windows);
    gauge('store_queue', 'Writes accepted and not yet committed.', gauges.storeQueue);
  }

  accepted(severity: Severity): void {
    this.#accepted[severity] += 1;
  }

  duplicate(): void {
    this.#duplicates.inc();
  }

  rejected(reason: RejectedAnswer['reason']): void {
    this.#rejected.inc({ reason });
  }

  violated(reason: string, agentId: string): void {
    this.#violations.inc();
    this.logger.info(
      { event: 'schema_violation', agent_id: agentId, reason },
      'message refused by the schema',
    );
  }

  entropyFailed(sessionId: string, error: string): void {
    this.logger.warn(
      { event: 'schema_violation', session_id: sessionId, reason: error },
      'entropy could not be computed; the reported score is kept',
    );
  }

  alertRaised(event: EntropyAlertEvent): void {
    this.#alerts.inc();
    this.logger.info(
      {
        event: 'entropy_alert',
        session_id: event.session_id,
        agent_id: event.agent_id,
        score: event.entropy_score,
        count: event.occurrence_count,
      },
      'entropy loop',
    );
  }

  /** The board is full: an alert of the tenant with most is in its history, but no longer on its panel. */
  alertGaveWay(openCountMax: number): void {
    this.#alertsGaveWay.inc();
    this.#gaveWayCount += 1;
    const nowMs = this.clock.steadyMs();
    if (nowMs - this.#gaveWayToldMs < GAVE_WAY_TOLD_EVERY_MS) return;
    this.#gaveWayToldMs = nowMs;
    this.logger.warn(
      { event: 'entropy_alert_gave_way', count: this.#gaveWayCount, open_count_max: openCountMax },
      'more entropy alerts are open than there is room for; those of the tenant that has most give way',
    );
  }

  /**
   * A line in the log where this process sees the agent type's version for the first time in this tenant. Not in the answer:
   * the step may be sent again, and is then answered as the first time.
   */
  versionSeen(tenantId: string, agentType: string, version: string): void {
    // Of texts that came, no new one is made to look them up: this is asked of every message.
    if (this.#versions.get(tenantId)?.byType.get(agentType)?.has(version)) return;
    this.#noteVersion(tenantId, agentType, version);
    this.logger.warn(
      { event: 'capability_version_unknown', agent_type: agentType, capability_version: version },
      'capability version seen for the first time',
    );
  }

  #noteVersion(tenantId: string, agentType: string, version: string): void {
    let known = this.#versions.get(tenantId);
    // A sender that makes up versions must not grow memory: forget and start over.
    if (known === undefined || known.count >= VERSION_COUNT_MAX) known = { count: 0, byType: new Map() };
    this.#versions.set(tenantId, known);
    const ofType = known.byType.get(agentType) ?? new Set();
    known.byType.set(agentType, ofType.add(version));
    known.count += 1;
  }

  sessionLeft(): void {
    this.#sessionsLeft.inc();
  }

  refused(reason: string): void {
    this.#refused.inc({ reason });
  }

  windowEvicted(reason: string): void {
    this.#evicted.inc({ reason });
  }

  storeFailed(what: string, error: unknown): void {
    this.#storeFailures.inc({ what });
    this.logger.error(
      { event: 'store_failed', what, err: error },
      'the store failed beside the ingest answer',
    );
  }

  warn(message: string): void {
    this.logger.warn({ event: 'ingest_warning' }, message);
  }

  answered(tookMs: number): void {
    this.#seconds.observe(tookMs / 1000);
    this.#latencies.add(tookMs);
  }

  /** p50 and p95 of the last 10 s, milliseconds; null without traffic. */
  latency(): { p50: number | null; p95: number | null } {
    const [p50, p95] = this.#latencies.quantiles(0.5, 0.95);
    return { p50, p95 };
  }
}
