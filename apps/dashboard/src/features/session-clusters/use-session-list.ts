/** From the live map and the address to the lines of the list. */
import { useCallback, useMemo, useState } from 'react';
import type { SessionsData, TopicState } from '../../realtime';
import { listRows } from './list-rows';
import type { ListSearch } from './list-search';
import { filterSessions, orderSessions } from './select-sessions';
import type { ListHold } from './session-list';
import { useShownOrder } from './shown-order';
import { useThrottled } from './use-throttled';

/** Filtering and sorting ten thousand rows takes some milliseconds: not on every frame. */
const ORDER_EVERY_MS = 400;

const NO_SESSIONS: SessionsData = new Map();

interface Frozen {
  data: SessionsData;
  mergedCount: number;
}

export function useSessionList(topic: TopicState<SessionsData>, search: ListSearch) {
  const [frozen, setFrozen] = useState<Frozen | null>(null);
  const [hold, setHold] = useState<ListHold>({ pointer: false, scrolled: false, focused: false });
  const live = topic.data ?? NO_SESSIONS;
  const sessions = frozen?.data ?? live;
  const forOrder = useThrottled(sessions, ORDER_EVERY_MS);
  // The first snapshot is not delayed.
  const ordered = forOrder.size === 0 ? sessions : forOrder;
  const target = useMemo(
    () => orderSessions(filterSessions(ordered.values(), search), search.sort),
    [ordered, search],
  );
  const { order, release, ...waiting } = useShownOrder(
    target,
    hold.pointer || hold.scrolled || hold.focused,
    JSON.stringify(search),
  );
  const rows = useMemo(
    () => listRows(order, sessions, search.group === true),
    [order, sessions, search.group],
  );
  const agentIds = useMemo(
    () => [...new Set([...ordered.values()].map((session) => session.agent_id))].sort(),
    [ordered],
  );
  const onHold = useCallback((change: Partial<ListHold>) => {
    setHold((before) => {
      const isSame = Object.entries(change).every(([key, value]) => before[key as keyof ListHold] === value);
      return isSame ? before : { ...before, ...change };
    });
  }, []);
  return {
    sessions,
    rows,
    agentIds,
    shownCount: target.length,
    waiting,
    release,
    hold,
    onHold,
    isFrozen: frozen !== null,
    waitingUpdateCount: frozen ? topic.mergedCount - frozen.mergedCount : 0,
    setFrozen: (isFrozen: boolean) =>
      setFrozen(isFrozen ? { data: live, mergedCount: topic.mergedCount } : null),
  };
}
