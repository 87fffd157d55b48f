/** How long something took lately, for percentiles that people look at; Prometheus has histograms of its own. */
import type { SteadyClock } from '#kernel';
import { quantiles } from './quantiles.js';

/** The latest; under load they cover less than the window. */
const SAMPLES_MAX = 4_096;

/** A ring in two columns: an object for each would be garbage that has grown old. */
export class RecentLatencies {
  readonly #atMs = new Float64Array(SAMPLES_MAX).fill(Number.NEGATIVE_INFINITY);
  readonly #tookMs = new Float64Array(SAMPLES_MAX);
  /** Where the next one goes. */
  #place = 0;
  readonly #clock: SteadyClock;
  readonly #windowMs: number;

  /** @param windowMs what is older does not count */
  constructor(clock: SteadyClock, windowMs: number) {
    this.#clock = clock;
    this.#windowMs = windowMs;
  }

  add(tookMs: number): void {
    this.#atMs[this.#place] = this.#clock.steadyMs();
    this.#tookMs[this.#place] = tookMs;
    this.#place = (this.#place + 1) % SAMPLES_MAX;
  }

  /** Milliseconds, of each share (0..1) of the samples the longest; null where there was none lately. */
  quantiles<Shares extends readonly number[]>(...shares: Shares): { [at in keyof Shares]: number | null } {
    const fromMs = this.#clock.steadyMs() - this.#windowMs;
    const recent = this.#tookMs.filter((_, place) => (this.#atMs[place] as number) >= fromMs);
    return quantiles([...recent], ...shares);
  }
}
