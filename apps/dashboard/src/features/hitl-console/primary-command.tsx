/**
 * The one next thing to do: pause a running session, resume a stopped one. An agent that listens to nothing gets no
 * Pause button, since it would not stop: its messages can be held, and the button says just that.
 *
 * One stands in the other's place, and what somebody else does exchanges them: a click that was meant for the one of before
 * does nothing.
 */
import { Pause, Play } from 'lucide-react';
import { isStoppedState, type SessionView } from '#contracts';
import { Button, type ButtonSize, plural, SETTLE_MS, useRested } from '../../ui';
import type { Commander } from './use-command';

/** Large buttons share a phone's width with two others. */
function resumeLabel(heldCount: number, size: ButtonSize): string {
  if (heldCount === 0) return 'Resume';
  return size === 'lg' ? `Resume (${heldCount})` : `Resume, release ${plural(heldCount, 'message')}`;
}

interface PrimaryCommandProps {
  session: SessionView;
  commander: Commander;
  /** Somebody stopped its agent: a pause holds what it does once it is let go on, and is not the next thing to do. */
  isAgentStopped: boolean;
  size?: ButtonSize;
  className?: string;
}

export function PrimaryCommand(props: PrimaryCommandProps) {
  const { session, commander, isAgentStopped, size = 'md', className } = props;
  const { control, ended } = session;
  const isStopped = isStoppedState(control.state);
  const isSettled = useRested(isStopped, SETTLE_MS) === isStopped;
  if (isStopped) {
    return (
      <Button
        data-testid="hitl-resume"
        variant="primary"
        size={size}
        className={className}
        icon={<Play size={15} aria-hidden="true" />}
        busy={commander.isBusy('resume')}
        disabledReason={commander.denial}
        disabled={!isSettled}
        onClick={() => void commander.send({ command: 'resume' })}
      >
        {resumeLabel(control.held_count, size)}
      </Button>
    );
  }
  if (control.state !== 'active' || ended) return null;
  if (control.mode === 'observe_only') {
    return (
      <Button
        data-testid="hitl-hold"
        size={size}
        className={className}
        busy={commander.isBusy('pause')}
        disabledReason={commander.denial}
        disabled={!isSettled}
        onClick={() =>
          void commander.send({
            command: 'pause',
            reason: 'Hold the messages of an agent that does not listen',
          })
        }
      >
        {size === 'lg' ? 'Hold anyway' : 'Hold its messages anyway'}
      </Button>
    );
  }
  return (
    <Button
      data-testid="hitl-pause"
      variant={isAgentStopped ? 'secondary' : 'pause'}
      size={size}
      className={className}
      icon={<Pause size={15} aria-hidden="true" />}
      busy={commander.isBusy('pause')}
      disabledReason={commander.denial}
      disabled={!isSettled}
      onClick={() => void commander.send({ command: 'pause', reason: 'Paused while inspecting' })}
    >
      Pause
    </Button>
  );
}
