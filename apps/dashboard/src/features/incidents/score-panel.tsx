/** The score broken down: what was counted, its weight, and how far above the threshold it came. */
import type { Incident } from '#contracts';
import { cx, formatCount, formatScore, Panel } from '../../ui';
import { type ScoreSignal, scoreTerms } from './score';

/** One hue per signal, the same in the bar, the terms and the evidence. */
const SIGNAL_FILLS: Record<ScoreSignal, string> = {
  similar_prompts: 'bg-accent-solid',
  similar_responses: 'bg-paused-solid',
  repeated_tool_calls: 'bg-[#d97706]',
};

export function ScorePanel({ incident }: { incident: Incident }) {
  const { breakdown, threshold, window_size } = incident;
  const terms = scoreTerms(breakdown);
  const scale = Math.max(breakdown.score, threshold) * 1.05 || 1;
  return (
    <Panel
      title="Score"
      aside={
        <span className="nums text-muted text-xs">over the last {formatCount(window_size)} requests</span>
      }
    >
      <div className="grid grid-cols-[1fr_auto_1fr_auto_1fr_auto_1.1fr] items-stretch gap-2 max-md:grid-cols-3">
        {terms.map(({ signal, label, count, weight, points }, index) => (
          <div key={signal} className="contents">
            {index > 0 ? <Operator>+</Operator> : null}
            <div className="min-w-0 rounded-md border border-line bg-sunken px-2.5 py-2">
              <p className="flex items-center gap-1.5 text-2xs text-muted">
                <span aria-hidden="true" className={cx('size-2 shrink-0 rounded-sm', SIGNAL_FILLS[signal])} />
                {label}
              </p>
              <p className="nums flex flex-wrap items-baseline gap-x-2">
                <span className="font-semibold text-lg">{formatScore(points)}</span>
                <span className="text-muted text-xs">
                  {count} × {formatScore(weight)}
                </span>
              </p>
            </div>
          </div>
        ))}
        <Operator>=</Operator>
        <div className="min-w-0 rounded-md border border-danger-line bg-danger-soft px-2.5 py-2 max-md:col-span-3">
          <p className="text-2xs text-danger">Score</p>
          <p className="nums flex flex-wrap items-baseline gap-x-2 text-danger">
            <span className="font-semibold text-lg">{formatScore(breakdown.score)}</span>
            <span className="text-xs">above the threshold of {formatScore(threshold)}</span>
          </p>
        </div>
      </div>
      <div aria-hidden="true" className="relative mt-3 flex h-2 overflow-hidden rounded-full bg-line">
        {terms.map(({ signal, points }) => (
          <span
            key={signal}
            className={cx('h-full', SIGNAL_FILLS[signal])}
            style={{ width: `${(points / scale) * 100}%` }}
          />
        ))}
        <span
          className="absolute inset-y-0 w-0.5 bg-fg"
          style={{ left: `calc(${(threshold / scale) * 100}% - 1px)` }}
        />
      </div>
    </Panel>
  );
}

function Operator({ children }: { children: string }) {
  return (
    <span aria-hidden="true" className="self-center text-center text-lg text-muted max-md:hidden">
      {children}
    </span>
  );
}
