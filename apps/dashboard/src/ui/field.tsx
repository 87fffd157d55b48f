/** Text entry. `Field` joins label, control, hint and error; the bare controls need an aria-label. */
import { type ComponentProps, cloneElement, type ReactElement, type ReactNode, useId } from 'react';
import { cx } from './cx';

const controlClass =
  'w-full min-w-0 rounded-md border border-line-strong bg-surface px-2.5 text-fg placeholder:text-faint read-only:bg-sunken read-only:text-muted aria-[invalid=true]:border-danger-solid';

export function Input({ className, ...rest }: ComponentProps<'input'>) {
  return <input {...rest} className={cx(controlClass, 'h-8 max-md:h-10 max-md:text-lg', className)} />;
}

export function Textarea({ className, ...rest }: ComponentProps<'textarea'>) {
  return <textarea {...rest} className={cx(controlClass, 'py-1.5 max-md:text-lg', className)} />;
}

interface FieldProps {
  label: ReactNode;
  hint?: ReactNode;
  /** Why the value was refused; announced when it appears. */
  error?: ReactNode;
  /** Exactly one Input, Textarea or other control that takes `id`, `aria-describedby`, `aria-invalid`. */
  children: ReactElement<Record<string, unknown>>;
}

export function Field({ label, hint, error, children }: FieldProps) {
  const id = useId();
  const noteId = `${id}-note`;
  const note = error ?? hint;
  return (
    <div className="flex flex-col gap-1">
      <label htmlFor={id} className="font-medium text-xs">
        {label}
      </label>
      {cloneElement(children, {
        id,
        'aria-describedby': note ? noteId : undefined,
        'aria-invalid': error ? true : undefined,
      })}
      {note ? (
        <p
          id={noteId}
          role={error ? 'alert' : undefined}
          className={cx('text-xs [overflow-wrap:anywhere]', error ? 'text-danger' : 'text-muted')}
        >
          {note}
        </p>
      ) : null}
    </div>
  );
}
