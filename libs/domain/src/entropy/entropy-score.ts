/**
 * The arithmetic of entropy, free of state: uniqueness ratio, severity, most frequent tuple. The tracker keeps
 * the same figures incrementally; these are the definition it is tested against, and serve readers that hold
 * a window as a plain list.
 *
 * @see FR-9.3 to FR-9.6
 */
import type { EntropyTuple, Severity } from '#contracts';

export interface EntropyScore {
  /** `unique_count / window_size`, rounded to 4 decimals: what goes out. 1 for an empty window. */
  score: number;
  /** The same, unrounded: what severity is decided on. */
  ratio: number;
  unique_count: number;
  window_size: number;
}

/** Exact equality of all three parts, no similarity of any kind. @see FR-9.3 */
export const isSameTuple = (one: EntropyTuple, other: EntropyTuple): boolean =>
  one.action_status === other.action_status &&
  one.tool_call === other.tool_call &&
  one.intent === other.intent;

/** To 4 decimals. @see FR-9.3 */
export const roundScore = (ratio: number): number => Math.round(ratio * 10_000) / 10_000;

/** Over the tuples there are, also when fewer than a full window. O(n^2) in the window's size. @see FR-9.2 */
export function scoreWindow(tuples: readonly EntropyTuple[]): EntropyScore {
  const window_size = tuples.length;
  if (window_size === 0) return { score: 1, ratio: 1, unique_count: 0, window_size };
  const isFirst = (tuple: EntropyTuple, index: number) =>
    tuples.findIndex((other) => isSameTuple(other, tuple)) === index;
  const unique_count = tuples.filter(isFirst).length;
  const ratio = unique_count / window_size;
  return { score: roundScore(ratio), ratio, unique_count, window_size };
}

/**
 * Strict comparisons, so a score equal to a threshold belongs to the milder side.
 *
 * @param ratio unrounded: 2/3 is below a threshold of 0.6667, although it is shown as 0.6667. A threshold someone
 *   writes is compared with what was counted, not with how it is printed.
 * @param loopWhenScoreBelow wins over the other where the two are set the wrong way round
 * @see FR-9.4 FR-9.5 FR-9.6
 */
export function decideSeverity(
  ratio: number,
  loopWhenScoreBelow: number,
  warningWhenScoreBelow: number,
): Severity {
  if (ratio < loopWhenScoreBelow) return 'loop';
  return ratio < warningWhenScoreBelow ? 'warning' : 'normal';
}

export interface RepeatedTuple {
  tuple: EntropyTuple;
  /** Times it occurs in the window. */
  count: number;
}

/**
 * The tuple that occurs most often; of equally frequent ones the most recently seen.
 *
 * @param tuples oldest first
 * @returns undefined for an empty window
 * @see FR-9.7
 */
export function mostFrequent(tuples: readonly EntropyTuple[]): RepeatedTuple | undefined {
  /** Most recently seen first. Of long windows that hardly vary few are compared with each other. */
  const distinct: RepeatedTuple[] = [];
  for (const tuple of tuples.toReversed()) {
    const known = distinct.find((one) => isSameTuple(one.tuple, tuple));
    if (known) known.count += 1;
    else distinct.push({ tuple, count: 1 });
  }
  const count = Math.max(...distinct.map((one) => one.count));
  return distinct.find((one) => one.count === count);
}
