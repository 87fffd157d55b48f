/**
 * The virtualised list of sessions: a grid on a desktop, cards on a phone. Rows are read from the live map by id, so
 * values change in place while the order is held.
 */
import { useNavigate } from '@tanstack/react-router';
import { useVirtualizer } from '@tanstack/react-virtual';
import { type RefObject, useCallback, useEffect, useLayoutEffect, useRef, useState } from 'react';
import type { LoopsNow } from '../../app/loops-now';
import { useScrollPlace } from '../../app/use-scroll-place';
import type { SessionsData } from '../../realtime';
import { FloatingPill, Grid, GridRowGroup, plural, useOverscan, usePointing } from '../../ui';
import { ClusterHeading } from './cluster-heading';
import { ListHeader } from './list-header';
import type { ListRow } from './list-rows';
import type { Sort } from './list-search';
import { type Policies, restOf } from './rest';
import { SessionCard, SessionRow } from './session-row';
import type { WaitingChanges } from './shown-order';
import { useRowKeys } from './use-row-keys';

const ROW_PX = 40;
const CARD_PX = 126;
const CLUSTER_PX = 34;

export interface ListHold {
  pointer: boolean;
  scrolled: boolean;
  focused: boolean;
}

interface SessionListProps {
  rows: readonly ListRow[];
  sessions: SessionsData;
  policies: Policies;
  loops: LoopsNow;
  isPhone: boolean;
  /** On a phone the page scrolls as a whole; null: the list scrolls by itself. */
  pageRef: RefObject<HTMLElement | null>;
  sort: Sort;
  waiting: WaitingChanges;
  onRelease: () => void;
  onHold: (change: Partial<ListHold>) => void;
}

export function SessionList(props: SessionListProps) {
  const { rows, sessions, policies, loops, isPhone, pageRef, onHold } = props;
  const navigate = useNavigate();
  const ownRef = useRef<HTMLDivElement>(null);
  const bodyRef = useRef<HTMLDivElement>(null);
  const margin = useScrollMargin(isPhone, pageRef, bodyRef);
  // Stable functions: with new ones the virtualizer measures every row again on each render.
  const estimateSize = useCallback(
    (index: number) => (rows[index]?.kind === 'cluster' ? CLUSTER_PX : isPhone ? CARD_PX : ROW_PX),
    [rows, isPhone],
  );
  const getItemKey = useCallback((index: number) => rowKey(rows[index]), [rows]);
  const pointing = usePointing((pointer) => onHold({ pointer }));
  const overscan = useOverscan(6);
  const virtualizer = useVirtualizer({
    count: rows.length,
    getScrollElement: () => (isPhone ? pageRef.current : ownRef.current),
    estimateSize,
    getItemKey,
    overscan,
    useFlushSync: false,
    scrollMargin: margin,
  });
  useScrollPlace(isPhone ? pageRef : ownRef, rows.length > 0);
  const open = useCallback(
    (sessionId: string) => void navigate({ to: '/sessions/$sessionId', params: { sessionId } }),
    [navigate],
  );
  const { activeId, setActiveId, onKeyDown } = useRowKeys({
    rows,
    sessions,
    listRef: ownRef,
    virtualizer,
    open,
  });

  // Read from the virtualizer: asking the element in a scroll listener would force a layout each time.
  const isScrolled = (virtualizer.scrollOffset ?? 0) > (isPhone ? margin : 4);
  useEffect(() => onHold({ scrolled: isScrolled }), [isScrolled, onHold]);

  // The first row takes part in the tab order until another is chosen.
  const firstId = rows.find((row) => row.kind === 'session')?.id ?? null;
  const tabStop = activeId !== null && sessions.has(activeId) ? activeId : firstId;

  const lines = virtualizer.getVirtualItems().map((item) => {
    const row = rows[item.index];
    return (
      <div
        key={item.key}
        role={isPhone ? undefined : 'presentation'}
        className="absolute inset-x-0 top-0 [contain:strict]"
        style={{ height: item.size, transform: `translateY(${item.start - margin}px)` }}
      >
        {row?.kind === 'cluster' ? <ClusterHeading row={row} isPhone={isPhone} /> : null}
        {row?.kind === 'session' ? (
          <SessionLine
            id={row.id}
            sessions={sessions}
            policies={policies}
            loops={loops}
            isPhone={isPhone}
            isActive={row.id === activeId}
            isTabStop={row.id === tabStop}
            rowIndex={item.index + 2}
            onOpen={open}
            onFocusRow={setActiveId}
          />
        ) : null}
      </div>
    );
  });
  const body = { className: 'relative', style: { height: virtualizer.getTotalSize() } };

  if (isPhone) {
    return (
      <div className="relative px-3 pb-3">
        <WaitingPill {...props} scroller={pageRef} />
        <div ref={bodyRef} {...body}>
          {lines}
        </div>
      </div>
    );
  }
  return (
    // The pill lies within: where it comes up below the pointer, and on its way there, the pointer must not let the list go.
    <div className="relative min-h-0 flex-1" {...pointing}>
      <WaitingPill {...props} scroller={ownRef} />
      <Grid
        ref={ownRef}
        aria-label="Sessions"
        aria-rowcount={rows.length + 1}
        className="h-full overflow-y-auto rounded-lg border border-line bg-surface [scrollbar-gutter:stable]"
        onKeyDown={onKeyDown}
        onFocus={() => onHold({ focused: true })}
        onBlur={() => onHold({ focused: false })}
      >
        <ListHeader sort={props.sort} />
        <GridRowGroup {...body}>{lines}</GridRowGroup>
      </Grid>
    </div>
  );
}

