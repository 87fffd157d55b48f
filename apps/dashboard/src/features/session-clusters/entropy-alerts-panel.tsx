/**
 * Entropy Alerts: one row per looping session with the button that stops it. The only component that subscribes to
 * `gateway:entropy_alerts`. @see FR-9.10
 */
import { Bell, BellOff, Repeat } from 'lucide-react';
import { useRef, useState } from 'react';
import type { AlertGroup } from '#contracts';
import { type SessionsData, useTopic } from '../../realtime';
import { Badge, cx, IconButton, Panel, Skeleton } from '../../ui';
import { AlertAnnouncer } from './alert-announcer';
import { AlertRow } from './alert-row';
import { useDesktopAlerts } from './desktop-alerts';
import { holdAlerts, orderAlerts } from './open-alerts';

/** Rows before the panel scrolls. */
const ROWS_SHOWN_MAX = 4;
const ROW_PX = 53;

const NO_ALERTS: ReadonlyMap<string, AlertGroup> = new Map();

interface EntropyAlertsPanelProps {
  sessions: SessionsData;
  /** Somebody points at the list below: the panel keeps its height. */
  keepsHeight: boolean;
  isPhone: boolean;
}

export function EntropyAlertsPanel({ sessions, keepsHeight, isPhone }: EntropyAlertsPanelProps) {
  const { data } = useTopic('gateway:entropy_alerts');
  const groups = data ?? NO_ALERTS;
  const [isPointed, setIsPointed] = useState(false);
  const rows = useShownAlerts(groups, sessions, isPointed);
  const height = useStableHeight(Math.min(Math.max(rows.length, 1), ROWS_SHOWN_MAX), keepsHeight) * ROW_PX;
  const unattendedCount = rows.filter(
    (group) => (sessions.get(group.session_id)?.control.state ?? 'active') === 'active',
  ).length;
  return (
    <Panel
      title="Entropy Alerts"
      aside={unattendedCount > 0 ? <Badge tone="danger">{unattendedCount} running</Badge> : null}
      actions={<DesktopAlertsToggle groups={groups} />}
      bodyClassName=""
      className={cx('shrink-0', unattendedCount > 0 && 'border-danger-line')}
    >
      <div
        className="overflow-y-auto"
        style={isPhone ? undefined : { height }}
        onPointerEnter={() => setIsPointed(true)}
        onPointerLeave={() => setIsPointed(false)}
      >
        {data === null ? (
          <div className="p-4" aria-busy="true">
            <Skeleton className="h-5 w-2/3" />
          </div>
        ) : null}
        {data !== null && rows.length === 0 ? (
          <p className="flex h-[53px] items-center gap-2 px-3 text-muted">
            <Repeat size={14} aria-hidden="true" className="text-success" />
            No session is looping.
          </p>
        ) : null}
        {rows.length > 0 ? (
          <ul>
            {rows.map((group) => (
              <AlertRow key={group.session_id} group={group} session={sessions.get(group.session_id)} />
            ))}
          </ul>
        ) : null}
      </div>
      <AlertAnnouncer groups={data} />
    </Panel>
  );
}

function useShownAlerts(
  groups: ReadonlyMap<string, AlertGroup>,
  sessions: SessionsData,
  isPointed: boolean,
): AlertGroup[] {
  const shownIds = useRef<string[]>([]);
  const ordered = orderAlerts(groups.values(), sessions);
  const rows = isPointed ? holdAlerts(shownIds.current, ordered, groups) : ordered;
  shownIds.current = rows.map((group) => group.session_id);
  return rows;
}

/** The number of rows to make room for; waits while the pointer is on what lies below. */
function useStableHeight(rowCount: number, keepsHeight: boolean): number {
  const [shown, setShown] = useState(rowCount);
  if (!keepsHeight && shown !== rowCount) setShown(rowCount);
  return keepsHeight ? shown : rowCount;
}

function DesktopAlertsToggle({ groups }: { groups: ReadonlyMap<string, AlertGroup> }) {
  const { isOn, toggle, isBlocked } = useDesktopAlerts(groups);
  const label = isOn ? 'Desktop notifications are on' : 'Notify me on the desktop';
  return (
    <IconButton
      label={isBlocked ? 'Your browser blocks notifications of this site' : label}
      pressed={isOn}
      icon={isOn ? <Bell size={15} aria-hidden="true" /> : <BellOff size={15} aria-hidden="true" />}
      onClick={toggle}
    />
  );
}
