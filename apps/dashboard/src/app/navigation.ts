/** The places of the dashboard, for sidebar, bottom bar, palette and shortcuts alike. */
import { Activity, LayoutList, Network, Settings2 } from 'lucide-react';
import type { ShortcutId } from './keyboard/key-map';

export const PLACES = [
  { to: '/', label: 'Sessions', icon: LayoutList, shortcut: 'goSessions' },
  { to: '/fleet', label: 'Fleet', icon: Network, shortcut: 'goFleet' },
  { to: '/stream', label: 'Stream', icon: Activity, shortcut: 'goStream' },
  { to: '/settings', label: 'Settings', icon: Settings2, shortcut: 'goSettings' },
] as const satisfies readonly { to: string; label: string; icon: unknown; shortcut: ShortcutId }[];
