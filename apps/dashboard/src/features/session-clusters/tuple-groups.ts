/** Which tuples of a window are the same, so that they can be drawn the same. Pure. @see FR-9.2, FR-9.3 */
import type { EntropyTuple } from '#contracts';

export interface TupleMark {
  tuple: EntropyTuple;
  /** How often it occurs in the window. */
  occurrenceCount: number;
  /** 0, 1, ... for tuples that occur more than once, by first occurrence; null for the only one of its kind. */
  repeatIndex: number | null;
  /** Equal to the one before. */
  continuesPrevious: boolean;
}

const keyOf = (tuple: EntropyTuple): string => `${tuple.intent}\0${tuple.tool_call}\0${tuple.action_status}`;

/** One mark per tuple, in the window's order (oldest first). */
export function markTuples(window: readonly EntropyTuple[]): TupleMark[] {
  const counts = new Map<string, number>();
  for (const tuple of window) counts.set(keyOf(tuple), (counts.get(keyOf(tuple)) ?? 0) + 1);
  const repeated = [...counts].filter(([, count]) => count > 1).map(([key]) => key);
  return window.map((tuple, index) => {
    const key = keyOf(tuple);
    const before = window[index - 1];
    const repeatIndex = repeated.indexOf(key);
    return {
      tuple,
      occurrenceCount: counts.get(key) ?? 1,
      repeatIndex: repeatIndex === -1 ? null : repeatIndex,
      continuesPrevious: before !== undefined && keyOf(before) === key,
    };
  });
}
