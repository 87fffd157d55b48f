/** What happens to live connections, each event once: log line and counter together. */
import type { Logger } from 'pino';
import { Counter, Gauge, type Registry } from 'prom-client';
import type { AgentPrincipal, OperatorPrincipal } from '#contracts';
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
    const registers = [registry];
    this.#connections = new Counter({
      name: 'observatory_live_connections_total',
      help: 'Operator sockets accepted.',
      registers,
    });
    this.#cuts = new Counter({
      name: 'observatory_live_cuts_total',
      help: 'Socket.IO connections cut because they read too slowly.',
      registers,
    });
    this.#refused = new Counter({
      name: 'observatory_sockets_refused_total',
      help: 'Sockets refused because their key or operator token holds as many as it may.',
      labelNames: ['namespace'],
      registers,
    });
    this.#partialRefused = new Counter({
      name: 'observatory_socket_messages_refused_total',
      help: 'Socket.IO connections cut, or their bodies refused, for a message before it was whole.',
      labelNames: ['reason'],
      registers,
    });
    this.#strangersCut = new Counter({
      name: 'observatory_socket_strangers_cut_total',
      help: 'Socket.IO connections in no namespace cut because newer ones took their place.',
      registers,
    });
    new Gauge({
      name: 'observatory_live_subscribers',
      help: 'Operator sockets open now.',
      registers,
      collect() {
        this.set(subscriberCount());
      },
    });
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
