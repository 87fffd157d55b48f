/** The few numbers a bench needs of many; all pure. */

/**
 * @param {number[]} values in any order
 * @param {number} percent 0..100
 * @returns {number} nearest rank; NaN for no values
 */
export function percentile(values, percent) {
  const sorted = [...values].sort((one, other) => one - other);
  return sorted[Math.max(0, Math.ceil((percent / 100) * sorted.length) - 1)] ?? Number.NaN;
}

/** @param {number[]} values @returns {number} mean of the middle two for an even count; NaN for no values */
export function median(values) {
  const sorted = [...values].sort((one, other) => one - other);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2;
}

/**
 * Median of the ratios of neighbouring windows: what slows the machine down for a while slows both of a pair.
 *
 * @param {number[]} values
 * @param {number[]} references `references[n]` was measured next to `values[n]`
 */
export function medianRatio(values, references) {
  return median(values.map((value, at) => value / (references[at] ?? Number.NaN)));
}

/** @param {number} value @returns {string} 12,345 or 12.3 or 0.71 */
export function formatNumber(value) {
  if (!Number.isFinite(value)) return '-';
  const digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2;
  return value.toLocaleString('en-US', { maximumFractionDigits: digits, minimumFractionDigits: digits });
}

/** @param {number} bytes */
export const formatMegabytes = (bytes) => `${(bytes / 1024 ** 2).toFixed(1)} MB`;