const rowKey = (row: ListRow | undefined): string => {
  if (!row) return 'none';
  return row.kind === 'session' ? `s:${row.id}` : `c:${row.clusterId}`;
};

interface SessionLineProps {
  id: string;
  sessions: SessionsData;
  policies: Policies;
  loops: LoopsNow;
  isPhone: boolean;
  isActive: boolean;
  isTabStop: boolean;
  rowIndex: number;
  onOpen: (sessionId: string) => void;
  onFocusRow: (sessionId: string) => void;
}

function SessionLine({ id, sessions, policies, loops, isPhone, ...line }: SessionLineProps) {
  const session = sessions.get(id);
  if (!session) return null;
  const shown = {
    session,
    rest: restOf(session, policies),
    isReworded: loops.get(id)?.kind === 'words',
  };
  return isPhone ? <SessionCard {...shown} /> : <SessionRow {...shown} {...line} />;
}

/** Distance from the top of the page's scroller to the list, followed as the alerts above grow. */
function useScrollMargin(
  isPhone: boolean,
  pageRef: RefObject<HTMLElement | null>,
  bodyRef: RefObject<HTMLElement | null>,
): number {
  const [margin, setMargin] = useState(0);
  useLayoutEffect(() => {
    const page = pageRef.current;
    if (!isPhone || !page) {
      setMargin(0);
      return;
    }
    const measure = () => {
      const body = bodyRef.current;
      if (body) {
        setMargin(body.getBoundingClientRect().top - page.getBoundingClientRect().top + page.scrollTop);
      }
    };
    measure();
    const observer = new ResizeObserver(measure);
    for (const child of page.children) observer.observe(child);
    return () => observer.disconnect();
  }, [isPhone, pageRef, bodyRef]);
  return margin;
}

interface WaitingPillProps extends Pick<SessionListProps, 'waiting' | 'onRelease' | 'isPhone'> {
  scroller: RefObject<HTMLElement | null>;
}

/** What waits while the list is held. */
function WaitingPill({ waiting, onRelease, isPhone, scroller }: WaitingPillProps) {
  if (!waiting.isStale) return null;
  return (
    <FloatingPill
      text={waiting.newCount > 0 ? plural(waiting.newCount, 'new', 'new') : 'Order changed'}
      className={isPhone ? 'sticky top-2 h-0' : 'absolute top-10'}
      onClick={() => {
        onRelease();
        scroller.current?.scrollTo({ top: 0 });
      }}
    />
  );
}
