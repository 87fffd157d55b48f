/**
 * Entropy Alerts: one row per looping session with the button that stops it, and one per session that asks the same in
 * other words. Besides its page the only component that subscribes to `gateway:entropy_alerts`. @see FR-9.10
 */
import { Bell, BellOff, Repeat } from 'lucide-react';
import { useMemo, useState } from 'react';
import type { AlertGroup } from '#contracts';
import { useLoopCount } from '../../app/looping';
import { type NotificationState, useNotifications } from '../../app/notifications';
import { useWaiting } from '../../app/waiting';
import { type SessionsData, useTopic } from '../../realtime';
import { Badge, cx, IconButton, ListFoot, Panel, Skeleton, usePointing } from '../../ui';
import { AlertAnnouncer } from './alert-announcer';
import { byBeginning } from './alert-news';
import { AlertRow } from './alert-row';
import { useDesktopAlerts } from './desktop-alerts';
import { restOf } from './rest';
import { SemanticAlertRow } from './semantic-alert-row';
import type { SemanticAlert } from './semantic-alerts';
import { usePolicies } from './use-policies';
import { useShownAlerts } from './use-shown-alerts';
import { WaitingFilter } from './waiting-filter';

/** Rows before the panel scrolls; half a row says that there are more. */
const ROWS_SHOWN_MAX = 4.5;
const ROW_PX = 53;
/** On a phone, where the panel does not scroll, until somebody wants all: what waits for a person is on the first screen, too. */
const PHONE_ROWS_MAX = 3;

const NO_ALERTS: ReadonlyMap<string, AlertGroup> = new Map();

interface EntropyAlertsPanelProps {
  sessions: SessionsData;
  /** Somebody is at what lies below: the panel keeps its height, unless they point at the panel itself. */
  keepsHeight: boolean;
  isPhone: boolean;
}

export function EntropyAlertsPanel({ sessions, keepsHeight, isPhone }: EntropyAlertsPanelProps) {
  const { data } = useTopic('gateway:entropy_alerts');
  const groups = data ?? NO_ALERTS;
  const policies = usePolicies();
  const [isPointed, setIsPointed] = useState(false);
  const pointing = usePointing(setIsPointed);
  const { rows, semanticGoingOn } = useShownAlerts(groups, sessions, policies, isPointed);
  const [showsAll, setShowsAll] = useState(false);
  const isCut = isPhone && !showsAll && rows.length > PHONE_ROWS_MAX;
  const rowCount = Math.min(Math.max(rows.length, 1), ROWS_SHOWN_MAX);
  const height = useStableHeight(rowCount, keepsHeight && !isPointed && data !== null) * ROW_PX;
  const unattendedCount = useLoopCount();
  const loops = useMemo(() => data && byBeginning(data), [data]);
  const waiting = useWaiting();
  return (
    <Panel
      title="Entropy Alerts and Semantic Loops"
      aside={unattendedCount > 0 ? <Badge tone="danger">{unattendedCount} looping now</Badge> : null}
      actions={
        <>
          {isPhone ? null : <WaitingFilter />}
          <DesktopAlertsToggle loops={loops} semantic={semanticGoingOn} waiting={waiting} />
        </>
      }
      bodyClassName=""
      className={cx('shrink-0', unattendedCount > 0 && 'border-danger-line')}
    >
      <div className="overflow-y-auto" style={isPhone ? undefined : { height }} {...pointing}>
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
            {(isCut ? rows.slice(0, PHONE_ROWS_MAX) : rows).map((row) => {
              const session = sessions.get(row.session_id);
              const shown = {
                session,
                rest: restOf(session, policies),
                incidentId: policies.agents.get(session?.agent_id ?? '')?.open_incident_id ?? null,
              };
              return row.kind === 'entropy' ? (
                <AlertRow key={row.session_id} group={row.group} repeat={row.repeat} {...shown} />
              ) : (
                <SemanticAlertRow key={row.session_id} alert={row.alert} {...shown} />
              );
            })}
          </ul>
        ) : null}
        <ListFoot
          hasMore={isCut}
          isLoading={false}
          onLoad={() => setShowsAll(true)}
          label={`Show all ${rows.length}`}
          className="border-line border-t"
        />
      </div>
      <AlertAnnouncer alerts={loops} noun="new entropy alert" />
      <AlertAnnouncer alerts={semanticGoingOn} noun="new semantic loop" />
      <AlertAnnouncer alerts={waiting} noun="new waiting session" />
    </Panel>
  );
}

/** The number of rows to make room for; once held, it stays as it was when the hold began. */
function useStableHeight(rowCount: number, isHeld: boolean): number {
  const [shown, setShown] = useState({ rowCount, isHeld: false });
  // The first rows there are count, also where somebody points at the list from the start.
  const takesNow = !isHeld || !shown.isHeld;
  if (takesNow && (shown.rowCount !== rowCount || shown.isHeld !== isHeld)) setShown({ rowCount, isHeld });
  return takesNow ? rowCount : shown.rowCount;
}

interface DesktopAlertsToggleProps {
  /** By what tells the loops of a session apart. */
  loops: ReadonlyMap<string, AlertGroup> | null;
  semantic: ReadonlyMap<string, SemanticAlert> | null;
  waiting: SessionsData | null;
}

const TOGGLE_LABELS: Record<NotificationState, string> = {
  on: 'Desktop notifications are on',
  off: 'Notify me on the desktop',
  blocked: 'Your browser blocks notifications of this site',
  unsupported: 'Notifications need https or localhost',
};

function DesktopAlertsToggle({ loops, semantic, waiting }: DesktopAlertsToggleProps) {
  const { state, turnOn, turnOff } = useNotifications();
  useDesktopAlerts(loops, semantic, waiting);
  const isOn = state === 'on';
  return (
    <IconButton
      label={TOGGLE_LABELS[state]}
      pressed={isOn}
      icon={isOn ? <Bell size={15} aria-hidden="true" /> : <BellOff size={15} aria-hidden="true" />}
      onClick={() => (isOn ? turnOff() : void turnOn())}
    />
  );
}
