/**
 * Lets a stopped agent, or all of them, call again. A failure stands beside the button, which stays usable; somebody else's being
 * faster is no failure.
 */
import { useMutation } from '@tanstack/react-query';
import { Play } from 'lucide-react';
import { useState } from 'react';
import { letAllAgentsRun, type Reactivated, reactivateAgent, useDenial } from '../../api';
import { Button, ConfirmDialog, SinceNote, toast, withUnseen } from '../../ui';

interface ReactivateButtonProps {
  agentId: string;
  /** A page about the agent asks first; one that has just shown the evidence need not. */
  asksFirst?: boolean;
}

export const ReactivateButton = ({ agentId, asksFirst = false }: ReactivateButtonProps) => (
  <LetRunButton
    label="Reactivate"
    testId="agent-reactivate"
    title={`Reactivate ${withUnseen(agentId)}?`}
    description="Its calls go through again at once, and the kill switch starts with an empty window."
    whom={agentId}
    letRun={() => reactivateAgent(agentId)}
    asksFirst={asksFirst}
  />
);

export const LetAllRunButton = () => (
  <LetRunButton
    label="Let all run"
    testId="let-all-run"
    title="Let all agents run?"
    description="Their calls go through again at once. Who was stopped by the kill switch, or apart from the others, stays stopped."
    whom="all agents"
    letRun={letAllAgentsRun}
    asksFirst
  />
);

interface LetRunButtonProps {
  label: string;
  testId: string;
  /** Of what it asks before. */
  title: string;
  description: string;
  whom: string;
  letRun: () => Promise<Reactivated>;
  asksFirst: boolean;
}

function LetRunButton({ label, testId, title, description, whom, letRun, asksFirst }: LetRunButtonProps) {
  const denial = useDenial('command');
  const [isAsking, setIsAsking] = useState(false);
  const { mutate, mutateAsync, isPending, error } = useMutation({
    mutationFn: letRun,
    onSuccess: ({ note }) => {
      if (note === 'already_active') {
        toast({ title: 'Already reactivated', description: `Somebody else was faster with ${whom}.` });
      }
    },
  });
  return (
    <div className="flex min-w-0 flex-wrap items-center justify-end gap-2">
      {error && !isAsking ? (
        <p role="alert" className="min-w-0 text-danger text-xs">
          Not reactivated: {error.message}
          <SinceNote />
        </p>
      ) : null}
      <Button
        variant="primary"
        data-testid={testId}
        icon={<Play size={14} aria-hidden="true" />}
        busy={isPending}
        disabledReason={denial}
        onClick={() => (asksFirst ? setIsAsking(true) : mutate())}
        className="max-md:h-11 max-md:w-full"
      >
        {label}
      </Button>
      <ConfirmDialog
        open={isAsking}
        onOpenChange={setIsAsking}
        title={title}
        description={description}
        confirmLabel={label}
        confirmVariant="primary"
        onConfirm={() => mutateAsync()}
      />
    </div>
  );
}
