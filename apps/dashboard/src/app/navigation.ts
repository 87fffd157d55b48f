/** The places of the dashboard, for sidebar, bottom bar, palette and shortcuts alike. */
import {
  Activity,
  BellRing,
  Bot,
  CircleDollarSign,
  HeartPulse,
  LayoutList,
  type LucideIcon,
  Network,
  OctagonX,
  Settings2,
  Waypoints,
  Zap,
} from 'lucide-react';
import type { ShortcutId } from './keyboard/key-map';

export interface Place {
  to:
    | '/'
    | '/fleet'
    | '/stream'
    | '/agents'
    | '/calls'
    | '/incidents'
    | '/spend'
    | '/cache'
    | '/alerts'
    | '/system'
    | '/settings';
  label: string;
  icon: LucideIcon;
  shortcut: ShortcutId;
  /** On a phone: in the bar itself, not behind "More". */
  isFirst?: true;
}

/** In the order of the sidebar; a group without a title belongs to the one before, set apart. */
export const PLACE_GROUPS: readonly { title: string; places: readonly Place[] }[] = [
  {
    title: 'Observe',
    places: [
      { to: '/', label: 'Sessions', icon: LayoutList, shortcut: 'goSessions', isFirst: true },
      { to: '/fleet', label: 'Fleet', icon: Network, shortcut: 'goFleet' },
      { to: '/stream', label: 'Stream', icon: Activity, shortcut: 'goStream' },
    ],
  },
  {
    title: 'Proxy',
    places: [
      { to: '/agents', label: 'Agents', icon: Bot, shortcut: 'goAgents', isFirst: true },
      { to: '/calls', label: 'Calls', icon: Waypoints, shortcut: 'goCalls', isFirst: true },
      { to: '/incidents', label: 'Incidents', icon: OctagonX, shortcut: 'goIncidents', isFirst: true },
      { to: '/spend', label: 'Spend', icon: CircleDollarSign, shortcut: 'goSpend' },
      { to: '/cache', label: 'Cache', icon: Zap, shortcut: 'goCache' },
    ],
  },
  {
    title: 'Operate',
    places: [
      { to: '/alerts', label: 'Alerts', icon: BellRing, shortcut: 'goAlerts' },
      { to: '/system', label: 'System', icon: HeartPulse, shortcut: 'goSystem' },
      { to: '/settings', label: 'Settings', icon: Settings2, shortcut: 'goSettings' },
    ],
  },
];

export const PLACES: readonly Place[] = PLACE_GROUPS.flatMap(({ places }) => places);
