/**
 * What happens in the sidecar, each as one function: metric and log line together. No prompt, no id in a label. A
 * failure that keeps coming back is one line a minute, with the number of those it stands for.
 */
import type { Logger } from 'pino';
import { toSidecarFailure } from '#adapters/grpc';
import {
  EmbeddingFailure,
  type Fitness,
  type LoopAnswer,
  PromptHistoryFailure,
  SidecarFailure,
  type SidecarFailureReason,
} from '#contracts/embedding';
import { LinePace, type SteadyClock } from '#kernel';
import type { CheckObserver } from './check-loop.js';
import type { SidecarFigures } from './sidecar-figures.js';
import { traceOf } from './trace.js';

/** Too much or too late at the moment, or the caller's mistake; all else is for somebody to mend. @see seed 000, error handling */
const WARNINGS: ReadonlySet<string> = new Set<SidecarFailureReason>(['busy', 'timeout', 'invalid']);

type FailureSite = 'check' | 'embed' | 'record' | 'store';

export interface SidecarTotals {
  checks: number;
  loops: number;
  failures: number;
}

export class SidecarTelemetry implements CheckObserver {
  readonly #logger: Logger;
  readonly #figures: SidecarFigures | null;
  /** By site and reason. */
  readonly #lines: LinePace<string>;
  readonly #totals: SidecarTotals = { checks: 0, loops: 0, failures: 0 };

  /** @param figures null: nobody reads them */
  constructor(logger: Logger, clock: SteadyClock, figures: SidecarFigures | null) {
    this.#logger = logger;
    this.#lines = new LinePace(clock);
    this.#figures = figures;
  }

  get totals(): Readonly<SidecarTotals> {
    return this.#totals;
  }

  /** A number that is read when metrics are collected. */
  gauge(name: string, help: string, read: () => number): void {
    this.#figures?.gauge(name, help, read);
  }

  /** The same for a count since the start that is kept elsewhere. */
  counter(name: string, help: string, read: () => number): void {
    this.#figures?.counter(name, help, read);
  }

  checked(answer: LoopAnswer, ms: number, traceParent: string | null): void {
    const { loop_detected, vetoed_by, fitness } = answer;
    const result =
      fitness !== 'fit' ? 'unfit' : loop_detected ? 'loop' : vetoed_by !== null ? 'vetoed' : 'clear';
    const reason = fitness !== 'fit' ? fitness : loop_detected ? '' : (vetoed_by ?? '');
    this.#totals.checks += 1;
    if (loop_detected) this.#totals.loops += 1;
    this.#figures?.checks.inc({ result, reason });
    this.#took('check', ms);
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
    const reason = this.#failed('check', error, traceParent);
    this.#figures?.checks.inc({ result: 'failed', reason });
  }

  embedAnswered(fitness: Fitness): void {
    const isFit = fitness === 'fit';
    this.#figures?.embeds.inc({ result: isFit ? 'fit' : 'unfit', reason: isFit ? '' : fitness });
  }

  embedFailed(error: unknown, traceParent: string | null): void {
    this.#totals.failures += 1;
    const reason = this.#failed('embed', error, traceParent);
    this.#figures?.embeds.inc({ result: 'failed', reason });
  }

  recordFailed(error: unknown): void {
    this.#totals.failures += 1;
    const reason = this.#failed('record', error, null);
    this.#figures?.recordFailures.inc({ reason });
  }

  /** The connection to the store broke, or could not be made. @param reason one of a few words */
  storeTroubled(reason: string): void {
    this.#line('store', reason, {});
  }

  embedded(ms: number): void {
    this.#took('embedding', ms);
  }

  waitedForModel(ms: number): void {
    this.#took('embedding_queue', ms);
  }

  queued(ms: number): void {
    this.#took('lane', ms);
  }

  searched(ms: number): void {
    this.#took('search', ms);
  }

  recorded(ms: number): void {
    this.#took('record', ms);
  }

  /** An event without a prompt, for what happens seldom. */
  said(level: 'info' | 'warn' | 'error', event: string, text: string, fields: object = {}): void {
    this.#logger[level]({ event, ...fields }, text);
  }

  #took(part: string, ms: number): void {
    this.#figures?.seconds.observe({ part }, ms / 1_000);
  }

  /** @returns the reason, for the metric */
  #failed(site: FailureSite, error: unknown, traceParent: string | null): string {
    const { reason, message } = toSidecarFailure(error);
    const where = isForeseen(error) ? {} : { where: framesOf(error) };
    this.#line(site, reason, { detail: message, ...where, ...traceOf(traceParent) });
    return reason;
  }

  #line(site: FailureSite, reason: string, fields: object): void {
    const unsaidCount = this.#lines.untoldAt(`${site} ${reason}`);
    if (unsaidCount === null) return;
    const unsaid = unsaidCount === 0 ? {} : { unsaid_count: unsaidCount };
    this.#logger[WARNINGS.has(reason) ? 'warn' : 'error'](
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
