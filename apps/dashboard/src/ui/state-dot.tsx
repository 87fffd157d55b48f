/** The colour of a node's state, as on the fleet map. Unknown states render as idle. */
import { NODE_COLOURS, type NodeState } from '#contracts';
import { cx } from './cx';

export const NODE_STATE_LABELS: Record<NodeState, string> = {
  idle: 'Idle',
  active: 'Active',
  blocked: 'Repeating',
  alert_entropy: 'Looping',
  schema_violation: 'Schema violation',
  dead: 'Ended',
};

/** What a later gateway may send and this page does not know is shown as idle. */
const shownState = (state: string): NodeState =>
  Object.hasOwn(NODE_COLOURS, state) ? (state as NodeState) : 'idle';

export const nodeColour = (state: string): string => NODE_COLOURS[shownState(state)];
export const nodeLabel = (state: string): string => NODE_STATE_LABELS[shownState(state)];

interface StateDotProps {
  state: string;
  /** Shows the state's name beside the dot; otherwise it is the dot's accessible name. */
  withLabel?: boolean;
  className?: string;
}

export function StateDot({ state, withLabel = false, className }: StateDotProps) {
  const dot = (
    <span
      aria-hidden="true"
      className={cx('size-2 shrink-0 rounded-full', state === 'alert_entropy' && 'flashes')}
      style={{ backgroundColor: nodeColour(state) }}
    />
  );
  return (
    <span className={cx('inline-flex items-center gap-1.5', className)}>
      {dot}
      <span className={withLabel ? undefined : 'sr-only'}>{nodeLabel(state)}</span>
    </span>
  );
}
