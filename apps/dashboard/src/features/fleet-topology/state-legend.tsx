/** What the colours mean, how many agents are in each state, and a filter: pressing a state shows only those. */
import type { NodeState } from '#contracts';
import { cx, formatCount, nodeColour, nodeLabel } from '../../ui';

interface StateLegendProps {
  counts: Record<NodeState, number>;
  /** Empty: all. */
  selected: readonly NodeState[];
  onChange: (states: readonly NodeState[]) => void;
}

/** Gravest first. */
const ORDER: readonly NodeState[] = [
  'alert_entropy',
  'schema_violation',
  'blocked',
  'active',
  'idle',
  'dead',
];

export function StateLegend({ counts, selected, onChange }: StateLegendProps) {
  const toggle = (state: NodeState) =>
    onChange(selected.includes(state) ? selected.filter((one) => one !== state) : [...selected, state]);
  return (
    <fieldset className="-mx-3 flex min-w-0 gap-1 overflow-x-auto px-3 py-0.5 md:mx-0 md:flex-wrap md:px-0">
      <legend className="sr-only">Show only agents that are</legend>
      {ORDER.map((state) => {
        const isOn = selected.includes(state);
        return (
          <button
            key={state}
            type="button"
            aria-pressed={isOn}
            onClick={() => toggle(state)}
            className={cx(
              'inline-flex h-7 shrink-0 items-center gap-1.5 rounded-full border px-2.5 text-xs max-md:h-9',
              isOn
                ? 'border-accent bg-accent-soft text-accent'
                : 'border-line text-muted hover:bg-hover hover:text-fg',
              selected.length > 0 && !isOn && 'border-dashed',
            )}
          >
            <span
              aria-hidden="true"
              className="size-2 rounded-full ring-1 ring-line-strong"
              style={{ backgroundColor: nodeColour(state) }}
            />
            {nodeLabel(state)}
            <span className="nums font-semibold text-fg">{formatCount(counts[state])}</span>
          </button>
        );
      })}
    </fieldset>
  );
}
