/** Every shortcut of the dashboard, in the order of the help. Handlers register by id: see use-shortcut.ts. */

export interface Shortcut {
  /** One key, a sequence ("g s"), or a combination ("mod+k"). */
  keys: string;
  label: string;
  section: 'Everywhere' | 'List' | 'Session';
}

export const KEY_MAP = {
  palette: { keys: 'mod+k', label: 'Command palette', section: 'Everywhere' },
  help: { keys: '?', label: 'Keyboard shortcuts', section: 'Everywhere' },
  exactTime: { keys: 't', label: 'Exact time of what has the focus; then the next', section: 'Everywhere' },
  goSessions: { keys: 'g s', label: 'Go to sessions', section: 'Everywhere' },
  goFleet: { keys: 'g f', label: 'Go to fleet', section: 'Everywhere' },
  goStream: { keys: 'g m', label: 'Go to message stream', section: 'Everywhere' },
  goAgents: { keys: 'g a', label: 'Go to agents', section: 'Everywhere' },
  goCalls: { keys: 'g c', label: 'Go to calls', section: 'Everywhere' },
  goIncidents: { keys: 'g i', label: 'Go to incidents', section: 'Everywhere' },
  goSpend: { keys: 'g b', label: 'Go to spend', section: 'Everywhere' },
  goCache: { keys: 'g k', label: 'Go to cache', section: 'Everywhere' },
  goAlerts: { keys: 'g l', label: 'Go to alerts', section: 'Everywhere' },
  goSystem: { keys: 'g y', label: 'Go to system', section: 'Everywhere' },
  goSettings: { keys: 'g ,', label: 'Go to settings', section: 'Everywhere' },
  search: { keys: '/', label: 'Search', section: 'List' },
  next: { keys: 'j', label: 'Next row', section: 'List' },
  previous: { keys: 'k', label: 'Previous row', section: 'List' },
  inspect: { keys: 'enter', label: 'Open the selected row', section: 'List' },
  freeze: { keys: 'f', label: 'Freeze or release the list', section: 'List' },
  pause: { keys: 'p', label: 'Pause the selected or open session', section: 'Session' },
  guide: { keys: 'i', label: 'Write guidance for the open session', section: 'Session' },
  back: { keys: 'esc', label: 'Back, or close', section: 'Session' },
} as const satisfies Record<string, Shortcut>;

export type ShortcutId = keyof typeof KEY_MAP;
