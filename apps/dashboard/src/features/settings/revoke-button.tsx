/** Takes a key or an operator away, after asking. */
import { type QueryKey, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { ApiError, api } from '../../api';
import { Button, ConfirmDialog } from '../../ui';

interface RevokeButtonProps {
  name: string;
  path: string;
  /** Of the list it is taken from. */
  listKey: QueryKey;
  consequence: string;
  confirmLabel: string;
  confirmTestId?: string;
}

export function RevokeButton(props: RevokeButtonProps) {
  const { name, path, listKey, consequence, confirmLabel, confirmTestId } = props;
  const [isAsking, setIsAsking] = useState(false);
  const queryClient = useQueryClient();
  const revoke = async () => {
    try {
      await api.delete(path);
    } catch (error) {
      // Somebody else was faster: what was wanted is so.
      if (!(error instanceof ApiError && error.status === 404)) throw error;
    }
    await queryClient.invalidateQueries({ queryKey: listKey });
  };
  return (
    <>
      <Button
        size="sm"
        variant="danger-quiet"
        aria-label={`Revoke ${name}`}
        onClick={() => setIsAsking(true)}
        className="max-md:h-10"
      >
        Revoke
      </Button>
      <ConfirmDialog
        open={isAsking}
        onOpenChange={setIsAsking}
        title={`Revoke ${name}?`}
        description={consequence}
        confirmLabel={confirmLabel}
        confirmTestId={confirmTestId}
        onConfirm={revoke}
      />
    </>
  );
}
