/**
 * The live tail, newest on top. It holds still as soon as somebody reads: when they freeze it, scroll down, go to a
 * row by keyboard, or open one. What arrives meanwhile is counted on a button that leads back to the present.
 */
import { useVirtualizer } from '@tanstack/react-virtual';
import { Activity, ArrowUp, Filter, Snowflake } from 'lucide-react';
import { useCallback, useMemo, useRef, useState } from 'react';
import type { StepView } from '#contracts';
import { BegunAnew } from '../../app/begun-anew';
import { useRowFocus } from '../../app/keyboard/use-row-focus';
import { useShortcut } from '../../app/keyboard/use-shortcut';
import { useTopic } from '../../realtime';
import { Button, Callout, EmptyState, formatCount, SkeletonLines, useIsPhone, useOverscan } from '../../ui';
import { FirstLine } from './first-line';
import { arrivedSince, type FrozenFeed, freeze, RUNNING } from './frozen-feed';
import { isStreamFiltered, type StreamFilter, streamMatcher } from './stream-filter';
import { StreamFilters } from './stream-filters';
import { StreamHead } from './stream-head';
import { StreamRow } from './stream-row';

const ROW_PX = 33;
const PHONE_ROW_PX = 57;
/** Scrolled down by less than this still is the top. */
const TOP_PX = 8;

interface MessageTailProps {
  filter: StreamFilter;
  onFilter: (change: Partial<StreamFilter>) => void;
}

export function MessageTail({ filter, onFilter }: MessageTailProps) {
  const { data, refusal } = useTopic('gateway:messages');
  const [frozen, setFrozen] = useState<FrozenFeed>(RUNNING);
  const [openKey, setOpenKey] = useState<number | null>(null);
  const scroller = useRef<HTMLElement>(null);
  const latest = useRef<readonly StepView[]>([]);
  latest.current = data ?? [];

  const matches = useMemo(() => streamMatcher(filter), [filter]);
  const feed = frozen.held ?? data;
  const rows = useMemo(() => feed?.filter(matches).reverse() ?? [], [feed, matches]);
  const arrived = useMemo(() => arrivedSince(frozen, data ?? [], matches), [frozen, data, matches]);

  const hold = useCallback(() => setFrozen((state) => freeze(state, latest.current)), []);
  const release = useCallback(() => {
    setFrozen(RUNNING);
    setOpenKey(null);
    scroller.current?.scrollTo({ top: 0 });
  }, []);
  const toggle = useCallback(
    (step: StepView) => {
      hold();
      setOpenKey((open) => (open === step.gateway.seq ? null : step.gateway.seq));
    },
    [hold],
  );
  const isFrozen = frozen.held !== null;
  useShortcut('freeze', () => (isFrozen ? release() : hold()));
  useRowFocus(scroller);

  return (
    <div className="flex h-full min-h-0 flex-col">
      <div className="flex flex-wrap items-center gap-2 border-line border-b bg-surface px-3 py-2">
        <StreamFilters filter={filter} onChange={onFilter} />
        <FreezeButton isFrozen={isFrozen} arrived={arrived} onFreeze={hold} onRelease={release} />
      </div>
      {refusal ? (
        <Callout tone="danger" className="m-3">
          The stream is not available: {refusal.detail}
        </Callout>
      ) : null}
      <section
        ref={scroller}
        aria-label="Live messages, newest first"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region has to be reachable by keyboard.
        tabIndex={0}
        onScroll={(event) => event.currentTarget.scrollTop > TOP_PX && hold()}
        onFocus={({ target, currentTarget }) => target !== currentTarget && hold()}
        className="focus-inset min-h-0 flex-1 overflow-y-auto overflow-x-hidden bg-surface md:scroll-pt-12"
      >
        {data === null ? (
          <SkeletonLines className="gap-3 p-3" />
        ) : rows.length === 0 ? (
          <NothingHere isFiltered={isStreamFiltered(filter)} />
        ) : (
          <>
            <StreamHead />
            <Rows rows={rows} scroller={scroller} openKey={openKey} onToggle={toggle} onFilter={onFilter} />
          </>
        )}
      </section>
    </div>
  );
}

interface FreezeButtonProps {
  isFrozen: boolean;
  arrived: { count: number; isLowerBound: boolean };
  onFreeze: () => void;
  onRelease: () => void;
}

function FreezeButton({ isFrozen, arrived, onFreeze, onRelease }: FreezeButtonProps) {
  if (!isFrozen) {
    return (
      <Button
        className="ml-auto max-md:h-10"
        icon={<Snowflake size={14} aria-hidden="true" />}
        onClick={onFreeze}
      >
        Freeze
      </Button>
    );
  }
  return (
    <Button
      variant="primary"
      className="nums ml-auto max-md:h-10"
      icon={<ArrowUp size={14} aria-hidden="true" />}
      onClick={onRelease}
    >
      Frozen, {formatCount(arrived.count)}
      {arrived.isLowerBound ? '+' : ''} new
    </Button>
  );
}

interface RowsProps {
  rows: readonly StepView[];
  scroller: React.RefObject<HTMLElement | null>;
  openKey: number | null;
  onToggle: (step: StepView) => void;
  onFilter: (change: Partial<StreamFilter>) => void;
}

function Rows({ rows, scroller, openKey, onToggle, onFilter }: RowsProps) {
  const isPhone = useIsPhone();
  const overscan = useOverscan(16);
  const virtualizer = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => (isPhone ? PHONE_ROW_PX : ROW_PX),
    overscan,
    getItemKey: (index) => rows[index]?.gateway.seq ?? index,
  });
  return (
    <ul className="relative" style={{ height: virtualizer.getTotalSize() }}>
      {virtualizer.getVirtualItems().map(({ key, index, start }) => {
        const step = rows[index] as StepView;
        return (
          <li
            key={key}
            ref={virtualizer.measureElement}
            data-index={index}
            className="absolute inset-x-0 top-0"
            style={{ transform: `translateY(${start}px)` }}
          >
            <StreamRow
              step={step}
              isOpen={step.gateway.seq === openKey}
              onToggle={onToggle}
              onFilter={onFilter}
            />
          </li>
        );
      })}
    </ul>
  );
}

function NothingHere({ isFiltered }: { isFiltered: boolean }) {
  const { data: sessions } = useTopic('gateway:sessions');
  if (isFiltered) {
    return (
      <EmptyState icon={<Filter size={26} aria-hidden="true" />} title="Nothing matches yet">
        The stream keeps the latest 2,000 messages. One that matches appears here as it arrives.
      </EmptyState>
    );
  }
  return sessions?.size === 0 ? (
    <FirstLine />
  ) : (
    <BegunAnew icon={Activity} title="Nothing yet">
      Every DecisionLog appears here the moment it is stored.
    </BegunAnew>
  );
}
