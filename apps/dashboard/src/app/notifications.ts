/**
 * Notifications of the operating system: the person's wish, kept in this browser, and the browser's permission, which only
 * the browser can change. One switch, drawn twice: in the settings and on the session list, which shows them.
 */
import { create } from 'zustand';

const STORAGE_KEY = 'observatory.desktop-alerts';

export type NotificationState = 'unsupported' | 'blocked' | 'off' | 'on';

/** Browsers offer notifications on https and on localhost only. */
const isSupported = (): boolean => typeof Notification !== 'undefined' && window.isSecureContext;

function read(): NotificationState {
  if (!isSupported()) return 'unsupported';
  if (Notification.permission === 'denied') return 'blocked';
  try {
    return Notification.permission === 'granted' && localStorage.getItem(STORAGE_KEY) === 'on' ? 'on' : 'off';
  } catch {
    return 'off';
  }
}

function store(wish: 'on' | 'off'): void {
  try {
    localStorage.setItem(STORAGE_KEY, wish);
  } catch {
    // Storage is switched off: nothing is remembered, so nothing is shown.
  }
}

interface NotificationStore {
  state: NotificationState;
  refresh: () => void;
  /** Asks the browser for permission when it has none yet. */
  turnOn: () => Promise<void>;
  turnOff: () => void;
}

export const useNotifications = create<NotificationStore>((set) => ({
  state: read(),
  refresh: () => set({ state: read() }),
  turnOn: async () => {
    if (isSupported() && (await Notification.requestPermission()) === 'granted') store('on');
    set({ state: read() });
  },
  turnOff: () => {
    store('off');
    set({ state: read() });
  },
}));

/** Shows one, if that is wanted; a later one of the same `tag` takes its place, and is heard all the same. Never throws. */
export function notify(title: string, body: string, tag: string): void {
  if (read() !== 'on') return;
  try {
    const options = { body, tag, icon: '/favicon.svg', renotify: true };
    new Notification(title, options);
  } catch {
    // Some phones offer notifications to service workers only.
  }
}
