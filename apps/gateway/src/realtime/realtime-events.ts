/** What happens to live connections, each event once: log line and counter together. */
import type { Logger } from 'pino';
import type { Counter, Registry } from 'prom-client';
import type { AgentPrincipal, OperatorPrincipal } from '#contracts';
import { addGauge, metersOf } from '../telemetry/metrics.js';
import type { LiveSocketsEvents } from './live-sockets.js';

export class RealtimeEvents implements LiveSocketsEvents {
  readonly #connections: Counter;
  readonly #cuts: Counter;
  readonly #refused: Counter;
  readonly #partialRefused: Counter;
  readonly #strangersCut: Counter;

  constructor(
    private readonly logger: Logger,
    registry: Registry,
    subscriberCount: () => number,
  ) {
    const { counter } = metersOf(registry);
    this.#connections = counter('live_connections_total', 'Operator sockets accepted.');
    this.#cuts = counter('live_cuts_total', 'Socket.IO connections cut because they read too slowly.');
    this.#refused = counter(
      'sockets_refused_total',
      'Sockets refused because their key or operator token holds as many as it may.',
      'namespace',
    );
    this.#partialRefused = counter(
      'socket_messages_refused_total',
      'Socket.IO connections cut, or their bodies refused, for a message before it was whole.',
      'reason',
    );
    this.#strangersCut = counter(
      'socket_strangers_cut_total',
      'Socket.IO connections in no namespace cut because newer ones took their place.',
    );
    addGauge(registry, 'live_subscribers', 'Operator sockets open now.', subscriberCount);
  }

  connected(): void {
    this.#connections.inc();
  }

  refusedForCount(namespace: string): void {
    this.#refused.inc({ namespace });
  }

  messageRefused(reason: string): void {
    this.#partialRefused.inc({ reason });
  }

  strangerCut(): void {
    this.#strangersCut.inc();
  }

  /** @param principal undefined: no namespace had let it in */
  cutForSlowness(principal: AgentPrincipal | OperatorPrincipal | undefined, pendingBytes: number): void {
    this.#cuts.inc();
    const who =
      principal?.kind === 'agent' ? { key_id: principal.key_id } : { operator_id: principal?.operator_id };
    this.logger.warn({ event: 'consumer_too_slow', ...who, pending_bytes: pendingBytes }, 'slow reader cut');
  }

  subscribeFailed(error: unknown): void {
    this.logger.error({ event: 'subscribe_failed', err: error }, 'a subscription failed');
  }
}
