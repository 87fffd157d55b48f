/** Which sessions that ask the same in other words stand in the alerts panel. Pure. */
import {
  isStoppedState,
  SEMANTIC_ALERT_OVER_AFTER_MS,
  type SemanticLoopEvent,
  type SessionView,
} from '#contracts';
import { loopSpans } from '../../realtime/loop-spans';

export interface SemanticAlert {
  session_id: string;
  agent_id: string;
  /** Loops of this session, the ones that only were hinted at included. */
  loop_count: number;
  first_at_ms: number;
  latest: SemanticLoopEvent;
}

/**
 * One alert per session whose loops came further than a hint: of what it repeats now, and not of what it was over long ago.
 *
 * @param events newest first
 */
export function groupSemanticLoops(events: readonly SemanticLoopEvent[]): Map<string, SemanticAlert> {
  const groups = new Map<string, SemanticAlert>();
  for (const [session_id, { alerted, first }] of loopSpans(events)) {
    if (alerted === null) continue;
    const { agent_id, occurrence } = alerted;
    groups.set(session_id, {
      session_id,
      agent_id,
      loop_count: occurrence,
      first_at_ms: first.at_ms,
      latest: alerted,
    });
  }
  return groups;
}

/**
 * A row stays while its session is stopped, and else until it has asked nothing again for a while. Who let the session
 * go on after the loop has seen it: that ends the row too.
 */
export function isOpenSemanticAlert(
  { latest }: SemanticAlert,
  session: SessionView | undefined,
  nowMs: number,
): boolean {
  if (session?.ended) return false;
  if (session && isStoppedState(session.control.state)) return true;
  if (session && (session.control.since_ms ?? 0) > latest.at_ms) return false;
  return isRecent(latest, nowMs);
}

/** Those of sessions that ask the same now: the next loop of one that is not among them is news. */
export const goingOn = (
  alerts: ReadonlyMap<string, SemanticAlert>,
  sessions: ReadonlyMap<string, SessionView>,
  nowMs: number,
): Map<string, SemanticAlert> =>
  new Map(
    [...alerts].filter(
      ([sessionId, alert]) =>
        isRecent(alert.latest, nowMs) && isOpenSemanticAlert(alert, sessions.get(sessionId), nowMs),
    ),
  );

/** As the gateway has it: one stamped by a clock that was ahead is no newer than any other. */
const isRecent = ({ at_ms }: SemanticLoopEvent, nowMs: number): boolean =>
  Math.abs(nowMs - at_ms) < SEMANTIC_ALERT_OVER_AFTER_MS;

/**
 * The latest to begin first. A session that also repeats its steps has its entropy alert, and no second row.
 */
export function orderSemanticAlerts(
  alerts: Iterable<SemanticAlert>,
  sessions: ReadonlyMap<string, SessionView>,
  entropySessionIds: ReadonlySet<string>,
  nowMs: number,
): SemanticAlert[] {
  return [...alerts]
    .filter(
      (alert) =>
        !entropySessionIds.has(alert.session_id) &&
        isOpenSemanticAlert(alert, sessions.get(alert.session_id), nowMs),
    )
    .sort((a, b) => b.first_at_ms - a.first_at_ms || (a.session_id < b.session_id ? -1 : 1));
}
