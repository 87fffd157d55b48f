/** What happens around alerts, each as one function: log line and metric together. No texts of notices, no targets. */
import type { Logger } from 'pino';
import type { Counter, Registry } from 'prom-client';
import type { AlertDelivery, AlertNotice } from '#contracts';
import { LinePace, type SteadyClock } from '#kernel';
import { addGauge, beginAtZero, metersOf } from '../telemetry/metrics.js';

type StoreWrite = 'delivery' | 'firing' | 'incidents';

export class AlertTelemetry {
  readonly #logger: Logger;
  readonly #notices: Counter<'type' | 'phase'>;
  readonly #attempts: Counter<'kind' | 'outcome'>;
  readonly #finished: Counter<'state'>;
  readonly #circuits: Counter;
  readonly #bounds: Counter<'bound'>;
  readonly #failures: Counter<'what'>;
  readonly #storeLines: LinePace<StoreWrite>;

  /** @param pendingCount deliveries waiting or under way, read when metrics are collected */
  constructor(clock: SteadyClock, logger: Logger, metrics: Registry, pendingCount: () => number) {
    const { counter } = metersOf(metrics);
    this.#logger = logger;
    this.#storeLines = new LinePace(clock);
    this.#notices = counter(
      'alert_notices_total',
      'Notices by type and phase, whether or not a channel carries them.',
      'type',
      'phase',
    );
    this.#attempts = counter(
      'alert_attempts_total',
      'Attempts to deliver, by kind of channel: delivered, failed (tried again), refused (not).',
      'kind',
      'outcome',
    );
    this.#finished = counter(
      'alert_deliveries_finished_total',
      'Deliveries that ended: delivered or dead.',
      'state',
    );
    beginAtZero(this.#finished, 'state', ['delivered', 'dead']);
    this.#circuits = counter(
      'alert_circuits_opened_total',
      'Channels that were given a rest: after failures in a row, or because the receiver asked for one.',
    );
    this.#bounds = counter(
      'alert_bounds_reached_total',
      'Bounds reached: agents or subjects of rules that were forgotten, ticks without time for all, deliveries of a full channel.',
      'bound',
    );
    this.#failures = counter(
      'alert_failures_total',
      'What went wrong inside: documents unusable, writes the store refused, rules that failed.',
      'what',
    );
    addGauge(metrics, 'alert_deliveries_pending', 'Deliveries waiting or under way.', pendingCount);
  }

  noticed({ type, phase, rule_id, tenant_id, agent_id }: AlertNotice): void {
    this.#notices.inc({ type, phase });
    this.#logger.info({ event: 'alert', type, phase, rule_id, tenant_id, agent_id }, 'alert');
  }

  attempted(delivery: AlertDelivery, kind: string, outcome: 'delivered' | 'failed' | 'refused'): void {
    this.#attempts.inc({ kind, outcome });
    if (outcome === 'delivered') return;
    const { delivery_id, channel_id, attempt_count, last_error } = delivery;
    this.#logger.warn(
      { event: 'alert_attempt', delivery_id, channel_id, attempt_count, outcome, reason: last_error },
      'alert not delivered',
    );
  }

  finished({ delivery_id, channel_id, state, attempt_count }: AlertDelivery): void {
    this.#finished.inc({ state });
    const level = state === 'dead' ? 'error' : 'info';
    this.#logger[level](
      { event: 'alert_delivery', delivery_id, channel_id, state, attempt_count },
      'alert delivery ended',
    );
  }

  circuitOpened(channelId: string, retryAtMs: number, isAsked: boolean): void {
    this.#circuits.inc();
    this.#logger.warn(
      { event: 'alert_circuit_open', channel_id: channelId, retry_at_ms: retryAtMs },
      isAsked ? 'alert channel rests as its receiver asked' : 'alert channel rests after failures in a row',
    );
  }

  boundReached(bound: 'agents' | 'subjects' | 'tick' | 'channel_queue' | 'channel_queue_lost'): void {
    this.#bounds.inc({ bound });
  }

  documentUnusable(kind: string, id: string): void {
    this.#failures.inc({ what: 'document' });
    this.#logger.error({ event: 'alert_document_unusable', kind, id }, 'a stored alert document is unusable');
  }

  /** Counted each time, logged once a minute for each: a disk that stays full refuses all that waits every few seconds. */
  storeFailed(what: StoreWrite, error: unknown): void {
    this.#failures.inc({ what });
    const untold_count = this.#storeLines.untoldAt(what);
    if (untold_count === null) return;
    this.#logger.error(
      { event: 'alert_store_failed', what, untold_count, err: error },
      'the store refused what alerts keep',
    );
  }

  ruleFailed(error: unknown): void {
    this.#failures.inc({ what: 'rule' });
    this.#logger.error({ event: 'alert_rule_failed', err: error }, 'alert rules failed on an event');
  }
}
