/** One session, live: also one that begins, or begins anew, while its page says that there is none. */
import { useEffect } from 'react';
import { sessionTopic } from '#contracts';
import { liveClient, useOfTopic, useTopic } from '../../realtime';

export function useSession(sessionId: string) {
  const topic = sessionTopic(sessionId);
  const state = useTopic(topic);
  const isUnknown = state.phase === 'refused' && state.refusal?.reason === 'session_not_found';
  const isListed = useOfTopic('gateway:sessions', (sessions) => sessions?.has(sessionId) ?? false);
  useEffect(() => {
    if (isUnknown && isListed) liveClient.askAgain(topic);
  }, [isUnknown, isListed, topic]);
  return { ...state, isUnknown };
}
