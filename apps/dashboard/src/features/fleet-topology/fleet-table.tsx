/** The fleet as a table: for screen readers, for thousands of agents, and for people who like tables. Virtualised. */
import { Link } from '@tanstack/react-router';
import { useVirtualizer } from '@tanstack/react-virtual';
import { ArrowDown } from 'lucide-react';
import { useMemo, useRef, useState } from 'react';
import { rowFocus, useRowFocus } from '../../app/keyboard/use-row-focus';
import { useScrollPlace } from '../../app/use-scroll-place';
import { Badge, CutMiddle, cx, RelativeTime, RowSpacer, StateDot, StickyTh, useOverscan } from '../../ui';
import { dotOf, type FleetNode, fleetLabel } from './fleet-nodes';
import { type FleetSort, orderFleet } from './fleet-order';
import { StepCount } from './step-count';

const ROW_PX = 40;
interface FleetTableProps {
  nodes: readonly FleetNode[];
  selectedId: string | null;
  onSelect: (nodeId: string) => void;
}

export function FleetTable({ nodes, selectedId, onSelect }: FleetTableProps) {
  const [sort, setSort] = useState<FleetSort>('state');
  const rows = useMemo(() => orderFleet(nodes, sort), [nodes, sort]);
  const scroller = useRef<HTMLDivElement>(null);
  useRowFocus(scroller);
  const overscan = useOverscan(12);
  const virtualizer = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_PX,
    overscan,
    getItemKey: (index) => rows[index]?.node_id ?? index,
  });
  useScrollPlace(scroller, rows.length > 0);
  const drawn = virtualizer.getVirtualItems();
  const above = drawn[0]?.start ?? 0;
  const below = virtualizer.getTotalSize() - (drawn.at(-1)?.end ?? 0);
  const header = { sort, onSort: setSort };
  return (
    <section
      ref={scroller}
      aria-label="Agents"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region has to be reachable by keyboard.
      tabIndex={0}
      className="focus-inset h-full scroll-pt-8 overflow-y-auto"
    >
      <table
        aria-rowcount={rows.length + 1}
        className="w-full table-fixed border-separate border-spacing-0 text-xs"
      >
        <thead className="sticky top-0 z-10">
          <tr aria-rowindex={1}>
            <Heading by="agent" label="Agent" {...header} />
            <Heading by="state" label="State" className="w-36" {...header} />
            <Heading label="Type" className="w-[10%] max-xl:hidden" {...header} />
            <Heading label="Session" className="w-[18%] max-lg:hidden" {...header} />
            <Heading label="Last intent" className="w-[20%] max-xl:hidden" {...header} />
            <Heading by="steps" label="Steps" className="w-16 text-right" {...header} />
            <Heading by="seen" label="Seen" className="w-18 text-right" {...header} />
          </tr>
        </thead>
        <tbody>
          <RowSpacer height={above} />
          {drawn.map(({ key, index }) => (
            <Row
              key={key}
              node={rows[index] as FleetNode}
              rowIndex={index + 2}
              isSelected={rows[index]?.node_id === selectedId}
              onSelect={onSelect}
            />
          ))}
          <RowSpacer height={below} />
        </tbody>
      </table>
    </section>
  );
}

interface HeadingProps {
  label: string;
  /** Absent: cannot be sorted by. */
  by?: FleetSort;
  sort: FleetSort;
  onSort: (sort: FleetSort) => void;
  className?: string;
}

function Heading({ label, by, sort, onSort, className }: HeadingProps) {
  const isOn = by !== undefined && by === sort;
  return (
    <StickyTh
      aria-sort={isOn ? (by === 'agent' || by === 'state' ? 'ascending' : 'descending') : undefined}
      className={className}
    >
      {by ? (
        <button
          type="button"
          onClick={() => onSort(by)}
          className={cx('inline-flex items-center gap-0.5 py-1 hover:text-fg', isOn && 'text-fg')}
        >
          {label}
          {isOn ? <ArrowDown size={11} aria-hidden="true" /> : null}
        </button>
      ) : (
        label
      )}
    </StickyTh>
  );
}

interface RowProps {
  node: FleetNode;
  rowIndex: number;
  isSelected: boolean;
  onSelect: (nodeId: string) => void;
}

const cell = 'truncate border-line border-b px-3';

function Row({ node, rowIndex, isSelected, onSelect }: RowProps) {
  return (
    <tr
      aria-rowindex={rowIndex}
      data-testid="fleet-row"
      data-agent-id={node.agent_id}
      data-state={node.state}
      data-rest={node.rest}
      style={{ height: ROW_PX }}
      className={isSelected ? 'bg-selected' : 'hover:bg-hover'}
    >
      <td className={cell}>
        {/* A ghost has no session, whose line its badge takes where the name has no room for both. */}
        <span className="flex min-w-0 items-center gap-x-2 leading-4 max-md:flex-wrap">
          <button
            type="button"
            {...rowFocus}
            onClick={() => onSelect(node.node_id)}
            aria-pressed={isSelected}
            aria-label={node.session_id ? `${node.agent_id}, session ${node.session_id}` : undefined}
            className="min-w-0 text-left font-medium text-base hover:text-accent"
            title={node.agent_id}
          >
            <CutMiddle text={node.agent_id} />
          </button>
          {node.ghost ? <Badge tone="warning">Ghost</Badge> : null}
        </span>
        {/* Where its column has no room: an agent has a row for each of its sessions. */}
        {node.session_id ? (
          <span className="block truncate font-mono text-2xs text-muted leading-3 lg:hidden">
            <CutMiddle text={node.session_id} charsMax={12} />
          </span>
        ) : null}
      </td>
      <td className={cell}>
        <StateDot
          state={dotOf(node)}
          rest={node.rest && fleetLabel(node)}
          label={fleetLabel(node)}
          withLabel
        />
      </td>
      <td className={cx(cell, 'text-muted max-xl:hidden')}>{node.agent_type}</td>
      <td className={cx(cell, 'font-mono max-lg:hidden')}>
        {node.session_id ? (
          <Link
            to="/sessions/$sessionId"
            params={{ sessionId: node.session_id }}
            className="text-accent hover:underline"
            title={node.session_id}
          >
            <CutMiddle text={node.session_id} charsMax={18} />
          </Link>
        ) : (
          <span className="text-muted">none</span>
        )}
      </td>
      <td className={cx(cell, 'text-muted max-xl:hidden')} title={node.last_intent}>
        {node.last_intent}
      </td>
      <td className={cx(cell, 'nums text-right')}>
        <StepCount node={node} />
      </td>
      <td className={cx(cell, 'nums text-right text-muted')}>
        <RelativeTime atMs={node.last_seen_ms} short />
      </td>
    </tr>
  );
}
