/** Takes a key or an operator away, after asking. */
import { type QueryKey, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { ApiError, api } from '../../api';
import { Button, ConfirmDialog } from '../../ui';

interface RevokeButtonProps {
  name: string;
  /** The secret's first characters: names may be equal. */
  prefix: string;
  path: string;
  /** Of the list it is taken from. */
  listKey: QueryKey;
  /** What ends with it. */
  consequence: string;
  /** Set where the gateway's environment sets the secret: then the next start takes it back. */
  variable: string | null;
  confirmLabel: string;
  confirmTestId?: string;
}

export function RevokeButton(props: RevokeButtonProps) {
  const { name, prefix, path, listKey, consequence, variable, confirmLabel, confirmTestId } = props;
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
        description={
          <>
            <span className="break-all font-mono text-fg text-xs">{prefix}…</span>
            <br />
            {consequence} {variable === null ? 'It cannot be undone.' : <Returns variable={variable} />}
          </>
        }
        confirmLabel={confirmLabel}
        confirmTestId={confirmTestId}
        onConfirm={revoke}
      />
    </>
  );
}

const Returns = ({ variable }: { variable: string }) => (
  <span className="text-warning">
    It is set by <code className="font-mono text-xs">{variable}</code>: change that too, or the next start of
    the gateway lets it in again.
  </span>
);
