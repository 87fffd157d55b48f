/** The one-click reaction to an alert: pause, then look. */
import { useNavigate, useRouter } from '@tanstack/react-router';
import { useCallback, useState } from 'react';
import { isStoppedState, type SessionView } from '#contracts';
import { sendCommand, useDenial } from '../../api';
import { toast } from '../../ui';
import type { Failure } from './failure';
import { failureOf } from './use-command';

interface PauseAndInspect {
  busy: boolean;
  /** Why the last click did not pause; null after a success or before any. */
  failure: Failure | null;
  /** Null when allowed; else why not. */
  denial: string | null;
  /**
   * Pauses unless the session is stopped or over already, then opens it, if the operator is still where it was asked for.
   * Never rejects: a failure is in `failure`, and nothing is opened.
   */
  pause: (sessionId: string, reason: string) => Promise<void>;
  /** The same for a row of the list, which has no place for a failure: it becomes a toast. */
  run: (session: SessionView, reason: string) => Promise<void>;
}

export function usePauseAndInspect(): PauseAndInspect {
  const navigate = useNavigate();
  const router = useRouter();
  const denial = useDenial('command');
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState<PauseAndInspect['failure']>(null);

  const attempt = useCallback(
    async (sessionId: string, reason: string): Promise<string | null> => {
      setBusy(true);
      setFailure(null);
      const askedAt = router.state.location.pathname;
      try {
        await sendCommand(sessionId, { command: 'pause', reason });
        if (router.latestLocation.pathname === askedAt)
          void navigate({ to: '/sessions/$sessionId', params: { sessionId } });
        else toast({ title: `${sessionId} is asked to pause` });
        return null;
      } catch (error) {
        const failed = failureOf('pause', error);
        setFailure(failed);
        return failed.message;
      } finally {
        setBusy(false);
      }
    },
    [navigate, router],
  );

  return {
    busy,
    failure,
    denial,
    pause: async (sessionId, reason) => void (await attempt(sessionId, reason)),
    run: async (session, reason) => {
      const { session_id, control, ended } = session;
      if (ended || isStoppedState(control.state)) {
        await navigate({ to: '/sessions/$sessionId', params: { sessionId: session_id } });
        return;
      }
      const problem = denial ?? (await attempt(session_id, reason));
      if (problem) toast({ title: `${session_id} was not paused`, description: problem, tone: 'danger' });
    },
  };
}
