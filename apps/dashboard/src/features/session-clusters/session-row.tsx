/** One session: a row of the grid on a desktop, a card on a phone. Memoised on the session object. */
import { Link } from '@tanstack/react-router';
import { memo } from 'react';
import type { SessionView } from '#contracts';
import {
  CutMiddle,
  cx,
  formatPartialCost,
  GridCell,
  GridRow,
  Identifier,
  PartialCost,
  plural,
  RelativeTime,
  StateDot,
  StepRate,
  withUnseen,
} from '../../ui';
import { ControlBadge } from '../hitl-console/control-badge';
import { dotState, isStoppedAgent, LOOP_REST_LABELS, type Rest } from './rest';
import { RestBadge } from './rest-badge';
import { SeverityBadge } from './severity-badge';
import { WindowDots } from './window-dots';

/**
 * Shared by the header and every row. A narrow window leaves out what it can, so that who has control is in view; from 1440 px on
 * a tool's name of 20 letters is read whole.
 */
export const GRID_COLUMNS =
  'grid max-xl:grid-cols-[76px_134px_minmax(80px,0.8fr)_minmax(100px,1.6fr)_88px_56px_minmax(130px,0.8fr)] xl:grid-cols-[76px_152px_minmax(84px,0.8fr)_minmax(110px,1.6fr)_minmax(80px,0.8fr)_88px_62px_62px_56px_minmax(130px,0.8fr)] min-[90rem]:grid-cols-[76px_176px_minmax(90px,0.8fr)_minmax(110px,1.3fr)_minmax(110px,1.1fr)_84px_62px_62px_56px_minmax(130px,0.8fr)] gap-x-3 px-3';
/** Of the columns that a narrow window leaves out. */
export const WIDE_ONLY = 'max-xl:hidden';

const UNKNOWN_SESSION_COST =
  'Some of its steps told no cost, or called a model without a price. Add prices in Settings, Prices.';

interface SessionRowProps {
  session: SessionView;
  /** Why it burns no more; null while it does, or never did. */
  rest: Rest | null;
  /** It asks the same in other words now. */
  isReworded: boolean;
  isActive: boolean;
  /** Takes part in the tab order: one row of the list does. */
  isTabStop: boolean;
  rowIndex: number;
  onOpen: (sessionId: string) => void;
  onFocusRow: (sessionId: string) => void;
}

const stripe = ({
  session,
  rest,
  isReworded,
}: Pick<SessionRowProps, 'session' | 'rest' | 'isReworded'>): string => {
  if (session.ended || rest !== null) return 'before:bg-transparent';
  if (session.severity === 'loop' || isReworded) return 'before:bg-danger-solid';
  return session.severity === 'warning' ? 'before:bg-[#f59e0b]' : 'before:bg-transparent';
};

export const SessionRow = memo(function SessionRow(props: SessionRowProps) {
  const { session, rest, isReworded, isActive, isTabStop, rowIndex, onOpen, onFocusRow } = props;
  const { session_id } = session;
  return (
    <GridRow
      aria-rowindex={rowIndex}
      tabIndex={isTabStop ? 0 : -1}
      data-testid="session-row"
      data-session-id={session_id}
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
        stripe(props),
        isActive && 'bg-selected',
        session.ended && 'text-muted',
      )}
    >
      <GridCell>
        <SeverityBadge
          severity={session.severity}
          isEnded={session.ended}
          rests={session.ended || rest !== null}
          isReworded={isReworded}
        />
      </GridCell>
      <GridCell className="flex min-w-0 items-center gap-1.5">
        <Dot session={session} rest={rest} isReworded={isReworded} />
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
          className="min-w-0 font-mono text-xs hover:underline"
        >
          <CutMiddle text={session_id} charsMax={22} />
        </a>
      </GridCell>
      <GridCell title={session.agent_id} className="min-w-0 text-muted">
        <CutMiddle text={session.agent_id} />
      </GridCell>
      <Cell text={session.last_intent} otherwise={nothingShown(session)} />
      <Cell text={session.last_tool} className={cx('font-mono text-muted text-xs', WIDE_ONLY)} />
      <GridCell>
        <WindowDots window={session.window} />
      </GridCell>
      <GridCell className={cx('nums text-right', WIDE_ONLY)}>
        <StepRate perMinute={session.steps_per_minute} lastSeenMs={session.last_seen_ms} />
      </GridCell>
      <GridCell
        title={session.cost_unknown ? UNKNOWN_SESSION_COST : undefined}
        className={cx('nums text-right leading-4', WIDE_ONLY, session.cost_unknown && 'text-muted')}
      >
        <PartialCost usd={session.cost_usd} hasUnknown={session.cost_unknown} />
      </GridCell>
      <GridCell className="text-right text-muted">
        <RelativeTime atMs={session.last_seen_ms} short />
      </GridCell>
      <GridCell className="flex min-w-0">
        <Hold session={session} rest={rest} />
      </GridCell>
    </GridRow>
  );
});

