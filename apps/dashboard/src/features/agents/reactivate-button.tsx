/**
 * Lets a stopped agent call again. A failure stands beside the button, which stays usable; somebody else's being
 * faster is no failure.
 */
import { useMutation } from '@tanstack/react-query';
import { Play } from 'lucide-react';
import { useState } from 'react';
import { reactivateAgent, useDenial } from '../../api';
import { Button, ConfirmDialog, toast, withUnseen } from '../../ui';

interface ReactivateButtonProps {
  agentId: string;
  /** A page about the agent asks first; one that has just shown the evidence need not. */
  asksFirst?: boolean;
}

export function ReactivateButton({ agentId, asksFirst = false }: ReactivateButtonProps) {
  const denial = useDenial('command');
  const [isAsking, setIsAsking] = useState(false);
  const { mutate, mutateAsync, isPending, error } = useMutation({
    mutationFn: () => reactivateAgent(agentId),
    onSuccess: ({ note }) => {
      if (note === 'already_active') {
        toast({ title: 'Already reactivated', description: `Somebody else was faster with ${agentId}.` });
      }
    },
  });
  return (
    <div className="flex min-w-0 flex-wrap items-center justify-end gap-2">
      {error && !isAsking ? (
        <p role="alert" className="min-w-0 text-danger text-xs">
          Not reactivated: {error.message}
        </p>
      ) : null}
      <Button
        variant="primary"
        data-testid="agent-reactivate"
        icon={<Play size={14} aria-hidden="true" />}
        busy={isPending}
        disabledReason={denial}
        onClick={() => (asksFirst ? setIsAsking(true) : mutate())}
        className="max-md:h-11 max-md:w-full"
      >
        Reactivate
      </Button>
      <ConfirmDialog
        open={isAsking}
        onOpenChange={setIsAsking}
        title={`Reactivate ${withUnseen(agentId)}?`}
        description="Its calls go through again at once, and the kill switch starts with an empty window."
        confirmLabel="Reactivate"
        confirmVariant="primary"
        onConfirm={() => mutateAsync()}
      />
    </div>
  );
}
