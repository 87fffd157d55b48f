/** Sessions that go round in circles now, in their steps or in their prompts: nothing has stopped them. Pure. */
import type { SessionView } from '#contracts';
import { type Policies, restOf } from '../features/session-clusters/rest';
import { isOpenSemanticAlert, type SemanticAlert } from '../features/session-clusters/semantic-alerts';

/** @param semantic by session, over or not */
export function unattendedLoopCount(
  sessions: ReadonlyMap<string, SessionView>,
  semantic: ReadonlyMap<string, SemanticAlert>,
  agents: Policies,
  nowMs: number,
): number {
  const burns = (session: SessionView): boolean => !session.ended && restOf(session, agents) === null;
  let count = 0;
  for (const session of sessions.values()) if (session.severity === 'loop' && burns(session)) count += 1;
  for (const [sessionId, alert] of semantic) {
    const session = sessions.get(sessionId);
    // One that repeats its steps too is counted above, or burns no more.
    if (session && (session.severity === 'loop' || !burns(session))) continue;
    if (isOpenSemanticAlert(alert, session, nowMs)) count += 1;
  }
  return count;
}
