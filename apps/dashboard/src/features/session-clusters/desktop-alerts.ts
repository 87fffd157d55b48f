/** Notifications of the operating system for new loops and for who waits for a person, only if asked for, and only while nobody looks at the page. */
import { useEffect, useRef, useState } from 'react';
import type { AlertGroup, SessionView } from '#contracts';
import { againstThreshold } from '../semantic-loops/loop-texts';
import type { SemanticAlert } from './semantic-alerts';
import { describeTuple } from './window-dots';

const STORAGE_KEY = 'observatory.desktop-alerts';
const isSupported = typeof Notification !== 'undefined';

const readChoice = (): boolean => {
  try {
    return isSupported && localStorage.getItem(STORAGE_KEY) === 'on' && Notification.permission === 'granted';
  } catch {
    return false;
  }
};

function storeChoice(isOn: boolean): void {
  try {
    localStorage.setItem(STORAGE_KEY, isOn ? 'on' : 'off');
  } catch {
    // Storage is switched off: the choice lasts as long as the page.
  }
}

interface DesktopAlerts {
  isOn: boolean;
  isBlocked: boolean;
  toggle: () => void;
}

/** Each null until it is known: the first ones are not news. */
export function useDesktopAlerts(
  groups: ReadonlyMap<string, AlertGroup> | null,
  semantic: ReadonlyMap<string, SemanticAlert> | null,
  waiting: ReadonlyMap<string, SessionView> | null,
): DesktopAlerts {
  const [isOn, setIsOn] = useState(readChoice);
  const [isBlocked, setIsBlocked] = useState(() => isSupported && Notification.permission === 'denied');
  useNotices(isOn, groups, ({ session_id, agent_id, latest }) => ({
    title: 'An agent is looping',
    options: { body: `${agent_id}: ${describeTuple(latest.repeated_pattern)}`, tag: session_id },
  }));
  useNotices(isOn, semantic, ({ session_id, agent_id, latest }) => ({
    title: 'An agent asks the same in other words',
    options: { body: `${agent_id}: similarity ${againstThreshold(latest)}`, tag: session_id },
  }));
  useNotices(isOn, waiting, ({ session_id, agent_id }) => ({
    title: 'An agent waits for a person',
    options: { body: `${agent_id}, in session ${session_id}`, tag: session_id },
  }));

  const toggle = async () => {
    if (!isSupported) {
      setIsBlocked(true);
      return;
    }
    const wanted = !isOn;
    const isAllowed = !wanted || (await Notification.requestPermission()) === 'granted';
    setIsBlocked(!isAllowed);
    setIsOn(wanted && isAllowed);
    storeChoice(wanted && isAllowed);
  };

  return { isOn, isBlocked, toggle: () => void toggle() };
}

/** One notification per session that was not there before; those of the first data are not news. */
function useNotices<A>(
  isOn: boolean,
  alerts: ReadonlyMap<string, A> | null,
  write: (alert: A) => { title: string; options: NotificationOptions },
): void {
  const known = useRef<ReadonlyMap<string, A> | null>(null);
  const latestWrite = useRef(write);
  latestWrite.current = write;
  useEffect(() => {
    if (alerts === null) return;
    const before = known.current;
    known.current = alerts;
    if (!isOn || before === null || document.hasFocus()) return;
    for (const [sessionId, alert] of alerts) {
      if (before.has(sessionId)) continue;
      const { title, options } = latestWrite.current(alert);
      new Notification(title, options);
    }
  }, [alerts, isOn]);
}
