/** How long something took lately, for percentiles that people look at; Prometheus has histograms of its own. */
import { RingBuffer, type SteadyClock } from '#kernel';
import { quantiles } from './quantiles.js';

/** The latest; under load they cover less than the window. */
const SAMPLES_MAX = 4_096;

interface Sample {
  atMs: number;
  tookMs: number;
}

export class RecentLatencies {
  readonly #samples = new RingBuffer<Sample>(SAMPLES_MAX);
  readonly #clock: SteadyClock;
  readonly #windowMs: number;

  /** @param windowMs what is older does not count */
  constructor(clock: SteadyClock, windowMs: number) {
    this.#clock = clock;
    this.#windowMs = windowMs;
  }

  add(tookMs: number): void {
    this.#samples.push({ atMs: this.#clock.steadyMs(), tookMs });
  }

  /** Milliseconds, of each share (0..1) of the samples the longest; null where there was none lately. */
  quantiles<Shares extends readonly number[]>(...shares: Shares): { [at in keyof Shares]: number | null } {
    const fromMs = this.#clock.steadyMs() - this.#windowMs;
    const recent: number[] = [];
    for (const { atMs, tookMs } of this.#samples) if (atMs >= fromMs) recent.push(tookMs);
    return quantiles(recent, ...shares);
  }
}
