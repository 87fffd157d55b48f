/** Notifications for new loops and for who waits for a person, only if asked for, and only while nobody looks at the page. */
import { useEffect, useRef } from 'react';
import type { AlertGroup, SessionView } from '#contracts';
import { notify } from '../../app/notifications';
import { againstThreshold } from '../semantic-loops/loop-texts';
import { newsIn } from './alert-news';
import type { SemanticAlert } from './semantic-alerts';
import { describeTuple } from './window-dots';

/** Each null until it is known: the first ones are not news. */
export function useDesktopAlerts(
  loops: ReadonlyMap<string, AlertGroup> | null,
  semantic: ReadonlyMap<string, SemanticAlert> | null,
  waiting: ReadonlyMap<string, SessionView> | null,
): void {
  useNotices(loops, ({ agent_id, latest }) => ({
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

/** One notification per alert that was not there before; of a session the latest. */
function useNotices<A extends { session_id: string }>(
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
    if (document.hasFocus()) return;
    for (const alert of newsIn(alerts, before)) {
      const { title, body } = latestWrite.current(alert);
      notify(title, body, alert.session_id);
    }
  }, [alerts]);
}
