/** Which step caused which (`parent_step_id`), oldest at the top; a chain is one line, a fan-out branches. */
import { useMemo } from 'react';
import type { SessionDetail } from '#contracts';
import { cx, EmptyState, RelativeTime } from '../../ui';
import { STATUS_COLOURS } from '../session-clusters/window-dots';
import { type CausalRow, layoutCauses } from './causal-layout';

/** The newest steps; more would be a wall, and the timeline has them all. */
const STEPS_SHOWN_MAX = 200;
const ROW_PX = 30;
const LANE_PX = 18;
const EDGE_PX = 14;

interface CausalGraphProps {
  detail: SessionDetail;
  onOpenStep: (seq: number) => void;
}

const x = (lane: number): number => EDGE_PX + lane * LANE_PX;
const y = (row: number): number => row * ROW_PX + ROW_PX / 2;

/** Straight down in one lane, else a curve into the child's lane. */
function edgePath(parent: CausalRow, parentRow: number, child: CausalRow, row: number): string {
  if (parent.lane === child.lane) return `M${x(parent.lane)} ${y(parentRow)}V${y(row)}`;
  const bend = y(parentRow) + ROW_PX;
  return `M${x(parent.lane)} ${y(parentRow)}C${x(parent.lane)} ${bend} ${x(child.lane)} ${y(parentRow)} ${x(child.lane)} ${bend}V${y(row)}`;
}

export function CausalGraph({ detail, onOpenStep }: CausalGraphProps) {
  const { rows, laneCount } = useMemo(() => {
    const all = [...detail.steps, ...detail.held].sort((a, b) => a.gateway.seq - b.gateway.seq);
    return layoutCauses(all.slice(-STEPS_SHOWN_MAX));
  }, [detail.steps, detail.held]);
  if (rows.length === 0) return <EmptyState title="No steps yet" />;
  const width = x(Math.max(laneCount - 1, 0)) + EDGE_PX;
  const isFlat = rows.every((row) => row.parentRow === null);
  return (
    <div className="h-full overflow-auto p-2">
      {isFlat ? (
        <p className="px-2 pb-2 text-muted text-xs">
          No step names its cause: the agent sends no meta.parent_step_id.
        </p>
      ) : null}
      <div className="relative">
        <svg
          aria-hidden="true"
          width={width}
          height={rows.length * ROW_PX}
          className="pointer-events-none absolute top-0 left-0 text-line-strong"
        >
          {rows.map((row, index) => {
            const parent = row.parentRow === null ? undefined : rows[row.parentRow];
            if (!parent || row.parentRow === null) return null;
            return (
              <path
                key={row.step.gateway.seq}
                d={edgePath(parent, row.parentRow, row, index)}
                fill="none"
                stroke="currentColor"
                strokeWidth={1.75}
              />
            );
          })}
        </svg>
        <ol>
          {rows.map((row) => (
            <GraphRow key={row.step.gateway.seq} row={row} width={width} onOpenStep={onOpenStep} />
          ))}
        </ol>
      </div>
    </div>
  );
}

interface GraphRowProps {
  row: CausalRow;
  width: number;
  onOpenStep: (seq: number) => void;
}

function GraphRow({ row, width, onOpenStep }: GraphRowProps) {
  const { step, lane, hasForeignParent } = row;
  return (
    <li className="relative" style={{ height: ROW_PX }}>
      <span
        aria-hidden="true"
        className={cx(
          'says-by-colour absolute top-1/2 size-2.5 -translate-x-1/2 -translate-y-1/2 rounded-full ring-2 ring-surface',
          STATUS_COLOURS[step.action.status],
        )}
        style={{ left: x(lane) }}
      />
      <button
        type="button"
        onClick={() => onOpenStep(step.gateway.seq)}
        className="focus-inset flex h-full w-full items-center gap-2 rounded pr-2 text-left hover:bg-hover"
        style={{ paddingLeft: width }}
      >
        <span className="truncate">{step.cognition.intent}</span>
        {step.action.tool_call ? (
          <span className="truncate font-mono text-muted text-xs">{step.action.tool_call}</span>
        ) : null}
        {hasForeignParent ? <span className="shrink-0 text-faint text-xs">caused elsewhere</span> : null}
        {step.gateway.held ? <span className="shrink-0 text-paused text-xs">held</span> : null}
        <span className="ml-auto shrink-0 text-faint text-xs">
          {step.action.status} · <RelativeTime atMs={step.gateway.received_at_ms} short />
        </span>
      </button>
    </li>
  );
}