/** In the colour that its agent has on the map. */
const Dot = ({ session, rest, isReworded }: Pick<SessionRowProps, 'session' | 'rest' | 'isReworded'>) => (
  <StateDot
    state={isReworded ? 'alert_entropy' : dotState(session.state, rest, session.control)}
    rest={rest === null ? undefined : LOOP_REST_LABELS[rest]}
  />
);

/** Who has it in hand, or stopped its agent; of what nobody holds, which control it obeys. */
function Hold({ session, rest }: Pick<SessionRowProps, 'session' | 'rest'>) {
  const { control, ended } = session;
  return isStoppedAgent(rest) && control.state === 'active' && !ended ? (
    <RestBadge rest={rest} session={session} />
  ) : (
    <ControlBadge control={session.control} prefersMode />
  );
}

/** Of a session without a step to show: what it sent may still be held. */
const nothingShown = ({ control: { held_count } }: SessionView): string =>
  held_count === 0 ? 'none' : `${plural(held_count, 'message')} held`;

function Cell({
  text,
  otherwise = 'none',
  className,
}: {
  text: string;
  otherwise?: string;
  className?: string;
}) {
  return (
    <GridCell title={text} className={cx('min-w-0 truncate', className)}>
      {text || <span className="text-faint">{otherwise}</span>}
    </GridCell>
  );
}

export const SessionCard = memo(function SessionCard({
  session,
  rest,
  isReworded,
}: Pick<SessionRowProps, 'session' | 'rest' | 'isReworded'>) {
  const { session_id } = session;
  return (
    <article
      data-testid="session-row"
      data-session-id={session_id}
      aria-label={`Session ${session_id}`}
      className={cx(
        'relative mb-2 h-[118px] overflow-hidden rounded-lg border border-line bg-surface px-3 py-2.5 before:absolute before:inset-y-0 before:left-0 before:w-[3px]',
        stripe({ session, rest, isReworded }),
      )}
    >
      <div className="flex items-center gap-2">
        <Dot session={session} rest={rest} isReworded={isReworded} />
        <Link
          to="/sessions/$sessionId"
          params={{ sessionId: session_id }}
          className="min-w-0 truncate after:absolute after:inset-0"
        >
          <Identifier id={session_id} charsMax={22} copyable={false} />
        </Link>
        <span className="ml-auto shrink-0">
          <SeverityBadge
            severity={session.severity}
            isEnded={session.ended}
            rests={session.ended || rest !== null}
            isReworded={isReworded}
          />
        </span>
      </div>
      <p className="mt-1 truncate">
        {session.last_intent || <span className="text-faint">{nothingShown(session)}</span>}
      </p>
      <p className="truncate text-muted text-xs">
        <bdi>{withUnseen(session.agent_id)}</bdi>
        {session.last_tool ? (
          <>
            {' · '}
            <bdi>{session.last_tool}</bdi>
          </>
        ) : null}
      </p>
      <div className="mt-1 flex items-center gap-2 text-muted text-xs">
        {session.window.length > 0 && <WindowDots window={session.window} />}
        <span className="nums whitespace-nowrap">
          {session.cost_unknown && session.cost_usd <= 0
            ? 'cost unknown'
            : formatPartialCost(session.cost_usd, session.cost_unknown)}
        </span>
        <RelativeTime atMs={session.last_seen_ms} short className="nums whitespace-nowrap" />
        <span className="ml-auto flex min-w-0">
          <Hold session={session} rest={rest} />
        </span>
      </div>
    </article>
  );
});
