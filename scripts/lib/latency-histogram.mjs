/**
 * Latencies in bounded memory however many there are: buckets that grow by 2 % each, from 1 us to about five hours,
 * so a percentile is at most 2 % off. Counts only; nothing is kept of the single measurement.
 */

const growth = 1.02;
const smallestMs = 0.001;
const bucketCount = 1_200;
const logGrowth = Math.log(growth);

export class LatencyHistogram {
  #counts = new Float64Array(bucketCount);
  count = 0;
  maxMs = 0;

  /** @param {number} ms negative counts as zero */
  record(ms) {
    const bucket = ms <= smallestMs ? 0 : Math.ceil(Math.log(ms / smallestMs) / logGrowth);
    const at = Math.min(bucket, bucketCount - 1);
    this.#counts[at] = (this.#counts[at] ?? 0) + 1;
    this.count++;
    this.maxMs = Math.max(this.maxMs, ms);
  }

  /** What another process measured, to be added up there by `merge`. @returns {{ counts: number[], maxMs: number }} */
  toJSON() {
    return { counts: [...this.#counts], maxMs: this.maxMs };
  }

  /** @param {{ counts: number[], maxMs: number }} other as `toJSON` gives it */
  merge({ counts, maxMs }) {
    for (const [bucket, count] of counts.entries()) {
      this.#counts[bucket] = (this.#counts[bucket] ?? 0) + count;
      this.count += count;
    }
    this.maxMs = Math.max(this.maxMs, maxMs);
  }

  /**
   * @param {number} percentile 0..100
   * @returns {number | null} milliseconds, nearest rank, the bucket's upper edge; null without measurements
   */
  percentileMs(percentile) {
    if (this.count === 0) return null;
    const rank = Math.max(1, Math.ceil((percentile / 100) * this.count));
    let seen = 0;
    for (let bucket = 0; bucket < bucketCount; bucket++) {
      seen += this.#counts[bucket] ?? 0;
      if (seen >= rank) return Math.min(smallestMs * growth ** bucket, this.maxMs);
    }
    return this.maxMs;
  }
}
