/**
 * The sidecar's figures for Prometheus. Apart from the rest, so that a sidecar which nobody asks for them, as under a
 * gateway, starts without reading their library: every restart is that much cheaper.
 */
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';

const PREFIX = 'observatory_sidecar_';
const SECONDS = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1];

export class SidecarFigures {
  readonly registry = new Registry();
  readonly checks: Counter<'result' | 'reason'>;
  readonly embeds: Counter<'result' | 'reason'>;
  readonly recordFailures: Counter<'reason'>;
  readonly seconds: Histogram<'part'>;

  constructor() {
    const registers = [this.registry];
    collectDefaultMetrics({ register: this.registry, prefix: PREFIX });
    this.checks = new Counter({
      name: `${PREFIX}checks_total`,
      help: 'Checks by result (loop, clear, vetoed, unfit, failed) and its reason.',
      labelNames: ['result', 'reason'],
      registers,
    });
    this.embeds = new Counter({
      name: `${PREFIX}embeds_total`,
      help: 'Vectors asked for by result (fit, unfit, failed) and its reason.',
      labelNames: ['result', 'reason'],
      registers,
    });
    this.recordFailures = new Counter({
      name: `${PREFIX}record_failures_total`,
      help: 'Prompts that were checked but could not be remembered.',
      labelNames: ['reason'],
      registers,
    });
    this.seconds = new Histogram({
      name: `${PREFIX}seconds`,
      help: 'check: in all. embedding: queue and model. embedding_queue: waiting for the model. lane: for earlier checks of the session. search, record: the store.',
      labelNames: ['part'],
      buckets: SECONDS,
      registers,
    });
  }

  /** A number that is read when metrics are collected. */
  gauge(name: string, help: string, read: () => number): void {
    new Gauge({
      name: `${PREFIX}${name}`,
      help,
      registers: [this.registry],
      collect() {
        this.set(read());
      },
    });
  }

  /** The same for a count since the start. */
  counter(name: string, help: string, read: () => number): void {
    new Counter({
      name: `${PREFIX}${name}`,
      help,
      registers: [this.registry],
      collect() {
        this.reset();
        this.inc(read());
      },
    });
  }
}
