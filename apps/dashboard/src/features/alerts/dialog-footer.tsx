/** The end of a form in a dialog: why it was refused, and the two ways out. */
import { Button, Callout } from '../../ui';

interface DialogFooterProps {
  /** What the server said that belongs to no field. */
  refusal: string | null;
  isSaving: boolean;
  saveLabel: string;
  testId: string;
  onCancel: () => void;
}

export function DialogFooter({ refusal, isSaving, saveLabel, testId, onCancel }: DialogFooterProps) {
  return (
    <>
      {refusal ? (
        <Callout tone="danger" alert>
          Not saved: {refusal}
        </Callout>
      ) : null}
      <div className="flex justify-end gap-2 pb-1">
        <Button onClick={onCancel}>Cancel</Button>
        <Button type="submit" variant="primary" data-testid={testId} busy={isSaving}>
          {saveLabel}
        </Button>
      </div>
    </>
  );
}
