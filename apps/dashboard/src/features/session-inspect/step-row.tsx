/** One step of the timeline; opens to show everything the agent said about it. */
import { ChevronRight } from 'lucide-react';
import { memo } from 'react';
import type { ActionStatus, StepView } from '#contracts';
import { rowFocus } from '../../app/keyboard/use-row-focus';
import { Badge, cx, formatDuration, formatEntropy, RelativeTime, type Tone } from '../../ui';
import { STATUS_COLOURS } from '../session-clusters/window-dots';
import { StepBody } from './step-body';

export const STATUS_TONES: Record<ActionStatus, Tone> = {
  success: 'success',
  failure: 'danger',
  pending: 'accent',
  skipped: 'neutral',
};

interface StepRowProps {
  step: StepView;
  isOpen: boolean;
  onToggle: (seq: number) => void;
}

export const StepRow = memo(function StepRow({ step, isOpen, onToggle }: StepRowProps) {
  const { action, cognition, gateway } = step;
  return (
    <div
      data-testid="step-row"
      className={cx(
        'border-line border-b',
        gateway.held && 'border-l-[3px] border-l-paused-solid bg-paused-soft/40',
      )}
    >
      <button
        type="button"
        {...rowFocus}
        aria-expanded={isOpen}
        onClick={() => onToggle(gateway.seq)}
        className={cx(
          'focus-inset flex min-h-9 w-full items-center gap-2.5 py-1.5 pr-3 text-left hover:bg-hover',
          gateway.held ? 'pl-[9px]' : 'pl-3',
        )}
      >
        <ChevronRight
          size={13}
          aria-hidden="true"
          className={cx('shrink-0 text-faint transition-transform', isOpen && 'rotate-90')}
        />
        <span
          aria-hidden="true"
          className={cx('says-by-colour size-2 shrink-0 rounded-full', STATUS_COLOURS[action.status])}
        />
        <span className="min-w-0 flex-1 truncate">
          <bdi className="font-medium">{cognition.intent}</bdi>
          {action.tool_call ? (
            <bdi className="ml-2 font-mono text-muted text-xs">{action.tool_call}</bdi>
          ) : null}
          {action.tool_output_summary ? (
            <bdi className="ml-2 text-faint text-xs max-md:hidden">{action.tool_output_summary}</bdi>
          ) : null}
        </span>
        {gateway.held ? <Badge tone="paused">Held</Badge> : null}
        {gateway.rewritten_by ? <Badge tone="accent">Rewritten</Badge> : null}
        <SeverityScore step={step} />
        <Badge tone={STATUS_TONES[action.status]} className="min-w-16 justify-center max-md:hidden">
          {action.status}
        </Badge>
        <span className="nums w-18 shrink-0 text-right text-faint text-xs whitespace-nowrap max-xl:hidden">
          {typeof action.duration_ms === 'number' ? formatDuration(action.duration_ms) : ''}
        </span>
        <span className="w-14 shrink-0 text-right text-muted text-xs">
          <RelativeTime atMs={gateway.received_at_ms} short />
        </span>
      </button>
      {isOpen ? <StepBody step={step} /> : null}
    </div>
  );
});

function SeverityScore({ step }: { step: StepView }) {
  const { entropy_score, entropy_severity } = step.cognition;
  if (typeof entropy_score !== 'number') return null;
  return (
    <span
      title={`Entropy score after this step: ${entropy_score}`}
      className={cx(
        'nums shrink-0 text-xs',
        entropy_severity === 'loop' && 'font-semibold text-danger',
        entropy_severity === 'warning' && 'text-warning',
        (!entropy_severity || entropy_severity === 'normal') && 'text-faint',
      )}
    >
      {formatEntropy(entropy_score)}
    </span>
  );
}
