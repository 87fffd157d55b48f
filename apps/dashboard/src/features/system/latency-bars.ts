/** The histogram of checks as bars. Pure. */
import type { SystemView } from '#contracts';
import { formatDuration } from '../../ui/format';

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

/** From this share of the timeout on, the slowest checks are near it. */
const NEAR_SHARE = 0.8;

export const isNearTimeout = (p99Ms: number | null, timeoutMs: number): p99Ms is number =>
  p99Ms !== null && p99Ms > timeoutMs * NEAR_SHARE;

/** What becomes of slow checks, and whether there are some. */
export function timeoutText(p99Ms: number | null, timeoutMs: number): string {
  const timeout = formatDuration(timeoutMs);
  if (!isNearTimeout(p99Ms, timeoutMs))
    return `A check that takes longer than ${timeout} is given up, and its call goes on unchecked.`;
  const how = p99Ms > timeoutMs ? 'take longer than' : 'come close to';
  return `The slowest checks ${how} the ${timeout} they may take: beyond it a call goes on unchecked.`;
}
