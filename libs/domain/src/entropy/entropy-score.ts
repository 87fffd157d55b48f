/**
 * The arithmetic of entropy, free of state: rounding, severity, most frequent tuple.
 *
 * @see FR-9.3 to FR-9.6
 */
import type { EntropyTuple, Severity } from '#contracts';

/** Exact equality of all three parts, no similarity of any kind. @see FR-9.3 */
export const isSameTuple = (one: EntropyTuple, other: EntropyTuple): boolean =>
  one.action_status === other.action_status &&
  one.tool_call === other.tool_call &&
  one.intent === other.intent;

/** To 4 decimals. @see FR-9.3 */
export const roundScore = (ratio: number): number => Math.round(ratio * 10_000) / 10_000;

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
