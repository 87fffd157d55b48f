/** What can be done to a rule or a channel: its own commands, then edit and delete. */
import { type QueryKey, useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { api } from '../../api';
import { Button, ConfirmDialog } from '../../ui';

interface RowActionsProps {
  /** As in "Delete rule". */
  noun: string;
  name: string;
  /** Where it is deleted. */
  path: string;
  /** Of the list it is taken from. */
  listKey: QueryKey;
  /** What deleting it means. */
  consequence: string;
  denial: string | null;
  onEdit: () => void;
  children: ReactNode;
}

export function RowActions(props: RowActionsProps) {
  const { noun, name, path, listKey, consequence, denial, onEdit, children } = props;
  const queryClient = useQueryClient();
  const [isDeleting, setIsDeleting] = useState(false);
  return (
    <>
      <span className="ml-auto flex items-center gap-1.5 max-md:[&>button]:h-10">
        {children}
        <Button size="sm" disabledReason={denial} onClick={onEdit} aria-label={`Edit ${name}`}>
          Edit
        </Button>
        <Button
          size="sm"
          variant="danger-quiet"
          disabledReason={denial}
          onClick={() => setIsDeleting(true)}
          aria-label={`Delete ${name}`}
        >
          Delete
        </Button>
      </span>
      <ConfirmDialog
        open={isDeleting}
        onOpenChange={setIsDeleting}
        title={`Delete “${name}”?`}
        description={consequence}
        confirmLabel={`Delete ${noun}`}
        onConfirm={async () => {
          await api.delete(path);
          await queryClient.invalidateQueries({ queryKey: listKey });
        }}
      />
    </>
  );
}
