/** Stops an agent: every call of it is refused until somebody reactivates it. The reason goes into the audit. */
import { Ban } from 'lucide-react';
import { useState } from 'react';
import { deactivateAgent, useDenial } from '../../api';
import { Button, ConfirmDialog, Field, Input, withUnseen } from '../../ui';

export function DeactivateButton({ agentId }: { agentId: string }) {
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
        data-testid="agent-deactivate"
        icon={<Ban size={14} aria-hidden="true" />}
        disabledReason={denial}
        onClick={open}
        className="max-md:h-11 max-md:w-full"
      >
        Deactivate
      </Button>
      <ConfirmDialog
        open={isAsking}
        onOpenChange={setIsAsking}
        title={`Deactivate ${withUnseen(agentId)}?`}
        description="Every call of it is refused from this moment on, until somebody reactivates it. Calls under way are cut off."
        confirmLabel="Deactivate agent"
        problems={{ reason: problem }}
        check={check}
        onConfirm={async () => {
          await deactivateAgent(agentId, reason.trim());
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
