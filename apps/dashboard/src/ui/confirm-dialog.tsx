/**
 * Asks before something that cannot be undone. With `typeToConfirm`, the word has to be typed first. The dialog stays
 * open while the action runs and shows its failure; it closes by itself on success.
 */
import { type FormEvent, type ReactNode, useEffect, useState } from 'react';
import { Button, type ButtonVariant } from './button';
import { Dialog } from './dialog';
import { Field, Input } from './field';
import { SinceNote } from './since-note';
import { useFocusFirstError } from './use-focus-first-error';

interface ConfirmDialogProps {
  open: boolean;
  onOpenChange: (open: boolean) => void;
  title: ReactNode;
  description: ReactNode;
  confirmLabel: string;
  /** “Cancel” unless what was confirmed holds by now: leaving takes nothing back. */
  leaveLabel?: string;
  /** Danger unless what is confirmed only lets things go on. */
  confirmVariant?: ButtonVariant;
  typeToConfirm?: string | undefined;
  /** False: what is confirmed is not known yet. */
  isReady?: boolean;
  /** By field, as its own fields show it: one that is new is gone to. */
  problems?: Readonly<Record<string, string | null>>;
  /** Looks for `problems`; false: there are some, and nothing is confirmed. */
  check?: () => boolean;
  /** Rejects with an Error whose message is shown. */
  onConfirm: () => Promise<unknown>;
  /** Further fields, above the confirmation. */
  children?: ReactNode;
  confirmTestId?: string;
}

export function ConfirmDialog(props: ConfirmDialogProps) {
  const { open, onOpenChange, title, description, confirmLabel, typeToConfirm, onConfirm, children } = props;
  const [typed, setTyped] = useState('');
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState<string | null>(null);

  const [untyped, setUntyped] = useState<string | null>(null);
  const element = useFocusFirstError({ ...props.problems, untyped });

  useEffect(() => {
    if (open) {
      setTyped('');
      setUntyped(null);
      setFailure(null);
    }
  }, [open]);

  const ready = props.isReady ?? true;
  const isTyped = !typeToConfirm || typed.trim().toLowerCase() === typeToConfirm.toLowerCase();
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (!ready || busy) return;
    setFailure(null);
    setUntyped(isTyped ? null : `Nothing is done until “${typeToConfirm}” stands here.`);
    if (!isTyped) return;
    if (props.check?.() === false) return;
    setBusy(true);
    try {
      await onConfirm();
      onOpenChange(false);
    } catch (error) {
      setFailure(error instanceof Error ? error.message : String(error));
    } finally {
      setBusy(false);
    }
  };

  // Closed meanwhile, nobody would see that it failed.
  const close = () => busy || onOpenChange(false);
  return (
    <Dialog open={open} onOpenChange={close} title={title} description={description}>
      <form ref={element} onSubmit={submit} className="flex flex-col gap-3">
        {children}
        {typeToConfirm ? (
          <Field label={`Type “${typeToConfirm}” to confirm`} error={untyped}>
            <Input
              value={typed}
              onChange={(event) => {
                setTyped(event.target.value);
                setUntyped(null);
              }}
              autoComplete="off"
            />
          </Field>
        ) : null}
        {failure ? (
          <p role="alert" className="text-danger">
            {failure}
            <SinceNote />
          </p>
        ) : null}
        <div className="flex justify-end gap-2">
          <Button disabled={busy} onClick={close}>
            {props.leaveLabel ?? 'Cancel'}
          </Button>
          <Button
            type="submit"
            variant={props.confirmVariant ?? 'danger'}
            busy={busy}
            disabled={!ready}
            data-testid={props.confirmTestId}
          >
            {confirmLabel}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
