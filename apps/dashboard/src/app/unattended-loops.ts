/** Sessions that go round in circles, in their steps or in their prompts, and that nobody has stopped. Pure. */
import type { SessionView } from '#contracts';
import { isOpenSemanticAlert, type SemanticAlert } from '../features/session-clusters/semantic-alerts';

const isRunning = (session: SessionView): boolean => !session.ended && session.control.state === 'active';

/** @param semantic by session, over or not */
export function unattendedLoopCount(
  sessions: ReadonlyMap<string, SessionView>,
  semantic: ReadonlyMap<string, SemanticAlert>,
  nowMs: number,
): number {
  let count = 0;
  for (const session of sessions.values()) if (session.severity === 'loop' && isRunning(session)) count += 1;
  for (const [sessionId, alert] of semantic) {
    const session = sessions.get(sessionId);
    // One that repeats its steps too is counted above, or somebody has stopped it.
    if (session && (session.severity === 'loop' || !isRunning(session))) continue;
    if (isOpenSemanticAlert(alert, session, nowMs)) count += 1;
  }
  return count;
}
