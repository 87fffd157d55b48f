/** Calls that match a filter: those of the live topic over those read page by page, newest first. */
import { useMemo, useState } from 'react';
import type { LlmCall, Page } from '#contracts';
import { api } from '../../api';
import { type ListShape, type LiveList, splitNewer, useLiveList, useTopic } from '../../realtime';
import { type CallFilter, callMatcher, callQuery } from './calls-search';
import { readOn } from './read-on';

const PAGE_ROWS = 100;

/** The order in which calls arrive on the topic: as they end. */
export const endedAtMs = (call: LlmCall): number => call.started_at_ms + call.duration_ms;
const SHAPE: ListShape<LlmCall> = { idOf: (call) => call.call_id, atOf: endedAtMs };

export interface Calls extends Omit<LiveList<LlmCall>, 'items' | 'isPending'> {
  calls: readonly LlmCall[];
  /** Neither source has answered yet. */
  isLoading: boolean;
}

export function useCalls(filter: CallFilter): Calls {
  const topic = useTopic('gateway:calls');
  // One text per filter: a new object with the same members must not filter everything again.
  const filterKey = JSON.stringify(callQuery(filter));
  // biome-ignore lint/correctness/useExhaustiveDependencies: filterKey stands for filter.
  const live = useMemo(() => (topic.data ?? []).filter(callMatcher(filter)), [topic.data, filterKey]);
  const {
    items: calls,
    isPending,
    ...list
  } = useLiveList({
    topic,
    live,
    shape: SHAPE,
    queryKey: ['calls', callQuery(filter)],
    // Another filter ends it, however many pieces it would still read.
    readPage: (from, signal) =>
      readOn(
        (cursor) =>
          api.get<Page<LlmCall>>('/v1/calls', { ...callQuery(filter), limit: PAGE_ROWS, cursor }, signal),
        from,
        signal,
      ),
  });
  return { calls, isLoading: calls.length === 0 && isPending, ...list };
}

/** While held, calls that end wait. @param resetKey a change (another filter) shows the present, held or not */
export function useHeldCalls(calls: readonly LlmCall[], isHeld: boolean, resetKey: string) {
  const newestAt = calls[0] ? endedAtMs(calls[0]) : 0;
  const [held, setHeld] = useState({ at: newestAt, resetKey });
  const takesNow = !isHeld || held.resetKey !== resetKey || held.at === 0;
  if (takesNow && (held.at !== newestAt || held.resetKey !== resetKey)) setHeld({ at: newestAt, resetKey });
  const { shown, waitingCount } = useMemo(
    () => splitNewer(calls, takesNow ? newestAt : held.at, endedAtMs),
    [calls, takesNow, newestAt, held.at],
  );
  return { shown, waitingCount, release: () => setHeld({ at: newestAt, resetKey }) };
}
