/** Which alert rows the panel shows, and in which order. Pure. @see FR-9.10 */
import { type AlertGroup, isStoppedState, LIMITS, type SessionView } from '#contracts';

/**
 * A row stays while its session loops or is stopped. An alert travels ahead of its session's row, so only a row that
 * is newer than the alert can say that the loop is over.
 *
 * @param isListFull a session without a row may have lost it for want of room, as only one does that loops no more
 */
export function isOpenAlert(
  group: AlertGroup,
  session: SessionView | undefined,
  isListFull: boolean,
): boolean {
  if (!session) return !isListFull;
  if (session.ended) return false;
  if (session.severity === 'loop' || isStoppedState(session.control.state)) return true;
  return session.last_seen_ms <= group.last_at_ms;
}

/** The latest loop first. More alerts move no row. */
export function orderAlerts(
  groups: Iterable<AlertGroup>,
  sessions: ReadonlyMap<string, SessionView>,
): AlertGroup[] {
  const isListFull = sessions.size >= LIMITS.listedSessionsMax;
  return [...groups]
    .filter((group) => isOpenAlert(group, sessions.get(group.session_id), isListFull))
    .sort((a, b) => b.first_at_ms - a.first_at_ms || (a.session_id < b.session_id ? -1 : 1));
}

/**
 * While the pointer is on the panel no row moves or goes: new ones join at the end.
 * @param shownIds session ids on the screen
 */
export function holdAlerts<A extends { session_id: string }>(
  shownIds: readonly string[],
  ordered: readonly A[],
  groups: ReadonlyMap<string, A>,
): A[] {
  const kept = shownIds.flatMap((id) => groups.get(id) ?? []);
  const known = new Set(shownIds);
  return [...kept, ...ordered.filter((group) => !known.has(group.session_id))];
}
