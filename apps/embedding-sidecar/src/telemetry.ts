/**
 * What happens in the sidecar, each as one function: metric and log line together. No prompt, no id in a label. A
 * failure that keeps coming back is one line a minute, with the number of those it stands for.
 */
import type { Logger } from 'pino';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { toSidecarFailure } from '#adapters/grpc';
import {
  EmbeddingFailure,
  type Fitness,
  type LoopAnswer,
  PromptHistoryFailure,
  SidecarFailure,
} from '#contracts';
import type { Clock } from '#kernel';
import type { CheckObserver } from './check-loop.js';
import { traceOf } from './trace.js';

const PREFIX = 'observatory_sidecar_';
const SECONDS = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1];
const LINE_EVERY_MS = 60_000;

type FailureSite = 'check' | 'embed' | 'record' | 'store';

interface FailureLine {
  saidAtMs: number;
  unsaidCount: number;
}

export interface SidecarTotals {
  checks: number;
  loops: number;
  failures: number;
}

export class SidecarTelemetry implements CheckObserver {
  readonly metrics = new Registry();
  readonly #logger: Logger;
  readonly #clock: Clock;
  readonly #checks: Counter<'result' | 'reason'>;
  readonly #embeds: Counter<'result' | 'reason'>;
  readonly #recordFailures: Counter<'reason'>;
  readonly #seconds: Histogram<'part'>;
  readonly #lines = new Map<string, FailureLine>();
  readonly #totals: SidecarTotals = { checks: 0, loops: 0, failures: 0 };

  constructor(logger: Logger, clock: Clock) {
    const registers = [this.metrics];
    this.#logger = logger;
    this.#clock = clock;
    collectDefaultMetrics({ register: this.metrics, prefix: PREFIX });
    this.#checks = new Counter({
      name: `${PREFIX}checks_total`,
      help: 'Checks by result (loop, clear, vetoed, unfit, failed) and its reason.',
      labelNames: ['result', 'reason'],
      registers,
    });
    this.#embeds = new Counter({
      name: `${PREFIX}embeds_total`,
      help: 'Vectors asked for by result (fit, unfit, failed) and its reason.',
      labelNames: ['result', 'reason'],
      registers,
    });
    this.#recordFailures = new Counter({
      name: `${PREFIX}record_failures_total`,
      help: 'Prompts that were checked but could not be remembered.',
      labelNames: ['reason'],
      registers,
    });
    this.#seconds = new Histogram({
      name: `${PREFIX}seconds`,
      help: 'check: in all. embedding: queue and model. embedding_queue: waiting for the model. lane: for earlier checks of the session. search, record: the store.',
      labelNames: ['part'],
      buckets: SECONDS,
      registers,
    });
  }

  get totals(): Readonly<SidecarTotals> {
    return this.#totals;
  }

  /** A number that is read when metrics are collected. */
  gauge(name: string, help: string, read: () => number): void {
    new Gauge({
      name: `${PREFIX}${name}`,
      help,
      registers: [this.metrics],
      collect() {
        this.set(read());
      },
    });
  }

  checked(answer: LoopAnswer, ms: number, traceParent: string | null): void {
    const { loop_detected, vetoed_by, fitness } = answer;
    const result =
      fitness !== 'fit' ? 'unfit' : loop_detected ? 'loop' : vetoed_by !== null ? 'vetoed' : 'clear';
    const reason = fitness !== 'fit' ? fitness : loop_detected ? '' : (vetoed_by ?? '');
    this.#totals.checks += 1;
    if (loop_detected) this.#totals.loops += 1;
    this.#checks.inc({ result, reason });
    this.#seconds.observe({ part: 'check' }, ms / 1_000);
    if (!this.#logger.isLevelEnabled('debug')) return;
    const { max_similarity, compared_count } = answer;
    this.#logger.debug(
      { event: 'check', result, reason, max_similarity, compared_count, ms, ...traceOf(traceParent) },
      'checked',
    );
  }

  checkFailed(error: unknown, traceParent: string | null): void {
    this.#totals.checks += 1;
    this.#totals.failures += 1;
    this.#checks.inc({ result: 'failed', reason: this.#failed('check', error, traceParent) });
  }

  embedAnswered(fitness: Fitness): void {
    const isFit = fitness === 'fit';
    this.#embeds.inc({ result: isFit ? 'fit' : 'unfit', reason: isFit ? '' : fitness });
  }

  embedFailed(error: unknown, traceParent: string | null): void {
    this.#totals.failures += 1;
    this.#embeds.inc({ result: 'failed', reason: this.#failed('embed', error, traceParent) });
  }

  recordFailed(error: unknown): void {
    this.#totals.failures += 1;
    this.#recordFailures.inc({ reason: this.#failed('record', error, null) });
  }

  /** The connection to the store broke, or could not be made. @param reason one of a few words */
  storeTroubled(reason: string): void {
    this.#line('store', reason, {});
  }

  embedded(ms: number): void {
    this.#seconds.observe({ part: 'embedding' }, ms / 1_000);
  }

  waitedForModel(ms: number): void {
    this.#seconds.observe({ part: 'embedding_queue' }, ms / 1_000);
  }

  queued(ms: number): void {
    this.#seconds.observe({ part: 'lane' }, ms / 1_000);
  }

  searched(ms: number): void {
    this.#seconds.observe({ part: 'search' }, ms / 1_000);
  }

  recorded(ms: number): void {
    this.#seconds.observe({ part: 'record' }, ms / 1_000);
  }

  /** An event without a prompt, for what happens seldom. */
  said(level: 'info' | 'warn' | 'error', event: string, text: string, fields: object = {}): void {
    this.#logger[level]({ event, ...fields }, text);
  }

  /** @returns the reason, for the metric */
  #failed(site: FailureSite, error: unknown, traceParent: string | null): string {
    const { reason, message } = toSidecarFailure(error);
    const where = isForeseen(error) ? {} : { where: framesOf(error) };
    this.#line(site, reason, { detail: message, ...where, ...traceOf(traceParent) });
    return reason;
  }

  #line(site: FailureSite, reason: string, fields: object): void {
    const nowMs = this.#clock.nowMs();
    const key = `${site} ${reason}`;
    const line = this.#lines.get(key);
    if (line !== undefined && Math.abs(nowMs - line.saidAtMs) < LINE_EVERY_MS) {
      line.unsaidCount += 1;
      return;
    }
    this.#lines.set(key, { saidAtMs: nowMs, unsaidCount: 0 });
    const unsaid = line === undefined ? {} : { unsaid_count: line.unsaidCount };
    this.#logger.warn(
      { event: `${site}_failed`, reason, ...unsaid, ...fields },
      `${site} failed; at most one such line a minute`,
    );
  }
}

const isForeseen = (error: unknown): boolean =>
  error instanceof SidecarFailure ||
  error instanceof EmbeddingFailure ||
  error instanceof PromptHistoryFailure;

/** Name and places; the text of an error nobody foresaw might quote a prompt. */
function framesOf(error: unknown): string[] {
  if (!(error instanceof Error)) return [typeof error];
  const frames = (error.stack ?? '').split('\n').filter((line) => /^ +at /.test(line));
  return [error.name, ...frames.map((line) => line.trim()).slice(0, 10)];
}
