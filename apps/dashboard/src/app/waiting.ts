/** The sessions that wait for a person, for every place that says so: navigation, tab title, list, notifications. */
import type { SessionView } from '#contracts';
import { waitsForPerson } from '../features/hitl-console/control-texts';
import { type SessionsData, useTopic } from '../realtime';

/** By session id; null until the first snapshot. The same map as long as the sessions are the same. */
export function useWaiting(): SessionsData | null {
  const { data } = useTopic('gateway:sessions');
  return data ? findOnce(data) : null;
}

/** 0 until the first snapshot. */
export const useWaitingCount = (): number => useWaiting()?.size ?? 0;

let found: { sessions: SessionsData; waiting: SessionsData } | null = null;

/** Once per change, for all places together. */
function findOnce(sessions: SessionsData): SessionsData {
  if (found?.sessions === sessions) return found.waiting;
  const waiting = new Map<string, SessionView>();
  for (const [sessionId, session] of sessions)
    if (waitsForPerson(session.control)) waiting.set(sessionId, session);
  found = { sessions, waiting };
  return waiting;
}
