/** One looping session: what it repeats, since when, who has it in hand, and the button. @see FR-9.10 */
import { Link, useRouter } from '@tanstack/react-router';
import { ArrowRight, Pause } from 'lucide-react';
import { memo, useEffect } from 'react';
import type { AlertGroup, SessionView } from '#contracts';
import { Badge, Button, cx, formatScore, plural, RelativeTime, truncateMiddle } from '../../ui';
import { ControlBadge } from '../hitl-console/control-badge';
import { isStoppedState, MODE_TEXTS } from '../hitl-console/control-texts';
import { usePauseAndInspect } from '../hitl-console/use-pause-and-inspect';
import { describeTuple } from './window-dots';

interface AlertRowProps {
  group: AlertGroup;
  /** Undefined when the alert arrived before its session's row. */
  session: SessionView | undefined;
}

/** "Entropy loop: score 0.2, search · grep · failure": goes into the audit. */
export const pauseReason = ({ latest }: AlertGroup): string =>
  `Entropy loop: score ${formatScore(latest.entropy_score)}, ${describeTuple(latest.repeated_pattern)}`;

export const AlertRow = memo(function AlertRow({ group, session }: AlertRowProps) {
  usePaintedMark(group.session_id);
  const { session_id } = group;
  const pausing = usePauseAndInspect();
  const isStopped = session !== undefined && isStoppedState(session.control.state);
  const isObserveOnly = session?.control.mode === 'observe_only' && !isStopped;
  return (
    <li
      data-testid="alert-row"
      data-session-id={session_id}
      className="animate-arrive border-line border-b px-3 py-1.5 last:border-b-0"
    >
      <div className="flex min-h-10 items-center gap-3 max-md:flex-wrap max-md:gap-x-2 max-md:gap-y-1">
        <Score group={group} isStopped={isStopped} />
        <div className="flex w-44 min-w-0 shrink-0 flex-col max-md:w-auto max-md:flex-1">
          <Link
            to="/sessions/$sessionId"
            params={{ sessionId: session_id }}
            title={session_id}
            className="truncate font-medium font-mono text-xs hover:underline"
          >
            {truncateMiddle(session_id, 24)}
          </Link>
          <span className="truncate text-muted text-xs">{group.agent_id}</span>
        </div>
        <div className="min-w-0 flex-1 max-md:order-1 max-md:basis-full">
          <Pattern group={group} />
          <Note isObserveOnly={isObserveOnly} failure={pausing.failure} />
        </div>
        <span className="nums shrink-0 text-right text-muted text-xs">
          <RelativeTime atMs={group.first_at_ms} />
          <br className="max-md:hidden" />
          <span className="max-md:ml-2">{plural(group.alert_count, 'alert')}</span>
        </span>
        {session && isStopped ? <ControlBadge control={session.control} className="max-w-40" /> : null}
        <PauseButton group={group} session={session} isStopped={isStopped} pausing={pausing} />
      </div>
    </li>
  );
});

/** Second line of the row, so that a failure does not make it higher and move the rows below. */
function Note({ isObserveOnly, failure }: { isObserveOnly: boolean; failure: string | null }) {
  if (failure) {
    return (
      <p role="alert" title={failure} className="truncate text-danger text-xs max-md:whitespace-normal">
        Not paused: {failure}
      </p>
    );
  }
  if (!isObserveOnly) return null;
  return (
    <p className="truncate text-muted text-xs max-md:whitespace-normal" title={MODE_TEXTS.observe_only}>
      {MODE_TEXTS.observe_only}
    </p>
  );
}

function Score({ group, isStopped }: { group: AlertGroup; isStopped: boolean }) {
  return (
    <span
      title="Entropy: distinct steps over steps in the window"
      className={cx(
        'nums inline-flex h-7 w-12 shrink-0 items-center justify-center rounded-md font-semibold',
        isStopped ? 'bg-sunken text-muted' : 'bg-danger-soft text-danger',
      )}
    >
      <span className="sr-only">Score </span>
      {formatScore(group.latest.entropy_score)}
    </span>
  );
}

function Pattern({ group }: { group: AlertGroup }) {
  const { intent, tool_call, action_status } = group.latest.repeated_pattern;
  return (
    <div className="flex min-w-0 items-center gap-2" title={describeTuple(group.latest.repeated_pattern)}>
      <span className="nums shrink-0 font-semibold">×{group.latest.occurrence_count}</span>
      <span className="truncate">{intent}</span>
      {tool_call ? <span className="truncate font-mono text-muted text-xs">{tool_call}</span> : null}
      <Badge tone={action_status === 'failure' ? 'danger' : 'neutral'}>{action_status}</Badge>
    </div>
  );
}

interface PauseButtonProps extends AlertRowProps {
  isStopped: boolean;
  pausing: ReturnType<typeof usePauseAndInspect>;
}

function PauseButton({ group, session, isStopped, pausing }: PauseButtonProps) {
  const router = useRouter();
  const { session_id } = group;
  const target = { to: '/sessions/$sessionId', params: { sessionId: session_id } } as const;
  const isDone = isStopped || session?.ended === true;
  const preload = () => void router.preloadRoute(target);
  if (isDone) {
    return (
      <Button
        data-testid="pause-and-inspect"
        className="w-40 max-md:order-2 max-md:h-11 max-md:w-full"
        icon={<ArrowRight size={14} aria-hidden="true" />}
        aria-label={`Inspect ${session_id}`}
        onPointerEnter={preload}
        onClick={() => void router.navigate(target)}
      >
        Inspect
      </Button>
    );
  }
  return (
    <Button
      data-testid="pause-and-inspect"
      variant="primary"
      className="w-40 max-md:order-2 max-md:h-11 max-md:w-full"
      icon={<Pause size={14} aria-hidden="true" />}
      busy={pausing.busy}
      disabledReason={pausing.denial}
      aria-label={`Pause and Inspect ${session_id}`}
      onPointerEnter={preload}
      onFocus={preload}
      onClick={() => void pausing.pause(session_id, pauseReason(group))}
    >
      Pause and Inspect
    </Button>
  );
}

/** Marks the moment after the frame in which the row first was painted; read by the benchmark. */
function usePaintedMark(sessionId: string): void {
  useEffect(() => {
    const name = `alert-painted:${sessionId}`;
    if (performance.getEntriesByName(name).length > 0) return;
    const frame = requestAnimationFrame(() => {
      const channel = new MessageChannel();
      channel.port1.onmessage = () => performance.mark(name);
      channel.port2.postMessage(null);
    });
    return () => cancelAnimationFrame(frame);
  }, [sessionId]);
}
