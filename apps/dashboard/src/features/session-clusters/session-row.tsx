/** One session: a row of the grid on a desktop, a card on a phone. Memoised on the session object. */
import { Link } from '@tanstack/react-router';
import { memo } from 'react';
import type { SessionView } from '#contracts';
import {
  cx,
  formatUsd,
  GridCell,
  GridRow,
  Identifier,
  RelativeTime,
  StateDot,
  truncateMiddle,
} from '../../ui';
import { ControlBadge } from '../hitl-console/control-badge';
import { SeverityBadge } from './severity-badge';
import { WindowDots } from './window-dots';

/** Shared by the header and every row. A narrow window leaves out what it can, so that who has control is in view. */
export const GRID_COLUMNS =
  'grid max-xl:grid-cols-[76px_144px_minmax(80px,0.8fr)_minmax(110px,1.6fr)_88px_56px_minmax(130px,0.8fr)] xl:grid-cols-[76px_180px_minmax(90px,0.8fr)_minmax(110px,1.6fr)_minmax(80px,0.8fr)_88px_62px_62px_56px_minmax(130px,0.8fr)] gap-x-3 px-3';
/** Of the columns that a narrow window leaves out. */
export const WIDE_ONLY = 'max-xl:hidden';

interface SessionRowProps {
  session: SessionView;
  /** Ended, held or silent: nothing about it is urgent. */
  rests: boolean;
  isActive: boolean;
  /** Takes part in the tab order: one row of the list does. */
  isTabStop: boolean;
  rowIndex: number;
  onOpen: (sessionId: string) => void;
  onFocusRow: (sessionId: string) => void;
}

const stripe = (session: SessionView, rests: boolean): string => {
  if (rests) return 'before:bg-transparent';
  if (session.severity === 'loop') return 'before:bg-danger-solid';
  return session.severity === 'warning' ? 'before:bg-[#f59e0b]' : 'before:bg-transparent';
};

export const SessionRow = memo(function SessionRow(props: SessionRowProps) {
  const { session, rests, isActive, isTabStop, rowIndex, onOpen, onFocusRow } = props;
  const { session_id } = session;
  return (
    <GridRow
      aria-rowindex={rowIndex}
      tabIndex={isTabStop ? 0 : -1}
      data-testid="session-row"
      data-session-id={session_id}
      data-severity={session.severity}
      data-control-state={session.control.state}
      onClick={(event) => {
        if (!(event.target as Element).closest('a, button')) onOpen(session_id);
      }}
      onKeyDown={(event) => {
        if (event.key === 'Enter' && event.target === event.currentTarget) onOpen(session_id);
      }}
      onFocus={() => onFocusRow(session_id)}
      className={cx(
        GRID_COLUMNS,
        'focus-inset relative h-10 cursor-pointer items-center border-line border-b before:absolute before:inset-y-0 before:left-0 before:w-[3px] hover:bg-hover',
        stripe(session, rests),
        isActive && 'bg-selected',
        session.ended && 'text-muted',
      )}
    >
      <GridCell>
        <SeverityBadge severity={session.severity} isEnded={session.ended} rests={rests} />
      </GridCell>
      <GridCell className="flex min-w-0 items-center gap-1.5">
        <StateDot state={session.state} />
        <a
          href={`/sessions/${encodeURIComponent(session_id)}`}
          tabIndex={-1}
          title={session_id}
          onClick={(event) => {
            // Other clicks (new tab, new window) are the browser's. The router's own Link costs too much per row.
            if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey) return;
            event.preventDefault();
            onOpen(session_id);
          }}
          className="truncate font-mono text-xs hover:underline"
        >
          {truncateMiddle(session_id, 22)}
        </a>
      </GridCell>
      <Cell text={session.agent_id} className="text-muted" />
      <Cell text={session.last_intent} />
      <Cell text={session.last_tool} className={cx('font-mono text-muted text-xs', WIDE_ONLY)} />
      <GridCell>
        <WindowDots window={session.window} />
      </GridCell>
      <GridCell className={cx('nums text-right', WIDE_ONLY)}>{Math.round(session.steps_per_minute)}</GridCell>
      <GridCell className={cx('nums text-right', WIDE_ONLY)}>{formatUsd(session.cost_usd)}</GridCell>
      <GridCell className="text-right text-muted">
        <RelativeTime atMs={session.last_seen_ms} short />
      </GridCell>
      <GridCell className="flex min-w-0">
        <ControlBadge control={session.control} prefersMode />
      </GridCell>
    </GridRow>
  );
});

function Cell({ text, className }: { text: string; className?: string }) {
  return (
    <GridCell title={text} className={cx('min-w-0 truncate', className)}>
      {text || <span className="text-faint">none</span>}
    </GridCell>
  );
}

export const SessionCard = memo(function SessionCard({
  session,
  rests,
}: Pick<SessionRowProps, 'session' | 'rests'>) {
  const { session_id } = session;
  return (
    <article
      data-testid="session-row"
      data-session-id={session_id}
      data-severity={session.severity}
      data-control-state={session.control.state}
      aria-label={`Session ${session_id}`}
      className={cx(
        'relative mb-2 h-[118px] overflow-hidden rounded-lg border border-line bg-surface px-3 py-2.5 before:absolute before:inset-y-0 before:left-0 before:w-[3px]',
        stripe(session, rests),
      )}
    >
      <div className="flex items-center gap-2">
        <StateDot state={session.state} />
        <Link
          to="/sessions/$sessionId"
          params={{ sessionId: session_id }}
          className="min-w-0 truncate after:absolute after:inset-0"
        >
          <Identifier id={session_id} charsMax={22} copyable={false} />
        </Link>
        <span className="ml-auto shrink-0">
          <SeverityBadge severity={session.severity} isEnded={session.ended} rests={rests} />
        </span>
      </div>
      <p className="mt-1 truncate">{session.last_intent}</p>
      <p className="truncate text-muted text-xs">
        <bdi>{session.agent_id}</bdi>
        {session.last_tool ? (
          <>
            {' · '}
            <bdi>{session.last_tool}</bdi>
          </>
        ) : null}
      </p>
      <div className="mt-1 flex items-center gap-2 text-muted text-xs">
        <WindowDots window={session.window} />
        <span className="nums">{formatUsd(session.cost_usd)}</span>
        <RelativeTime atMs={session.last_seen_ms} short />
        <span className="ml-auto flex min-w-0">
          <ControlBadge control={session.control} prefersMode />
        </span>
      </div>
    </article>
  );
});
