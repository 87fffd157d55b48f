/** The colour of a node's state, as on the fleet map, and of a pause. Unknown states render as idle. */
import { NODE_COLOURS, type NodeState } from '#contracts';
import { cx } from './cx';

/** A state of control rather than of an agent: a person has it in hand. */
export const PAUSED = 'paused';
/** Such a pause in which its agent, or the gateway for it, asks for somebody. */
export const WAITING = 'waiting';

const PAUSE_LABELS = new Map([
  [PAUSED, 'Paused'],
  [WAITING, 'Waits for a person'],
]);

const NODE_STATE_LABELS: Record<NodeState, string> = {
  idle: 'Idle',
  active: 'Active',
  blocked: 'Warning',
  alert_entropy: 'Loop',
  schema_violation: 'Schema violation',
  dead: 'Ended',
};

/** What a later gateway may send and this page does not know is shown as idle. */
const shownState = (state: string): NodeState =>
  Object.hasOwn(NODE_COLOURS, state) ? (state as NodeState) : 'idle';

export const nodeColour = (state: string): string =>
  PAUSE_LABELS.has(state) ? 'var(--paused-solid)' : NODE_COLOURS[shownState(state)];
export const nodeLabel = (state: string): string =>
  PAUSE_LABELS.get(state) ?? NODE_STATE_LABELS[shownState(state)];

interface StateDotProps {
  state: string;
  /** Why a loop burns no more, in words: it is a ring then, and does not flash. Other states take no notice. */
  rest?: string | undefined;
  /** Instead of the state's name. */
  label?: string;
  /** Shows the state's name beside the dot; otherwise it is the dot's accessible name. */
  withLabel?: boolean;
  className?: string;
}

export function StateDot({ state, rest, label, withLabel = false, className }: StateDotProps) {
  const isLoop = state === 'alert_entropy';
  const rests = isLoop && rest !== undefined;
  const colour = nodeColour(state);
  const dot = (
    <span
      aria-hidden="true"
      className={cx(
        'says-by-colour size-2 shrink-0 rounded-full',
        isLoop && !rests && 'flashes',
        state === 'dead' && 'ring-1 ring-line-strong',
      )}
      style={rests ? { boxShadow: `inset 0 0 0 2px ${colour}` } : { backgroundColor: colour }}
    />
  );
  return (
    <span className={cx('inline-flex items-center gap-1.5', className)}>
      {dot}
      <span className={withLabel ? undefined : 'sr-only'}>{rests ? rest : (label ?? nodeLabel(state))}</span>
    </span>
  );
}
