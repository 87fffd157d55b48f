/**
 * Calls, newest first, virtualised: a table on a desktop, cards on a phone. It never jumps under the pointer: while
 * somebody points at it, goes through it by keyboard, has scrolled it or froze it, new calls wait in a pill.
 */
import { useVirtualizer } from '@tanstack/react-virtual';
import { type ReactNode, useRef, useState } from 'react';
import type { LlmCall } from '#contracts';
import { useRowFocus } from '../../app/keyboard/use-row-focus';
import { useScrollPlace } from '../../app/use-scroll-place';
import {
  cx,
  formatZone,
  ListFoot,
  NewPill,
  RowSpacer,
  StickyTh,
  useIsPhone,
  useNow,
  useOverscan,
  usePointing,
} from '../../ui';
import { CallCard, type CallColumn, CallRow, modelPlace } from './call-row';
import { type Calls, useHeldCalls } from './use-calls';

const ROW_PX = 36;
const CARD_PX = 62;
/** Scrolled down by less than this still is the top. */
const TOP_PX = 8;

const NO_COLUMNS: readonly CallColumn[] = [];

export interface CallsTableProps {
  source: Calls;
  /** Changes with the filter. */
  resetKey: string;
  isFrozen?: boolean;
  openId: string | null;
  onOpen: (call: LlmCall) => void;
  /** Left out where every row has the same. */
  hides?: readonly CallColumn[];
  /** Instead of rows when there are none. */
  empty: ReactNode;
  className?: string;
}

export function CallsTable(props: CallsTableProps) {
  const { source, resetKey, isFrozen = false, openId, onOpen, hides = NO_COLUMNS, empty, className } = props;
  const isPhone = useIsPhone();
  const scroller = useRef<HTMLElement>(null);
  const [hold, setHold] = useState({ pointer: false, scrolled: false, focused: false });
  useRowFocus(scroller);
  const { shown, waitingCount, release } = useHeldCalls(
    source.calls,
    isFrozen || hold.pointer || hold.scrolled || hold.focused,
    resetKey,
  );
  const pointing = usePointing((pointer) => setHold((before) => ({ ...before, pointer })));
  const overscan = useOverscan(12);
  const virtualizer = useVirtualizer({
    count: shown.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => (isPhone ? CARD_PX : ROW_PX),
    overscan,
    getItemKey: (index) => shown[index]?.call_id ?? index,
  });
  useScrollPlace(scroller, source.calls.length > 0);
  const drawn = virtualizer.getVirtualItems();
  const rows = drawn.map(({ key, index }) => ({ key, index, call: shown[index] as LlmCall }));
  return (
    // The pill lies within: on its way there the pointer must not let the list go.
    <div className={cx('relative min-h-0', className)} {...pointing}>
      <NewPill
        count={waitingCount}
        onRelease={() => {
          release();
          scroller.current?.scrollTo({ top: 0 });
        }}
      />
      <section
        ref={scroller}
        aria-label="Calls, newest first"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region has to be reachable by keyboard.
        tabIndex={0}
        onScroll={(event) => {
          const scrolled = event.currentTarget.scrollTop > TOP_PX;
          if (scrolled !== hold.scrolled) setHold({ ...hold, scrolled });
        }}
        onFocus={({ target, currentTarget }) =>
          setHold((before) => ({ ...before, focused: target !== currentTarget }))
        }
        onBlur={() => setHold((before) => ({ ...before, focused: false }))}
        className="focus-inset @container h-full scroll-pt-8 overflow-y-auto"
      >
        {shown.length === 0 ? empty : null}
        {shown.length > 0 && isPhone ? (
          <ul className="relative" style={{ height: virtualizer.getTotalSize() }}>
            {rows.map(({ key, call }, at) => (
              <li
                key={key}
                className="absolute inset-x-0 top-0"
                style={{ height: CARD_PX, transform: `translateY(${drawn[at]?.start ?? 0}px)` }}
              >
                <CallCard call={call} isOpen={call.call_id === openId} onOpen={onOpen} hides={hides} />
              </li>
            ))}
          </ul>
        ) : null}
        {shown.length > 0 && !isPhone ? (
          <table
            aria-rowcount={shown.length + 1}
            className="w-full table-fixed border-separate border-spacing-0 text-xs"
          >
            <Head hides={hides} />
            <tbody>
              <RowSpacer height={drawn[0]?.start ?? 0} />
              {rows.map(({ key, index, call }) => (
                <CallRow
                  key={key}
                  call={call}
                  rowIndex={index + 2}
                  heightPx={ROW_PX}
                  isOpen={call.call_id === openId}
                  onOpen={onOpen}
                  hides={hides}
                />
              ))}
              <RowSpacer height={virtualizer.getTotalSize() - (drawn.at(-1)?.end ?? 0)} />
            </tbody>
          </table>
        ) : null}
        <ListFoot
          hasMore={source.hasOlder}
          isLoading={source.isLoadingOlder}
          onLoad={source.loadOlder}
          label="Load older calls"
        />
      </section>
    </div>
  );
}

function Head({ hides }: { hides: readonly CallColumn[] }) {
  const zone = useNow(formatZone);
  return (
    <thead className="sticky top-0 z-10">
      <tr aria-rowindex={1}>
        {/* In a narrow column the zone has a line of its own. */}
        <StickyTh className="w-30 @max-md:w-20 @max-md:whitespace-normal">Ended, {zone}</StickyTh>
        <StickyTh className="w-30">Decision</StickyTh>
        {hides.includes('agent') ? null : <StickyTh>Agent</StickyTh>}
        <StickyTh className={modelPlace(hides)}>Model</StickyTh>
        {hides.includes('session') ? null : <StickyTh className="max-xl:hidden">Session</StickyTh>}
        <StickyTh className="w-32 text-right @max-xl:hidden">Tokens in → out</StickyTh>
        <StickyTh className="w-22 text-right">Cost</StickyTh>
        {hides.includes('first_byte') ? null : (
          <StickyTh className="w-20 text-right max-lg:hidden">First byte</StickyTh>
        )}
        <StickyTh className="w-20 text-right @max-md:hidden">Took</StickyTh>
      </tr>
    </thead>
  );
}
