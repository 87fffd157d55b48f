/** From the live map and the address to the lines of the list. */
import { useCallback, useMemo, useRef, useState } from 'react';
import { useLoopsNow } from '../../app/looping';
import type { LoopsNow } from '../../app/loops-now';
import { type SessionsData, type TopicState, useTopic } from '../../realtime';
import { useThrottled } from '../../ui';
import { listRows } from './list-rows';
import type { ListSearch } from './list-search';
import type { Policies } from './rest';
import { countLeftOut, filterSessions, keepIfEqual, orderSessions } from './select-sessions';
import type { ListHold } from './session-list';
import { useShownOrder } from './shown-order';
import { usePolicies } from './use-policies';

/** Filtering and sorting thousands of rows takes some milliseconds: not on every frame. */
const ORDER_EVERY_MS = 400;
const ORDER_MANY_EVERY_MS = 1_000;
const MANY_COUNT = 2_000;

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
  const forOrder = useThrottled(sessions, sessions.size > MANY_COUNT ? ORDER_MANY_EVERY_MS : ORDER_EVERY_MS);
  // The first snapshot is not delayed.
  const ordered = forOrder.size === 0 ? sessions : forOrder;
  const livePolicies = usePolicies();
  const policiesForOrder = useThrottled(livePolicies, ORDER_MANY_EVERY_MS);
  const policies = policiesForOrder.agents.size === 0 ? livePolicies : policiesForOrder;
  const liveLoops = useLoopsNow();
  const loopsForOrder = useThrottled(liveLoops, ORDER_MANY_EVERY_MS);
  const loops = loopsForOrder.size === 0 ? liveLoops : loopsForOrder;
  const target = useTargetOrder(ordered, search, policies, loops);
  const { order, release, waiting } = useShownOrder(
    target,
    ordered,
    hold.pointer || hold.scrolled || hold.focused,
    JSON.stringify(search),
  );
  // Only grouping looks at the sessions themselves.
  const grouped = search.group ? ordered : null;
  const rows = useMemo(() => listRows(order, grouped, loops), [order, grouped, loops]);
  const agentIds = useAgentIds(ordered);
  const liveCount = useTopic('gateway:stats').data?.at(-1)?.live_session_count ?? 0;
  const leftOutCount = useMemo(() => countLeftOut(ordered, liveCount), [ordered, liveCount]);
  const latest = useRef(topic);
  latest.current = topic;
  const latestTarget = useRef(target);
  latestTarget.current = target;
  const listed = useCallback(
    () => latestTarget.current.flatMap((key) => latest.current.data?.get(key) ?? []),
    [],
  );
  const freeze = useCallback((isFrozen: boolean) => {
    const { data, mergedCount } = latest.current;
    setFrozen(isFrozen && data ? { data, mergedCount } : null);
  }, []);
  const onHold = useCallback((change: Partial<ListHold>) => {
    setHold((before) => {
      const isSame = Object.entries(change).every(([key, value]) => before[key as keyof ListHold] === value);
      return isSame ? before : { ...before, ...change };
    });
  }, []);
  return {
    sessions,
    policies,
    loops,
    rows,
    agentIds,
    /** Those that match, as they are now, also while the list is frozen. */
    listed,
    shownCount: target.length,
    /** Of the same moment: nothing is left out where nothing is filtered. */
    totalCount: ordered.size,
    leftOutCount,
    waiting,
    release,
    hold,
    onHold,
    isFrozen: frozen !== null,
    waitingUpdateCount: frozen ? topic.mergedCount - frozen.mergedCount : 0,
    setFrozen: freeze,
  };
}

/** Every agent in the list, sorted; the same array as long as they are the same. */
function useAgentIds(sessions: SessionsData): readonly string[] {
  const before = useRef<readonly string[]>([]);
  return useMemo(() => {
    const ids = new Set<string>();
    for (const session of sessions.values()) ids.add(session.agent_id);
    before.current = keepIfEqual(before.current, [...ids].sort());
    return before.current;
  }, [sessions]);
}

/** The same array as long as the order is the same. */
function useTargetOrder(
  sessions: SessionsData,
  search: ListSearch,
  policies: Policies,
  loops: LoopsNow,
): readonly string[] {
  const before = useRef<readonly string[]>([]);
  return useMemo(() => {
    const now = orderSessions(
      filterSessions(sessions.values(), search, policies),
      search.sort,
      policies,
      loops,
    );
    before.current = keepIfEqual(before.current, now);
    return before.current;
  }, [sessions, search, policies, loops]);
}
