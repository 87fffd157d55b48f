/** Notifications of the operating system for new loops, only if asked for, and only while nobody looks at the page. */
import { useEffect, useRef, useState } from 'react';
import type { AlertGroup } from '#contracts';
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

export function useDesktopAlerts(groups: ReadonlyMap<string, AlertGroup>): DesktopAlerts {
  const [isOn, setIsOn] = useState(readChoice);
  const [isBlocked, setIsBlocked] = useState(() => isSupported && Notification.permission === 'denied');
  const known = useRef<ReadonlyMap<string, AlertGroup> | null>(null);

  useEffect(() => {
    const before = known.current;
    known.current = groups;
    if (!isOn || before === null || document.hasFocus()) return;
    for (const group of groups.values()) {
      if (before.has(group.session_id)) continue;
      new Notification('An agent is looping', {
        body: `${group.agent_id}: ${describeTuple(group.latest.repeated_pattern)}`,
        tag: group.session_id,
      });
    }
  }, [groups, isOn]);

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
