/**
 * The list never jumps under the pointer: while it is held, the order on the screen stays, and what would change waits.
 */
import { useCallback, useMemo, useState } from 'react';

export interface WaitingChanges {
  /** Rows that the order on the screen lacks. */
  newCount: number;
  /** The order differs, whether or not there are new rows. */
  isStale: boolean;
}

/** What waits between the order on the screen and the one it would have now. Pure. */
export function waitingChanges(shown: readonly string[], target: readonly string[]): WaitingChanges {
  if (shown === target) return { newCount: 0, isStale: false };
  const known = new Set(shown);
  let newCount = 0;
  for (const id of target) if (!known.has(id)) newCount += 1;
  const isStale = shown.length !== target.length || shown.some((id, index) => id !== target[index]);
  return { newCount, isStale };
}

/**
 * The order on the screen without the sessions that left the list since, for want of room or deleted: one that is held for hours outlives
 * them. Pure.
 */
export function listedOf(
  shown: readonly string[],
  sessions: ReadonlyMap<string, unknown>,
): readonly string[] {
  const listed = shown.filter((id) => sessions.has(id));
  return listed.length === shown.length ? shown : listed;
}

interface ShownOrder {
  waiting: WaitingChanges;
  order: readonly string[];
  /** Takes the waiting changes now. */
  release: () => void;
}

/**
 * @param sessions those that are listed: without any of its own an order has nothing to hold
 * @param isHeld somebody points at the list, has scrolled it or focused a row
 * @param resetKey a change (other filters) takes the new order at once, held or not
 */
export function useShownOrder(
  target: readonly string[],
  sessions: ReadonlyMap<string, unknown>,
  isHeld: boolean,
  resetKey: string,
): ShownOrder {
  const [shown, setShown] = useState({ order: target, resetKey });
  const takesNow = !isHeld || shown.resetKey !== resetKey || !shown.order.some((id) => sessions.has(id));
  if (takesNow && (shown.order !== target || shown.resetKey !== resetKey)) {
    setShown({ order: target, resetKey });
  }
  const held = takesNow ? target : shown.order;
  const order = useMemo(() => listedOf(held, sessions), [held, sessions]);
  const waiting = useMemo(() => waitingChanges(order, target), [order, target]);
  const release = useCallback(() => setShown({ order: target, resetKey }), [target, resetKey]);
  return { order, waiting, release };
}
