/**
 * Whether a live topic still begins where what was read by REST ends. It holds the latest things only, and those that came
 * while the page was connected: after a reset, or a busy hour, it begins later than the history that was read when the page
 * was opened, and what lies between would be missing without a word. The history is read anew then.
 */
import { useEffect } from 'react';

export interface LiveReach {
  /** Of the topic: how often it began from a snapshot; 0 = not yet. */
  startCount: number;
  /** When the oldest and the newest thing were that it holds; null: it holds none. */
  span: { oldestAt: number; newestAt: number } | null;
}

export class HistoryMark {
  #reach: LiveReach = { startCount: 0, span: null };
  /** How far the topic had come when the history was asked for. */
  #read: { startCount: number; newestAt: number | null } = { startCount: 0, newestAt: null };

  /** As the newest page is asked for. */
  noteReading(): void {
    const { startCount, span } = this.#reach;
    this.#read = { startCount, newestAt: span?.newestAt ?? null };
  }

  /** Whether something may be missing between the two. What comes first after a reading that knew of nothing meets it. */
  isTornBy(reach: LiveReach): boolean {
    this.#reach = reach;
    const { startCount, span } = reach;
    if (this.#read.startCount === 0) this.#read.startCount = startCount;
    this.#read.newestAt ??= span?.newestAt ?? null;
    const { newestAt } = this.#read;
    return (
      startCount !== this.#read.startCount || (span !== null && newestAt !== null && span.oldestAt > newestAt)
    );
  }
}

/** @param things in the order of time, either way */
export function spanOf<T>(things: readonly T[] | null, atOf: (thing: T) => number): LiveReach['span'] {
  const first = things?.[0];
  const last = things?.at(-1);
  if (first === undefined || last === undefined) return null;
  const ends = [atOf(first), atOf(last)];
  return { oldestAt: Math.min(...ends), newestAt: Math.max(...ends) };
}

interface History {
  isSuccess: boolean;
  isFetching: boolean;
  refetch: () => unknown;
}

/** As the topic or the history has changed. */
export function readAnewIfTorn(
  mark: HistoryMark,
  reach: LiveReach,
  { isSuccess, isFetching, refetch }: History,
): void {
  if (mark.isTornBy(reach) && isSuccess && !isFetching) void refetch();
}

export function useWholeHistory(mark: HistoryMark, reach: LiveReach, history: History): void {
  // After each render: there is one for each change of the topic, one a frame at most.
  useEffect(() => readAnewIfTorn(mark, reach, history));
}
