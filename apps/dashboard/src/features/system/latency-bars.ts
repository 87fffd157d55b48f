/** The histogram of checks as bars. Pure. */
import type { SystemView } from '#contracts';

export interface LatencyBar {
  /** Upper bound: "0.5", "50", or "more". */
  label: string;
  /** In words: "up to 50 ms", "over 250 ms". */
  text: string;
  count: number;
  /** Height against the tallest, 0..1. */
  height: number;
  /** All of it lies beyond the timeout: such checks failed open. */
  isPastTimeout: boolean;
}

/** @param buckets ascending, each holding what is above the one before; the last is unbounded */
export function latencyBars(
  buckets: SystemView['semantic_loop']['latency'],
  timeoutMs: number,
): LatencyBar[] {
  const tallest = Math.max(1, ...buckets.map(({ count }) => count));
  let lowerMs = 0;
  return buckets.map(({ below_ms, count }) => {
    const bar = {
      label: below_ms === null ? 'more' : String(below_ms),
      text: below_ms === null ? `over ${lowerMs} ms` : `${lowerMs} to ${below_ms} ms`,
      count,
      height: count / tallest,
      isPastTimeout: lowerMs >= timeoutMs,
    };
    lowerMs = below_ms ?? lowerMs;
    return bar;
  });
}

/** "0.84 ms", "3.2 ms", "48 ms": a check is short, and its tenths matter. */
export function formatCheckMs(ms: number): string {
  if (ms < 1) return `${ms.toFixed(2)} ms`;
  return ms < 10 ? `${ms.toFixed(1)} ms` : `${Math.round(ms)} ms`;
}
