/**
 * Stops an agent, or all of them: every call is refused until somebody lets them go on. The reason goes into the audit. A stop is in
 * force before it is stored: whoever gave it still reads how it went, though the button is no longer there, until it is stored.
 */
import { Ban } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { deactivateAgent, stopAllAgents, useDenial } from '../../api';
import { Button, ConfirmDialog, Field, Input, withUnseen } from '../../ui';

interface WhenStopped {
  /** In place of the button; null while there is something to stop. */
  whenStopped: ReactNode;
  /** False: it is stopped, and the store does not know it yet. */
  isStored: boolean;
}

export const DeactivateButton = ({ agentId, ...stopped }: { agentId: string } & WhenStopped) => (
  <StopButton
    {...stopped}
    label="Deactivate"
    testId="agent-deactivate"
    title={`Deactivate ${withUnseen(agentId)}?`}
    description="Every call of it is refused from this moment on, until somebody reactivates it. Calls under way are cut off."
    confirmLabel="Deactivate agent"
    stop={(reason) => deactivateAgent(agentId, reason)}
  />
);

export const StopAllButton = (stopped: WhenStopped) => (
  <StopButton
    {...stopped}
    label="Stop all"
    testId="stop-all"
    title="Stop all agents?"
    description="Every call through the proxy is refused from this moment on, whichever agent makes it, until somebody lets them run. Calls under way are cut off. Agents that only report steps go on: pause all of their sessions under Sessions."
    confirmLabel="Stop all agents"
    stop={stopAllAgents}
  />
);

interface StopButtonProps extends WhenStopped {
  label: string;
  testId: string;
  /** Of what it asks before. */
  title: string;
  description: string;
  confirmLabel: string;
  stop: (reason: string) => Promise<unknown>;
}

function StopButton(props: StopButtonProps) {
  const { label, testId, title, description, confirmLabel, stop, whenStopped, isStored } = props;
  const denial = useDenial('command');
  const [asks, setAsks] = useState<'no' | 'first' | 'sent' | 'failed'>('no');
  const [reason, setReason] = useState('');
  const [problem, setProblem] = useState<string | null>(null);
  const open = () => {
    setProblem(null);
    setAsks('first');
  };
  const check = () => {
    const isGiven = reason.trim() !== '';
    setProblem(isGiven ? null : 'Say why: it is shown to others and written to the audit.');
    return isGiven;
  };
  // Somebody else was faster, or the store has it now.
  if (whenStopped !== null && (asks === 'first' || (asks === 'failed' && isStored))) setAsks('no');
  // The next stop has a reason of its own.
  if (whenStopped !== null && asks === 'no' && reason !== '') setReason('');
  const button = (
    <Button
      variant="danger-quiet"
      data-testid={testId}
      icon={<Ban size={14} aria-hidden="true" />}
      disabledReason={denial}
      onClick={open}
      className="max-md:h-11 max-md:w-full"
    >
      {label}
    </Button>
  );
  return (
    <>
      {whenStopped ?? button}
      <ConfirmDialog
        open={asks !== 'no'}
        onOpenChange={() => setAsks('no')}
        title={title}
        description={description}
        confirmLabel={confirmLabel}
        leaveLabel={whenStopped === null ? 'Cancel' : 'Close'}
        problems={{ reason: problem }}
        check={check}
        onConfirm={async () => {
          setAsks('sent');
          try {
            await stop(reason.trim());
          } catch (error) {
            setAsks('failed');
            throw error;
          }
          setReason('');
        }}
      >
        <Field label="Reason" hint="Shown to others and written to the audit." error={problem}>
          <Input
            value={reason}
            maxLength={500}
            autoComplete="off"
            onChange={(event) => {
              setReason(event.target.value);
              setProblem(null);
            }}
          />
        </Field>
      </ConfirmDialog>
    </>
  );
}
