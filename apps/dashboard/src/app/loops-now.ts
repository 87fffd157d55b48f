/**
 * Which sessions go round in circles now, in their steps or in their prompts: nothing has stopped them. The one
 * definition of "looping now" for every page. Pure.
 */
import type { SessionView } from '#contracts';
import { type Policies, restOf } from '../features/session-clusters/rest';
import { isOpenSemanticAlert, type SemanticAlert } from '../features/session-clusters/semantic-alerts';

export interface LoopNow {
  /** `steps` where it repeats both. */
  kind: 'steps' | 'words';
  /** Who did so last. */
  agent_id: string;
}

/** By session id. */
export type LoopsNow = ReadonlyMap<string, LoopNow>;

/** Until they are known. */
export const NO_LOOPS_NOW: LoopsNow = new Map();

/** @param semantic by session, over or not */
export function loopsNow(
  sessions: ReadonlyMap<string, SessionView>,
  semantic: ReadonlyMap<string, SemanticAlert>,
  policies: Policies,
  nowMs: number,
): LoopsNow {
  const burns = (session: SessionView): boolean => !session.ended && restOf(session, policies) === null;
  const loops = new Map<string, LoopNow>();
  for (const [sessionId, session] of sessions) {
    if (session.severity !== 'loop' || !burns(session)) continue;
    loops.set(sessionId, { kind: 'steps', agent_id: session.agent_id });
  }
  for (const [sessionId, alert] of semantic) {
    const session = sessions.get(sessionId);
    // One that repeats its steps too is there already, or burns no more.
    if (session && (session.severity === 'loop' || !burns(session))) continue;
    if (isOpenSemanticAlert(alert, session, nowMs))
      loops.set(sessionId, { kind: 'words', agent_id: alert.agent_id });
  }
  return loops;
}
