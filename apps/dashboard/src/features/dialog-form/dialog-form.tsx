/** A form in a dialog: its fields, why it was refused, and the two ways out. */
import type { ReactNode } from 'react';
import { Button, Callout, Dialog, useFocusFirstError } from '../../ui';
import type { DialogFormState } from './use-dialog-form';

interface DialogFormProps {
  form: Pick<DialogFormState<object>, 'problems' | 'refusal' | 'isSaving' | 'submit' | 'close'>;
  title: string;
  /** What somebody else did to the thing since the dialog was opened; null: nothing. */
  meanwhile: string | null;
  description?: string | undefined;
  saveLabel: string;
  /** Of the button that saves. */
  testId: string;
  /** The fields. */
  children: ReactNode;
}

export function DialogForm({
  form,
  title,
  meanwhile,
  description,
  saveLabel,
  testId,
  children,
}: DialogFormProps) {
  const { problems, refusal, isSaving, submit, close } = form;
  const element = useFocusFirstError(problems);
  return (
    <Dialog open onOpenChange={(open) => open || close()} title={title} description={description}>
      <form ref={element} onSubmit={submit} noValidate autoComplete="off" className="flex flex-col gap-3">
        {/* Its own change is no news. */}
        <div role="status" className="empty:hidden">
          {meanwhile && !isSaving ? <Callout tone="warning">{meanwhile}</Callout> : null}
        </div>
        {children}
        {refusal ? (
          <Callout tone="danger" alert>
            Not saved: {refusal}
          </Callout>
        ) : null}
        <div className="flex justify-end gap-2 pb-1">
          <Button disabled={isSaving} onClick={close}>
            Cancel
          </Button>
          <Button type="submit" variant="primary" data-testid={testId} busy={isSaving}>
            {saveLabel}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
