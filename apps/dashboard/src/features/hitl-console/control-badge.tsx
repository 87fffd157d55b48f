/**
 * Who has a session in hand. A stopped session says so loudly and names the operator, or that it waits for one; a running
 * one says its mode. One whose agent never heard of an operator's pause is not stopped, and says that.
 */
import { Ban, Eye, Hand, Pause, ShieldCheck, UserRound } from 'lucide-react';
import { type ControlView, isStoppedState } from '#contracts';
import { Badge, cx } from '../../ui';
import {
  askText,
  isUnheardPause,
  MODE_LABELS,
  reasonText,
  STATE_LABELS,
  stateText,
  waitsForPerson,
} from './control-texts';

const UNHEARD_LABEL = 'Only messages held';

const modeIcons = { enforced: ShieldCheck, cooperative: Hand, observe_only: Eye } as const;

export function ModeLabel({ mode }: Pick<ControlView, 'mode'>) {
  const Icon = modeIcons[mode] ?? Eye;
  return (
    <span className="inline-flex items-center gap-1 text-muted text-xs whitespace-nowrap">
      <Icon size={12} aria-hidden="true" />
      {MODE_LABELS[mode]}
    </span>
  );
}

interface ControlBadgeProps {
  control: ControlView;
  /** Shows the mode of an active session instead of "Active". */
  prefersMode?: boolean;
  className?: string;
  'data-testid'?: string;
}

export function ControlBadge({ control, prefersMode = false, className, ...rest }: ControlBadgeProps) {
  const { state } = control;
  if (state === 'active' && prefersMode) return <ModeLabel mode={control.mode} />;
  if (isUnheardPause(control)) {
    return waitsForPerson(control) ? (
      <span
        {...rest}
        data-state={state}
        className={cx('flex min-w-0 flex-wrap items-center gap-x-1.5 max-md:justify-end', className)}
      >
        <StoppedBadge control={control} />
        <span className="inline-flex items-center gap-1 pl-1.5 text-2xs text-warning leading-3">
          <Eye size={11} aria-hidden="true" />
          {UNHEARD_LABEL}
        </span>
      </span>
    ) : (
      <Badge
        {...rest}
        data-state={state}
        tone="warning"
        icon={<Eye size={11} aria-hidden="true" />}
        title={stateText(control)}
        className={className}
      >
        <span className="truncate">{UNHEARD_LABEL}</span>
      </Badge>
    );
  }
  if (isStoppedState(state)) return <StoppedBadge {...rest} control={control} className={className} />;
  return (
    <Badge
      {...rest}
      data-state={state}
      tone={state === 'active' ? 'success' : 'neutral'}
      icon={state === 'terminated' ? <Ban size={11} aria-hidden="true" /> : null}
      className={className}
    >
      {STATE_LABELS[state]}
    </Badge>
  );
}

/** Whom it waits for, or who stopped it. */
function StoppedBadge({ control, className, ...rest }: Omit<ControlBadgeProps, 'prefersMode'>) {
  const { state, operator_id } = control;
  const waits = waitsForPerson(control);
  const Icon = waits ? UserRound : Pause;
  return (
    <span
      data-state={state}
      {...rest}
      title={titleOf(control)}
      className={cx(
        'inline-flex h-5 min-w-0 items-center gap-1 rounded px-1.5 font-medium text-2xs whitespace-nowrap',
        state === 'paused' || waits
          ? 'bg-paused-solid text-white'
          : 'border border-paused-line bg-paused-soft text-paused',
        className,
      )}
    >
      <Icon size={11} aria-hidden="true" className="shrink-0" />
      <span className="truncate">
        {waits ? 'Waits for a person' : `${STATE_LABELS[state]}${operator_id ? ` · ${operator_id}` : ''}`}
      </span>
    </span>
  );
}

/** Why it was stopped, and whether its agent goes on all the same. */
function titleOf(control: ControlView): string | undefined {
  const caution = isUnheardPause(control) ? stateText(control) : null;
  return (
    [reasonText(control.reason), askText(control), caution].filter((text) => text !== null).join('. ') ||
    undefined
  );
}
