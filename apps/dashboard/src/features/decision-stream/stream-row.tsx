/** One step of the live tail: a line, and on request all of it. */
import { Link } from '@tanstack/react-router';
import { ChevronRight, Filter, Hand, ScanSearch } from 'lucide-react';
import { memo } from 'react';
import type { Severity, StepView } from '#contracts';
import { rowFocus } from '../../app/keyboard/use-row-focus';
import {
  Badge,
  Button,
  CodeBlock,
  CutMiddle,
  cx,
  formatClock,
  formatDuration,
  formatEntropy,
  formatExact,
  SEVERITY_LABELS,
  type Tone,
  useNow,
} from '../../ui';
import { prettyStep } from './pretty-step';
import type { StreamFilter } from './stream-filter';

const SEVERITY_BARS: Record<Severity, string> = {
  normal: 'bg-transparent',
  warning: 'bg-[#f59e0b]',
  loop: 'bg-[#ef4444]',
};

/** What went well is most of it, and has no colour, so that what did not stands out. */
const STATUS_CLASSES = {
  success: 'text-muted',
  failure: 'text-danger',
  pending: 'text-accent',
  skipped: 'text-muted',
} as const;

const SEVERITY_TONES: Record<Severity, Tone> = { normal: 'neutral', warning: 'warning', loop: 'danger' };

/** How wide what a row shows is, and its heading above it; a phone, which has no columns, places it otherwise. */
export const STREAM_COLUMNS = {
  // In a narrow window no wider than a time, so that a long zone has a line of its own.
  received: 'shrink-0 md:w-20 xl:w-28',
  agent: 'w-36 shrink-0',
  status: 'w-14 shrink-0',
  tool: 'w-36 shrink-0 xl:w-56',
  intent: 'min-w-0 flex-1',
  took: 'w-14 shrink-0 text-right',
} as const;

interface StreamRowProps {
  step: StepView;
  isOpen: boolean;
  onToggle: (step: StepView) => void;
  onFilter: (change: Partial<StreamFilter>) => void;
}

export const StreamRow = memo(function StreamRow({ step, isOpen, onToggle, onFilter }: StreamRowProps) {
  const severity = step.cognition.entropy_severity ?? 'normal';
  const received = useNow((nowMs) => formatClock(step.gateway.received_at_ms, nowMs));
  return (
    <div data-testid="stream-row" className={cx('relative border-line border-b', isOpen && 'bg-sunken')}>
      <span aria-hidden="true" className={cx('absolute inset-y-0 left-0 w-[3px]', SEVERITY_BARS[severity])} />
      <button
        type="button"
        {...rowFocus}
        aria-expanded={isOpen}
        onClick={() => onToggle(step)}
        className="focus-inset flex h-8 w-full min-w-0 items-center gap-3 pr-3 pl-3.5 text-left text-xs hover:bg-hover max-md:h-auto max-md:flex-wrap max-md:gap-x-2 max-md:gap-y-0 max-md:py-2"
      >
        <ChevronRight
          size={13}
          aria-hidden="true"
          className={cx('shrink-0 text-faint transition-transform max-md:hidden', isOpen && 'rotate-90')}
        />
        <time
          dateTime={new Date(step.gateway.received_at_ms).toISOString()}
          title={formatExact(step.gateway.received_at_ms)}
          className={cx(STREAM_COLUMNS.received, 'nums font-mono text-2xs text-muted')}
        >
          {received}
        </time>
        <span
          title={step.identity.agent_id}
          className={cx(STREAM_COLUMNS.agent, 'font-medium max-md:w-auto max-md:max-w-[45%]')}
        >
          <CutMiddle text={step.identity.agent_id} />
        </span>
        <span
          className={cx(
            STREAM_COLUMNS.status,
            'max-md:ml-auto max-md:w-auto',
            STATUS_CLASSES[step.action.status],
          )}
        >
          {step.action.status}
        </span>
        <span
          title={step.action.tool_call ?? undefined}
          className={cx(
            STREAM_COLUMNS.tool,
            'truncate font-mono text-2xs text-muted max-md:order-last',
            // Where there is a column for it, something stands in it; on a phone the line ends there all the same.
            step.action.tool_call
              ? 'max-md:w-auto max-md:max-w-[40%]'
              : 'max-md:invisible max-md:h-0 max-md:w-full',
          )}
        >
          {step.action.tool_call || 'no tool'}
        </span>
        <span className={cx(STREAM_COLUMNS.intent, 'truncate max-md:order-last max-md:basis-[50%]')}>
          {step.cognition.intent}
        </span>
        <Marks step={step} severity={severity} />
        <span className={cx(STREAM_COLUMNS.took, 'nums text-muted max-md:hidden')}>
          {typeof step.action.duration_ms === 'number' ? formatDuration(step.action.duration_ms) : ''}
        </span>
      </button>
      {isOpen ? <WholeStep step={step} onFilter={onFilter} /> : null}
    </div>
  );
});

function Marks({ step, severity }: { step: StepView; severity: Severity }) {
  return (
    <span className="flex shrink-0 items-center gap-1.5 max-md:order-last">
      {step.gateway.held ? (
        <Badge tone="paused" icon={<Hand size={11} aria-hidden="true" />}>
          Held
        </Badge>
      ) : null}
      {step.gateway.rewritten_by ? <Badge tone="paused">Rewritten</Badge> : null}
      {severity === 'normal' ? null : (
        <Badge tone={SEVERITY_TONES[severity]}>
          {SEVERITY_LABELS[severity]} {formatEntropy(step.cognition.entropy_score ?? 0)}
        </Badge>
      )}
    </span>
  );
}

function WholeStep({ step, onFilter }: { step: StepView; onFilter: StreamRowProps['onFilter'] }) {
  const { agent_id } = step.identity;
  const { session_id } = step.gateway;
  const tool = step.action.tool_call;
  const icon = <Filter size={12} aria-hidden="true" />;
  return (
    <div className="flex flex-col gap-2 px-3.5 pb-3">
      <div className="flex flex-wrap items-center gap-1.5 pt-1">
        <Link
          to="/sessions/$sessionId"
          params={{ sessionId: session_id }}
          className="inline-flex h-7 items-center gap-1.5 rounded-md bg-accent-solid px-2.5 font-medium text-white text-xs hover:bg-accent-solid-hover max-md:h-9"
        >
          <ScanSearch size={13} aria-hidden="true" />
          Inspect session
        </Link>
        <Button size="sm" icon={icon} onClick={() => onFilter({ agent: agent_id })}>
          Only this agent
        </Button>
        <Button size="sm" icon={icon} onClick={() => onFilter({ session: session_id })}>
          Only this session
        </Button>
        {tool ? (
          <Button size="sm" icon={icon} onClick={() => onFilter({ tool })}>
            Only this tool
          </Button>
        ) : null}
      </div>
      <CodeBlock code={prettyStep(step)} label="step as JSON" className="[&>section]:max-h-[26rem]" />
    </div>
  );
}
