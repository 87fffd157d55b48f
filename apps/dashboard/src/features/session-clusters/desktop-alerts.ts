/** Notifications for new loops and for who waits for a person, only if asked for, and only while nobody looks at the page. */
import { useEffect, useRef } from 'react';
import type { AlertGroup, SessionView } from '#contracts';
import { notify } from '../../app/notifications';
import { againstThreshold } from '../semantic-loops/loop-texts';
import type { SemanticAlert } from './semantic-alerts';
import { describeTuple } from './window-dots';

/** Each null until it is known: the first ones are not news. */
export function useDesktopAlerts(
  groups: ReadonlyMap<string, AlertGroup> | null,
  semantic: ReadonlyMap<string, SemanticAlert> | null,
  waiting: ReadonlyMap<string, SessionView> | null,
): void {
  useNotices(groups, ({ agent_id, latest }) => ({
    title: 'An agent is looping',
    body: `${agent_id}: ${describeTuple(latest.repeated_pattern)}`,
  }));
  useNotices(semantic, ({ agent_id, latest }) => ({
    title: 'An agent asks the same in other words',
    body: `${agent_id}: similarity ${againstThreshold(latest)}`,
  }));
  useNotices(waiting, ({ session_id, agent_id, control }) => ({
    title: 'An agent waits for a person',
    body: `${control.asked_by[0] ?? agent_id}, in session ${session_id}`,
  }));
}

/** One notification per session that was not there before; those of the first data are not news. */
function useNotices<A>(
  alerts: ReadonlyMap<string, A> | null,
  write: (alert: A) => { title: string; body: string },
): void {
  const known = useRef<ReadonlyMap<string, A> | null>(null);
  const latestWrite = useRef(write);
  latestWrite.current = write;
  useEffect(() => {
    if (alerts === null) return;
    const before = known.current;
    known.current = alerts;
    if (before === null || document.hasFocus()) return;
    for (const [sessionId, alert] of alerts) {
      if (before.has(sessionId)) continue;
      const { title, body } = latestWrite.current(alert);
      notify(title, body, sessionId);
    }
  }, [alerts]);
}
