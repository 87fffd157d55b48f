/** What the colours mean, how many agents are in each state, and a filter: pressing a state shows only those. */
import { cx, formatCount, nodeColour, nodeLabel } from '../../ui';
import { ScrollSideways } from '../../ui/scroll-sideways';
import type { FleetState } from './fleet-search';

/** Not there at most times, and the row is full. */
const SHOWN_WHERE_PRESENT: readonly FleetState[] = ['loop_rests', 'paused'];

const TITLES: Partial<Record<FleetState, string>> = {
  loop_rests: 'Held, silent, or of an agent that is stopped',
  paused: 'Held by an operator, or waits for a person',
};

interface StateLegendProps {
  /** Null: not known yet. */
  counts: Record<FleetState, number> | null;
  /** Empty: all. */
  selected: readonly FleetState[];
  onChange: (states: readonly FleetState[]) => void;
}

/** Gravest first. */
const ORDER: readonly FleetState[] = [
  'alert_entropy',
  'loop_rests',
  'schema_violation',
  'paused',
  'blocked',
  'active',
  'idle',
  'dead',
];

export function StateLegend({ counts, selected, onChange }: StateLegendProps) {
  const toggle = (state: FleetState) =>
    onChange(selected.includes(state) ? selected.filter((one) => one !== state) : [...selected, state]);
  // What an operator or the kill switch made of it: explained where there is one.
  const shown = ORDER.filter(
    (state) => !SHOWN_WHERE_PRESENT.includes(state) || (counts?.[state] ?? 0) > 0 || selected.includes(state),
  );
  return (
    <div className="-mx-3 md:mx-0 short:sm:mx-0">
      <ScrollSideways>
        <fieldset className="flex gap-1 px-3 py-0.5 md:flex-wrap md:px-0 short:sm:px-0">
          <legend className="sr-only">Show only agents that are</legend>
          {shown.map((state) => {
            const isOn = selected.includes(state);
            return (
              <button
                key={state}
                type="button"
                data-testid="fleet-state"
                data-state={state}
                aria-pressed={isOn}
                title={TITLES[state]}
                onClick={() => toggle(state)}
                className={cx(
                  'inline-flex h-7 shrink-0 items-center gap-1.5 rounded-full border px-2 text-xs max-md:h-9',
                  isOn
                    ? 'border-accent bg-accent-soft text-accent'
                    : 'border-line text-muted hover:bg-hover hover:text-fg',
                  selected.length > 0 && !isOn && 'border-dashed',
                )}
              >
                <Mark state={state} />
                {state === 'loop_rests' ? 'Loop at rest' : nodeLabel(state)}
                <span className="nums font-semibold text-fg">
                  {counts ? formatCount(counts[state]) : '–'}
                </span>
              </button>
            );
          })}
        </fieldset>
      </ScrollSideways>
    </div>
  );
}

const Mark = ({ state }: { state: FleetState }) =>
  state === 'loop_rests' ? (
    <span
      aria-hidden="true"
      className="says-by-colour size-2 rounded-full"
      style={{ boxShadow: `inset 0 0 0 2px ${nodeColour('alert_entropy')}` }}
    />
  ) : (
    <span
      aria-hidden="true"
      className="says-by-colour size-2 rounded-full ring-1 ring-line-strong"
      style={{ backgroundColor: nodeColour(state) }}
    />
  );
