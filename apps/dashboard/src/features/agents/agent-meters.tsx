/** An agent's thin bars: what it has spent of its budgets, and how near its kill switch is. */
import type { AgentView } from '#contracts';
import { cx, formatCost, formatPartialCost, formatScore, Meter, meterLevel, plural } from '../../ui';

export const BUDGET_SPANS = ['hour', 'day', 'month'] as const;
export type BudgetSpan = (typeof BUDGET_SPANS)[number];

export const SPAN_LABELS: Readonly<Record<BudgetSpan, string>> = {
  hour: 'Last hour',
  day: 'Today, UTC',
  month: 'This month, UTC',
};

interface SpendBarProps {
  agent: Pick<AgentView, 'spend'>;
  span: BudgetSpan;
  /** Shows the span's name above. */
  withName?: boolean;
}

export function SpendBar({ agent, span, withName = false }: SpendBarProps) {
  const { spent_usd, unpriced_call_count, budget_usd } = agent.spend[span];
  const hasUnknown = unpriced_call_count > 0;
  const spent = formatPartialCost(spent_usd, hasUnknown);
  const text = budget_usd === null ? `${spent}, no budget` : `${spent} of ${formatCost(budget_usd)}`;
  const unknown = hasUnknown ? `. ${plural(unpriced_call_count, 'call')} of unknown cost` : '';
  const level = meterLevel(spent_usd, budget_usd);
  return (
    <span className="block min-w-0" title={`${SPAN_LABELS[span]}: ${text}${unknown}`}>
      {withName ? <span className="block text-2xs text-muted">{SPAN_LABELS[span]}</span> : null}
      {/* The budget goes below what was spent where there is no room beside it: cut, it would read as another one. */}
      <span className="nums block text-xs leading-4">
        <span
          className={cx(
            'whitespace-nowrap',
            level === 'over' && 'font-semibold text-danger',
            (level === 'near' || (hasUnknown && spent_usd <= 0)) && 'text-warning',
          )}
        >
          {formatCost(hasUnknown && spent_usd <= 0 ? null : spent_usd)}
        </span>
        {budget_usd === null ? null : (
          <>
            {' '}
            <span className="whitespace-nowrap text-faint">/ {formatCost(budget_usd)}</span>
          </>
        )}
        {hasUnknown && spent_usd > 0 ? (
          <span className="block text-2xs text-warning leading-3">+ unknown</span>
        ) : null}
      </span>
      <Meter
        label={`Spent: ${SPAN_LABELS[span]}`}
        value={spent_usd}
        limit={budget_usd}
        text={text}
        className="mt-1"
      />
    </span>
  );
}

/** The live score against the threshold; "Off" where the kill switch is. */
export function KillMeter({ agent }: { agent: Pick<AgentView, 'kill_switch'> }) {
  const { enabled, live_score, threshold } = agent.kill_switch;
  if (!enabled) return <span className="text-warning text-xs">Off</span>;
  const score = live_score ?? 0;
  const level = meterLevel(score, threshold);
  const text = `${formatScore(score)} of ${formatScore(threshold)}`;
  return (
    <span className="block min-w-0" title={`Score ${text}; fires above ${formatScore(threshold)}`}>
      <span className="nums block truncate text-xs leading-4">
        <span
          className={cx(
            level === 'over' && 'font-semibold text-danger',
            level === 'near' && 'font-semibold text-warning',
          )}
        >
          {live_score === null ? '–' : formatScore(score)}
        </span>
        <span className="text-faint"> / {formatScore(threshold)}</span>
      </span>
      <Meter label="Kill switch score" value={score} limit={threshold} text={text} className="mt-1" />
    </span>
  );
}
