/**
 * The one next thing to do: pause a running session, resume a stopped one. An agent that listens to nothing gets no
 * Pause button, since it would not stop: its messages can be held, and the button says just that.
 */
import { Pause, Play } from 'lucide-react';
import type { SessionView } from '#contracts';
import { Button, type ButtonSize, plural } from '../../ui';
import { isStoppedState } from './control-texts';
import type { Commander } from './use-command';

/** Large buttons share a phone's width with two others. */
function resumeLabel(heldCount: number, size: ButtonSize): string {
  if (heldCount === 0) return 'Resume';
  return size === 'lg' ? `Resume (${heldCount})` : `Resume, release ${plural(heldCount, 'message')}`;
}

interface PrimaryCommandProps {
  session: SessionView;
  commander: Commander;
  size?: ButtonSize;
  className?: string;
}

export function PrimaryCommand({ session, commander, size = 'md', className }: PrimaryCommandProps) {
  const { control, ended } = session;
  if (isStoppedState(control.state)) {
    return (
      <Button
        data-testid="hitl-resume"
        variant="primary"
        size={size}
        className={className}
        icon={<Play size={15} aria-hidden="true" />}
        busy={commander.busy === 'resume'}
        disabledReason={commander.denial}
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
        busy={commander.busy === 'pause'}
        disabledReason={commander.denial}
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
      variant="pause"
      size={size}
      className={className}
      icon={<Pause size={15} aria-hidden="true" />}
      busy={commander.busy === 'pause'}
      disabledReason={commander.denial}
      onClick={() => void commander.send({ command: 'pause', reason: 'Paused while inspecting' })}
    >
      Pause
    </Button>
  );
}
