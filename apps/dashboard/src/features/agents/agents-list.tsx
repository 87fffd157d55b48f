/** The agents in order, virtualised: a table on a desktop, cards on a phone. Holds its order while pointed at. */
import { useVirtualizer } from '@tanstack/react-virtual';
import { useRef } from 'react';
import { useRowFocus } from '../../app/keyboard/use-row-focus';
import { useScrollPlace } from '../../app/use-scroll-place';
import type { AgentsData } from '../../realtime';
import { cx, NewPill, RowSpacer, StickyTh, useIsPhone, useOverscan, usePointing } from '../../ui';
import { useShownOrder } from '../session-clusters/shown-order';
import { SPAN_LABELS } from './agent-meters';
import { AgentCard, AgentRow } from './agent-row';

const ROW_PX = 52;
const CARD_PX = 132;
const CARD_GAP_PX = 8;

interface AgentsListProps {
  agents: AgentsData;
  /** Ids in the order they would have now. */
  target: readonly string[];
  isHeld: boolean;
  onHold: (isHeld: boolean) => void;
  resetKey: string;
}

export function AgentsList({ agents, target, isHeld, onHold, resetKey }: AgentsListProps) {
  const isPhone = useIsPhone();
  const scroller = useRef<HTMLElement>(null);
  useRowFocus(scroller);
  const { order, waiting, release } = useShownOrder(target, agents, isHeld, resetKey);
  const pointing = usePointing(onHold);
  const overscan = useOverscan(8);
  const virtualizer = useVirtualizer({
    count: order.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => (isPhone ? CARD_PX + CARD_GAP_PX : ROW_PX),
    overscan,
    getItemKey: (index) => order[index] ?? index,
  });
  useScrollPlace(scroller, target.length > 0);
  const drawn = virtualizer.getVirtualItems();
  return (
    // The pill lies within: on its way there the pointer must not let the list go.
    <div className="relative min-h-0 flex-1" {...pointing}>
      <NewPill count={waiting.newCount} onRelease={release} />
      <section
        ref={scroller}
        aria-label="Agents"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region has to be reachable by keyboard.
        tabIndex={0}
        className={cx('focus-inset h-full scroll-pt-8 overflow-y-auto', isPhone ? 'p-3' : 'bg-surface')}
      >
        {isPhone ? (
          <ul className="relative" style={{ height: virtualizer.getTotalSize() }}>
            {drawn.map(({ key, index, start }) => {
              const agent = agents.get(order[index] ?? '');
              return agent ? (
                <li
                  key={key}
                  className="absolute inset-x-0 top-0"
                  style={{ height: CARD_PX, transform: `translateY(${start}px)` }}
                >
                  <AgentCard agent={agent} />
                </li>
              ) : null;
            })}
          </ul>
        ) : (
          <table
            aria-rowcount={order.length + 1}
            className="w-full table-fixed border-separate border-spacing-0 text-xs"
          >
            <Head />
            <tbody>
              <RowSpacer height={drawn[0]?.start ?? 0} />
              {drawn.map(({ key, index }) => {
                const agent = agents.get(order[index] ?? '');
                return agent ? (
                  <AgentRow key={key} agent={agent} rowIndex={index + 2} heightPx={ROW_PX} />
                ) : null;
              })}
              <RowSpacer height={virtualizer.getTotalSize() - (drawn.at(-1)?.end ?? 0)} />
            </tbody>
          </table>
        )}
      </section>
    </div>
  );
}

const HEADINGS: readonly { label: string; className?: string }[] = [
  { label: 'Agent' },
  { label: 'State', className: 'w-32 max-xl:w-28' },
  { label: SPAN_LABELS.hour, className: 'w-32 text-right max-xl:hidden' },
  { label: SPAN_LABELS.day, className: 'w-32 text-right max-xl:w-28' },
  { label: SPAN_LABELS.month, className: 'w-32 text-right max-xl:w-28 max-lg:hidden' },
  { label: 'Kill switch', className: 'w-28' },
  { label: 'Calls/min', className: 'w-24 text-right max-lg:hidden' },
  { label: 'Errors, 5 min', className: 'w-28 text-right' },
  { label: 'Last call', className: 'w-20 text-right max-xl:hidden' },
];

function Head() {
  return (
    <thead className="sticky top-0 z-10">
      <tr aria-rowindex={1}>
        {HEADINGS.map(({ label, className }) => (
          <StickyTh key={label} className={className}>
            {label}
          </StickyTh>
        ))}
      </tr>
    </thead>
  );
}
