/** Stops an agent, or all of them: every call is refused until somebody lets them go on. The reason goes into the audit. */
import { Ban } from 'lucide-react';
import { useState } from 'react';
import { deactivateAgent, stopAllAgents, useDenial } from '../../api';
import { Button, ConfirmDialog, Field, Input, withUnseen } from '../../ui';

export const DeactivateButton = ({ agentId }: { agentId: string }) => (
  <StopButton
    label="Deactivate"
    testId="agent-deactivate"
    title={`Deactivate ${withUnseen(agentId)}?`}
    description="Every call of it is refused from this moment on, until somebody reactivates it. Calls under way are cut off."
    confirmLabel="Deactivate agent"
    stop={(reason) => deactivateAgent(agentId, reason)}
  />
);

export const StopAllButton = () => (
  <StopButton
    label="Stop all"
    testId="stop-all"
    title="Stop all agents?"
    description="Every call through the proxy is refused from this moment on, whichever agent makes it, until somebody lets them run. Calls under way are cut off. Agents that only report steps go on: pause their sessions."
    confirmLabel="Stop all agents"
    stop={stopAllAgents}
  />
);

interface StopButtonProps {
  label: string;
  testId: string;
  /** Of what it asks before. */
  title: string;
  description: string;
  confirmLabel: string;
  stop: (reason: string) => Promise<unknown>;
}

function StopButton({ label, testId, title, description, confirmLabel, stop }: StopButtonProps) {
  const denial = useDenial('command');
  const [isAsking, setIsAsking] = useState(false);
  const [reason, setReason] = useState('');
  const [problem, setProblem] = useState<string | null>(null);
  const open = () => {
    setProblem(null);
    setIsAsking(true);
  };
  const check = () => {
    const isGiven = reason.trim() !== '';
    setProblem(isGiven ? null : 'Say why: it is shown to others and written to the audit.');
    return isGiven;
  };
  return (
    <>
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
      <ConfirmDialog
        open={isAsking}
        onOpenChange={setIsAsking}
        title={title}
        description={description}
        confirmLabel={confirmLabel}
        problems={{ reason: problem }}
        check={check}
        onConfirm={async () => {
          await stop(reason.trim());
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
